package fixes

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// listChild adds a link to the page that the issue names at the end of the list.
func listChild(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	plan, err := gates.Plan(in)
	if err != nil {
		return nil, fault.New(fault.Internal, "the plan cannot be read").Because(err)
	}
	prefix := ""
	if base, err := url.Parse(in.Context.Hugo.BaseURL); err == nil {
		prefix = strings.TrimRight(base.Path, "/")
	}
	for _, child := range plan.Pages {
		if child.URLPath == "" || !strings.HasSuffix(issue.Message, `"`+child.URLPath+`"`) || bytes.Contains(p.Source, []byte("("+prefix+child.URLPath+")")) {
			continue
		}
		title := strings.NewReplacer("[", `\[`, "]", `\]`).Replace(firstOf(child.Title, titleFromPath(child.OutputPath)))
		text := "- [" + title + "](" + prefix + child.URLPath + ")\n"
		after := bytes.TrimRight(p.Source, "\r\n \t")
		last := after[bytes.LastIndexByte(after, '\n')+1:]
		if !bytes.HasPrefix(last, []byte("- ")) {
			text = "\n" + text
		}
		return append(bytes.Clone(after), "\n"+text...), nil
	}
	return nil, noOp(issue)
}
