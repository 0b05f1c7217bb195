package gates

import (
	"sync"

	"github.com/gantry-run/gantry/launch/page"
)

// maxParsed is how many bytes of pages are kept parsed while the gates run.
const maxParsed = 32 << 20

// parsedPages keeps the pages that the gates of one run look at, for nine of them
// look at each. Nobody changes a page. A gate that was left behind may still look.
type parsedPages struct {
	mu    sync.Mutex
	pages map[string]parsedPage
	size  int
}

type parsedPage struct {
	page *page.Page
	err  error
}

// get returns what was kept; ok is false where there is nothing.
func (c *parsedPages) get(name string) (kept parsedPage, ok bool) {
	if c == nil {
		return kept, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok = c.pages[name]
	return kept, ok
}

// put keeps a page while there is room.
func (c *parsedPages) put(name string, p *page.Page, err error) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p != nil {
		c.size += len(p.Source)
	}
	if c.size <= maxParsed {
		c.pages[name] = parsedPage{p, err}
	}
}
