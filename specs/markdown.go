package specs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
)

// Markdown returns docs/tools.md: every tool of every toolset, and the fields of run_config.
func Markdown() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(toolsHead)
	for _, toolset := range Toolsets() {
		tools, err := Tools(toolset)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "\n## Toolset %s\n", toolset)
		for _, t := range tools {
			if err := writeTool(&b, t); err != nil {
				return nil, fmt.Errorf("document %s/%s: %w", toolset, t.Name, err)
			}
		}
	}
	config, _ := ArtifactSchema("run_config.yaml")
	rows, err := fieldsOf(config)
	if err != nil {
		return nil, fmt.Errorf("document run_config: %w", err)
	}
	b.WriteString(configHead)
	writeFields(&b, rows)
	return b.Bytes(), nil
}

const toolsHead = "# Tools\n\n" +
	"Made from `specs/tools` by `go test ./specs -update`; do not edit.\n\n" +
	"Effects: *read* changes nothing; *write* changes files, rows or a remote; *run* starts or continues something that\n" +
	"outlives the call; *destroy* ends or removes something for good. What each error code means, and whether to try\n" +
	"again, is in [errors.md](errors.md).\n"

const configHead = "\n## run_config\n\n" +
	"The effective one of a run is its artifact `run_config.yaml`. Unknown fields are refused.\n\n"

func writeTool(b *bytes.Buffer, t Tool) error {
	fmt.Fprintf(b, "\n### %s\n\n%s.", t.Name, t.Title)
	if t.Deprecated != "" {
		fmt.Fprintf(b, " **Deprecated.** %s", t.Deprecated)
	}
	d := t.Description
	fmt.Fprintf(b, "\n\n- **Use when:** %s\n- **Required:** %s\n- **Optional:** %s\n- **Next:** %s\n- **Avoid:** %s\n",
		d.UseWhen, d.Required, d.Optional, d.Next, d.Avoid)
	fmt.Fprintf(b, "\nEffect *%s*; %s; timeout %d s", t.Effect, answers(t.Delivery), t.TimeoutS)
	if t.Lock != "" {
		fmt.Fprintf(b, "; takes the call lock of `%s`", t.Lock)
	}
	if len(t.Idempotency) > 0 {
		fmt.Fprintf(b, "; repeat-safe with `%s`", strings.Join(t.Idempotency, "` or `"))
	}
	b.WriteString(".\n")
	if t.SameAs != "" {
		fmt.Fprintf(b, "\nArguments, result and errors are those of [%s](#%s).\n", t.SameAs, t.SameAs)
		return nil
	}
	for _, part := range []struct {
		title  string
		schema json.RawMessage
	}{{"Arguments", t.Input}, {"Result", t.Output}} {
		rows, err := fieldsOf(part.schema)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "\n%s:\n\n", part.title)
		writeFields(b, rows)
	}
	fmt.Fprintf(b, "\nErrors: %s.\n", codeList(onTheWire(t)))
	return nil
}

func answers(d Delivery) string {
	switch d {
	case LongPoll:
		return "long-polls"
	case Stream:
		return "streams"
	}
	return "answers once"
}

// onTheWire returns the codes that a call may end with as its toolset writes them: in lower
// case where a failure is a result, and then one word for whatever is wrong with arguments.
func onTheWire(t Tool) []fault.Code {
	codes := t.MayReturn()
	if t.Toolset == "launch" || t.Toolset == "tasks" {
		return codes
	}
	for i, c := range codes {
		if c == fault.InvalidInput || c == fault.SchemaValidationFailed {
			c = "INVALID_ARGUMENT"
		}
		codes[i] = fault.Code(strings.ToLower(string(c)))
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

func codeList(codes []fault.Code) string {
	names := make([]string, len(codes))
	for i, c := range codes {
		names[i] = "`" + string(c) + "`"
	}
	return strings.Join(names, ", ")
}

func writeFields(b *bytes.Buffer, rows []field) {
	if len(rows) == 0 {
		b.WriteString("none\n")
		return
	}
	b.WriteString("| field | required | value | meaning |\n|---|---|---|---|\n")
	for _, r := range rows {
		required := "no"
		if r.required {
			required = "yes"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", r.path, required, cell(r.form), cell(r.meaning))
	}
}

// cell makes a text fit for a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// ErrorsMarkdown returns docs/errors.md: the registry of error codes, area by area.
func ErrorsMarkdown() []byte {
	var b bytes.Buffer
	b.WriteString("# Error codes\n\nMade from `specs/errors.json` by `go test ./specs -update`; do not edit.\n\n" +
		"*Retry* says whether calling again, unchanged and later, can help; for *sometimes*, the error itself says so\n" +
		"(`retryable`). A number is the code of the JSON-RPC error in the toolset tasks; without one it is -32602 for arguments\n" +
		"that do not obey their schema, -32601 for an unknown tool, else -32603.\n\n" +
		"The toolsets agents, board and worktree fail with a result (`isError`) whose text is JSON: `{code, message, retryable, hint,\n" +
		"details}`. They write codes in lower case, and `invalid_argument` for INVALID_INPUT and SCHEMA_VALIDATION_FAILED\n" +
		"(`missing_required` when all that is wrong is that arguments are missing).\n")
	area := ""
	for _, e := range Errors() {
		if e.Area != area {
			area = e.Area
			fmt.Fprintf(&b, "\n## %s\n\n| code | retry | meaning | what to do |\n|---|---|---|---|\n", area)
		}
		code := "`" + string(e.Code) + "`"
		if e.RPCCode != 0 {
			code += fmt.Sprintf(" (%d)", e.RPCCode)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", code, e.Retryable, cell(e.Meaning), cell(e.Hint))
	}
	return b.Bytes()
}
