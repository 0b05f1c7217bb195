package agents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/internal/codextest"
	"github.com/gantry-run/gantry/internal/proc"
)

// real is a conversation with the real Codex CLI.
type real struct {
	t       *testing.T
	cli     agents.CLI
	model   *codextest.Server
	dir     string
	env     []string
	program string
}

func newReal(t *testing.T) *real {
	r := &real{t: t, program: codextest.Program(t), model: codextest.New(t), dir: t.TempDir()}
	r.cli = find(t, agents.Options{FullAccess: true}, "CODEX")
	r.env = []string{"PATH=" + filepath.Dir(r.program) + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	return r
}

// turn runs a turn as its invocation says, and reads what the CLI wrote.
func (r *real) turn(turn agents.Turn) (all []agents.Entry, sum agents.Summary, exit int) {
	r.t.Helper()
	turn.Dir, turn.Env, turn.ConfigFile = r.dir, r.env, r.model.Config
	inv, err := r.cli.Turn(turn)
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := proc.Run(r.t.Context(), proc.Spec{Name: r.program, Args: inv.Args, Dir: r.dir, Env: inv.Env, Stdin: inv.Stdin})
	if err != nil {
		r.t.Fatal(err)
	}
	d := r.cli.Decoder(r.dir)
	all = decode(r.t, d, out.Stdout)
	for line := range strings.Lines(string(out.Stderr)) {
		all = append(all, d.Line([]byte(strings.TrimSuffix(line, "\n")), true, time.Time{})...)
	}
	return all, d.Summary(), out.Exit
}

// told returns the entries as words: what, and how it ended.
func told(all []agents.Entry) (out []string) {
	for _, e := range all {
		n := e.Norm
		words := []string{string(n.Type.Name)}
		if a := n.Type.Action; a != nil {
			words = append(words, string(a.Name), string(n.Type.Status.State))
			if a.Path != "" {
				words = append(words, a.Path)
			}
			if a.Run != nil && a.Run.ExitStatus.Code != nil {
				words = append(words, strings.TrimSpace(a.Run.Output))
			}
		} else {
			words = append(words, n.Content)
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// What the real CLI writes is what the decoder reads: its tools and their ends, its
// conversation's id, tokens that add up, and a conversation that goes on.
func TestTheRealCodexIsUnderstood(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	all, first, exit := r.turn(agents.Turn{Prompt: "think: hm\nsay: I write\nwrite: a.txt it's here\nrun: cat a.txt; exit 3\npatch: b.txt new\nsay: finished", Variant: "HIGH", Model: "gpt-5.6-sol"})
	want := []string{
		"thinking hm", "assistant_message I write", "tool_use command_run created", "tool_use command_run success", "tool_use command_run created",
		"tool_use command_run failed it's here", "tool_use file_edit success b.txt", "assistant_message finished",
	}
	got := told(all)
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the entries: %q", got)
	}
	answers := int64(4)
	if exit != 0 || !first.Completed || first.Thread == "" || first.LastMessage != "finished" || first.Usage.InputTokens != answers*codextest.InputTokens ||
		first.Usage.CachedInputTokens != answers*codextest.CachedTokens || first.Usage.OutputTokens != answers*codextest.OutputTokens {
		t.Errorf("exit %d, %+v", exit, first)
	}
	if b, err := os.ReadFile(filepath.Join(r.dir, "a.txt")); string(b) != "it's here\n" {
		t.Errorf("a.txt: %q, %v", b, err)
	}
	if asked := r.model.Requests(); asked[0].Effort != "high" || asked[0].Model != "gpt-5.6-sol" {
		t.Errorf("asked was %+v", asked[0])
	}

	_, second, exit := r.turn(agents.Turn{Prompt: "say: and more", Thread: first.Thread, Model: "gpt-5.6-sol", Variant: "READ_ONLY"})
	one := agents.Usage{InputTokens: codextest.InputTokens, CachedInputTokens: codextest.CachedTokens, OutputTokens: codextest.OutputTokens, ReasoningTokens: codextest.ReasoningTokens}
	if exit != 0 || second.Thread != first.Thread || second.LastMessage != "and more" || !second.Cumulative || second.Usage.Since(first.Usage) != one {
		t.Errorf("the second turn: exit %d, %+v", exit, second)
	}
	asked := r.model.Requests()
	if last := asked[len(asked)-1]; len(last.Prompts) != 2 {
		t.Errorf("the model was asked %+v", last)
	}
}

// A turn of the real CLI that fails says why.
func TestTheRealCodexSaysWhyItFails(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	for prompt, want := range map[string]string{"fail: 401": "401 Unauthorized", "break: now": "stream disconnected"} {
		all, sum, exit := r.turn(agents.Turn{Prompt: prompt})
		if exit != 1 || sum.Completed || !strings.Contains(sum.Failure, want) || sum.Thread == "" || len(all) != 1 || all[0].Norm.Type.Name != agents.ErrorMessage {
			t.Errorf("%s: exit %d, %+v, %q", prompt, exit, sum, told(all))
		}
	}
	_, sum, exit := r.turn(agents.Turn{Prompt: "say: hello", Thread: "01a1f939-350c-7f40-8bac-f99e71e3eb10"})
	if exit != 1 || sum.Failure != "" || !strings.Contains(sum.Complaint, "no rollout found") {
		t.Errorf("a conversation that is not there: exit %d, %+v", exit, sum)
	}
}
