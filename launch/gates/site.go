package gates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

var errNotRegular = errors.New("it is not a regular file")

// changedPages parses the pages among the changed files and calls do with each,
// in the order of their paths. Files that are no pages or no longer exist are
// left out; unreadable gets those that cannot be read, and why.
func (in *Input) changedPages(ctx context.Context, do func(*page.Page), unreadable func(name string, why error)) (int, error) {
	n := 0
	for _, name := range slices.Compact(slices.Sorted(slices.Values(in.Changed))) {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if !in.isPage(name) {
			continue
		}
		p, err := in.Page(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		n++
		if err == nil {
			do(p)
		} else if unreadable != nil {
			unreadable(name, err)
		}
	}
	return n, nil
}

// fresh returns what the check finds on the page and did not find on it before
// the launch. Findings are the same if code and message are.
func fresh[T any](in *Input, p *page.Page, check func(*page.Page) []T, issueOf func(T) dossier.Issue) []T {
	found := check(p)
	if in.Before == nil || len(found) == 0 {
		return found
	}
	raw, err := in.Before(p.Path)
	if err != nil {
		return found
	}
	old, err := page.Parse(p.Path, raw)
	if err != nil {
		return found
	}
	had := map[[2]string]int{}
	for _, f := range check(old) {
		i := issueOf(f)
		had[[2]string{i.Code, i.Message}]++
	}
	return slices.DeleteFunc(found, func(f T) bool {
		i := issueOf(f)
		key := [2]string{i.Code, i.Message}
		had[key]--
		return had[key] >= 0
	})
}

func itself(i dossier.Issue) dossier.Issue { return i }

// Page reads and parses one page of the site. The error is fs.ErrNotExist, or
// says in a few words why the page cannot be read. Links are not followed.
func (in *Input) Page(name string) (*page.Page, error) {
	if kept, ok := in.parsed.get(name); ok {
		return kept.page, kept.err
	}
	p, err := in.parse(name)
	in.parsed.put(name, p, err)
	return p, err
}

func (in *Input) parse(name string) (*page.Page, error) {
	raw, err := readRegular(in.Site, name)
	if err != nil {
		return nil, err
	}
	p, err := page.Parse(name, raw)
	if err != nil {
		return nil, errors.New(fault.From(err).Message)
	}
	return p, nil
}

// readRegular reads a file of at most one byte more than a page may have.
func readRegular(root *os.Root, name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, errors.New("its path is not clean and relative")
	}
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, errors.New("it cannot be reached inside the site")
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, errors.New("it cannot be opened")
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, page.MaxSize+1))
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	return raw, nil
}

// isPage reports whether the path names a content page.
func (in *Input) isPage(name string) bool {
	return isMarkdown(name) && strings.HasPrefix(name, in.contentRoot()+"/")
}

func isMarkdown(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

func (in *Input) contentRoot() string {
	if root := in.Context.Layout.ContentRoot; root != "" {
		return strings.Trim(path.Clean(root), "/")
	}
	return "content"
}

// sectionOf returns the section that the page belongs to and its folder, or "".
func (in *Input) sectionOf(name string) (section, root string) {
	for s, r := range in.Context.Layout.SubdomainRoots {
		if strings.HasPrefix(name, r+"/") && (len(r) > len(root) || len(r) == len(root) && s < section) {
			section, root = s, r
		}
	}
	return section, root
}

// document reads an artifact that the gate cannot do without.
func (in *Input) document(name string, into any) error {
	raw, err := in.Artifact(name)
	if missing(err) {
		return fmt.Errorf("there is no %s", name)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read", name) // the error may name a path of this machine
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s is not what it should be: %w", name, err)
	}
	return nil
}

// Plan returns the launch's page plan.
func Plan(in *Input) (dossier.PagePlan, error) {
	var plan dossier.PagePlan
	err := in.document(dossier.PagePlanName, &plan)
	return plan, err
}

func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || fault.Is(err, fault.ArtifactNotFound)
}
