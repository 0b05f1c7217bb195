// Package agenttest is an agent for tests that behaves as it is told, badly too.
//
// A test binary becomes the agent when it is started under one of the names in names (claude, plain-agent):
// its TestMain calls [Main] first, and [Install] links the names to it. The agent reads its
// prompt from standard input, or from its last argument when that is not an option, and
// does what each line orders:
//
//	say: text          say something
//	think: text        think something
//	run: make          run a command through sh, and show it as the use of a tool
//	write: a.txt text  add a line to a file
//	print: text        write a line of any kind to standard output
//	complain: text     write a line to standard error
//	huge: 50           write an event of so many MiB
//	half:              write half an event, without a newline
//	wait: file         go on when the file is there
//	deaf:              ignore SIGINT and SIGTERM from now on
//	close:             close standard output and standard error
//	daemon: file       leave a process behind, in a session of its own, which writes its pid to the file and ignores SIGTERM
//	fail: text         tell that the turn failed, and exit with 1
//	exit: 3            exit with a code, in the middle
//	hang:              never go on
//
// Anything else is done in silence. Under the name "claude" it writes what Claude Code
// writes (stream-json), under "plain-agent" text.
package agenttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// names are what the agent can be called.
var names = []string{"claude", "plain-agent"}

// Main is the whole life of the agent if this program was started as one; else it returns.
func Main() {
	name := filepath.Base(os.Args[0])
	if !slices.Contains(names, name) {
		return
	}
	os.Exit(run(name, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Install makes a folder with the agent under all its names, for the PATH of a server. The
// running program must call Main.
func Install(t testing.TB) (bin string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin = t.TempDir()
	for _, name := range names {
		if err := os.Symlink(self, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// agent is one turn.
type agent struct {
	out, err *os.File
	voice    voice
	session  string
	said     string
	tools    int
}

// voice is how an agent puts what it does.
type voice interface {
	begin(a *agent)
	say(a *agent, kind, text string)
	tool(a *agent, command, output string, ok bool)
	end(a *agent, failure string)
}

func run(name string, args []string, in io.Reader, out, errs *os.File) int {
	if slices.Contains(args, "--version") {
		fmt.Fprintln(out, "1.0.0 (agenttest)")
		return 0
	}
	a := &agent{out: out, err: errs, voice: plain{}, session: fmt.Sprintf("s-%d-%d", os.Getpid(), time.Now().UnixNano())}
	if name == "claude" {
		a.voice = claude{}
	}
	if i := slices.Index(args, "--resume"); i >= 0 && i+1 < len(args) {
		a.session = args[i+1]
	}
	prompt, err := io.ReadAll(in)
	if err != nil {
		return 1
	}
	if len(prompt) == 0 && len(args) > 0 && !strings.HasPrefix(args[len(args)-1], "-") {
		prompt = []byte(args[len(args)-1])
	}
	a.voice.begin(a)
	for line := range strings.Lines(string(prompt)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		if code, over := a.do(word, strings.TrimSpace(rest)); over {
			return code
		}
	}
	a.voice.end(a, "")
	return 0
}

// do does what one line orders. over says that the agent ends with the code.
func (a *agent) do(word, rest string) (code int, over bool) {
	file, text, _ := strings.Cut(rest, " ")
	switch word {
	case "say", "think":
		a.voice.say(a, word, rest)
	case "run":
		a.shell(rest)
	case "write":
		a.shell("echo " + quoted(text) + " >> " + quoted(file))
	case "print":
		fmt.Fprintln(a.out, rest)
	case "complain":
		fmt.Fprintln(a.err, rest)
	case "huge":
		a.huge(rest)
	case "half":
		fmt.Fprint(a.out, `{"type":"assistant","mess`)
	case "wait":
		await(rest)
	case "deaf":
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	case "close":
		a.out.Close()
		a.err.Close()
	case "daemon":
		a.daemon(rest)
	case "fail":
		a.voice.end(a, rest)
		return 1, true
	case "exit":
		code, _ = strconv.Atoi(rest)
		return code, true
	case "hang":
		<-time.After(patience)
	}
	return 0, false
}

func (a *agent) shell(command string) {
	out, err := exec.Command("sh", "-c", command).CombinedOutput()
	a.voice.tool(a, command, string(out), err == nil)
}

// huge writes an event that is longer than anybody wants to hold.
func (a *agent) huge(mib string) {
	n, _ := strconv.Atoi(mib)
	w := bufio.NewWriter(a.out)
	defer w.Flush()
	w.WriteString(`{"type":"huge","text":"`)
	for range n {
		w.WriteString(strings.Repeat("x", 1<<20))
	}
	w.WriteString("\"}\n")
}

// patience is how long what never ends lasts: a test that dies should not leave a process
// for ever.
const patience = 10 * time.Minute

// await returns when a file is there.
func await(path string) {
	ended := time.After(patience)
	for tick := time.Tick(5 * time.Millisecond); ; {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-tick:
		case <-ended:
			os.Exit(1)
		}
	}
}

func (a *agent) daemon(file string) {
	cmd := exec.Command("sh", "-c", "trap '' TERM INT HUP; echo $$ > "+quoted(file)+"; i=0; while [ $i -lt 600 ]; do sleep 1; i=$((i+1)); done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err == nil {
		await(file)
	}
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// plain puts everything as text.
type plain struct{}

func (plain) begin(a *agent)                       { fmt.Fprintln(a.err, "session: "+a.session) }
func (plain) say(a *agent, _, text string)         { fmt.Fprintln(a.out, text) }
func (plain) tool(a *agent, c, out string, _ bool) { fmt.Fprintf(a.out, "$ %s\n%s", c, out) }
func (plain) end(a *agent, failure string) {
	if failure != "" {
		fmt.Fprintln(a.err, "error: "+failure)
	}
}

// claude puts everything as Claude Code does.
type claude struct{}

type object map[string]any

func (a *agent) event(o object) {
	o["session_id"] = a.session
	b, _ := json.Marshal(o)
	fmt.Fprintf(a.out, "%s\n", b)
}

func (a *agent) message(role string, block object) {
	a.event(object{"type": role, "message": object{"role": role, "content": []object{block}}})
}

func (claude) begin(a *agent) {
	a.event(object{"type": "system", "subtype": "init", "model": "agenttest", "tools": []string{"Bash"}})
}

func (claude) say(a *agent, kind, text string) {
	if kind == "think" {
		a.message("assistant", object{"type": "thinking", "thinking": text})
		return
	}
	a.said = text
	a.message("assistant", object{"type": "text", "text": text})
}

func (claude) tool(a *agent, command, output string, ok bool) {
	a.tools++
	id := fmt.Sprintf("toolu_%d", a.tools)
	a.message("assistant", object{"type": "tool_use", "id": id, "name": "Bash", "input": object{"command": command}})
	a.message("user", object{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": !ok})
}

func (claude) end(a *agent, failure string) {
	result := object{"type": "result", "subtype": "success", "is_error": failure != "", "result": a.said, "total_cost_usd": 0.01,
		"usage": object{"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 3}}
	if failure != "" {
		result["result"] = failure
	}
	a.event(result)
}
