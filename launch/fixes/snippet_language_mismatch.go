package fixes

import (
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// relabel marks a fenced code block with the language of its snippet.
func relabel(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	problem, ok, err := snippetProblem(in, p, issue)
	if err != nil || !ok {
		return nil, err
	}
	line := p.LineText(problem.Fence.Line)
	mark := strings.TrimLeft(line, " >\t-*")
	word := strings.TrimLeft(mark, "`~ ")
	if mark == word || !strings.HasPrefix(strings.ToLower(word), problem.Fence.Info) {
		return nil, unfixable(issue, "the code block has no fence that names its language")
	}
	start := p.LineStart(problem.Fence.Line) + len(line) - len(word)
	return p.ReplaceRange(start, start+len(problem.Fence.Info), problem.Snippet.Language), nil
}

// snippetProblem finds the issue's code block again. It fails with FIXER_NO_DIFF
// if the page no longer has it.
func snippetProblem(in *gates.Input, p *page.Page, issue dossier.Issue) (gates.SnippetProblem, bool, error) {
	found, err := gates.SnippetProblems(in, p)
	if err != nil {
		return gates.SnippetProblem{}, false, fault.New(fault.Internal, "the snippets cannot be read").Because(err)
	}
	for _, problem := range found {
		if problem.Issue.ID == issue.ID {
			return problem, true, nil
		}
	}
	return gates.SnippetProblem{}, false, noOp(issue)
}
