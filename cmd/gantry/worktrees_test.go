package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// keeper is one `gantry serve --worktrees`.
type keeper struct {
	t    *testing.T
	w    *world
	cmd  *exec.Cmd
	addr string
	said *lockedBuffer
}

// freePort returns a port behind which some more are likely to be free.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// keep serves the worktrees of the root, with ports from one on.
func (w *world) keep(port int, flags ...string) *keeper {
	w.t.Helper()
	k := &keeper{t: w.t, w: w, said: new(lockedBuffer)}
	k.cmd = exec.Command(binary, append([]string{
		"serve", "--worktrees", "--root", w.root, "--state-dir", w.state, "--addr", "127.0.0.1:0", "--rate-limit=0", "--worktree-port", fmt.Sprint(port),
	}, flags...)...)
	k.cmd.Env, k.cmd.Dir, k.cmd.Stderr = w.env, w.home, k.said
	if err := k.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { k.stop() })
	eventually(w.t, "the server to listen", func() bool {
		for _, line := range k.said.lines() {
			var l struct{ Msg, Addr string }
			if json.Unmarshal([]byte(line), &l) == nil && l.Msg == "serving over HTTP" {
				k.addr = l.Addr
			}
		}
		return k.addr != ""
	})
	return k
}

func (k *keeper) stop() {
	if k.cmd.ProcessState == nil {
		_ = k.cmd.Process.Signal(syscall.SIGTERM)
		if err := k.cmd.Wait(); err != nil {
			k.t.Errorf("gantry serve: %v: %s", err, k.said)
		}
	}
}

// states returns what the API says of the worktrees, by branch.
func (k *keeper) states() map[string]worktreeState {
	k.t.Helper()
	res, err := http.Get("http://" + k.addr + "/api/gantry/v1/worktrees")
	if err != nil {
		k.t.Fatal(err)
	}
	defer res.Body.Close()
	var body worktreesBody
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil || res.StatusCode != http.StatusOK {
		k.t.Fatalf("%s %v", res.Status, err)
	}
	out := map[string]worktreeState{}
	for _, s := range body.Worktrees {
		out[s.Branch] = s
	}
	return out
}

// running waits until exactly these branches are served, and returns their states.
func (k *keeper) running(branches ...string) (out map[string]worktreeState) {
	k.t.Helper()
	eventually(k.t, fmt.Sprint("servers of ", branches), func() bool {
		out = k.states()
		n := 0
		for _, b := range branches {
			if out[b].MCP.ServerRunning {
				n++
			}
		}
		return n == len(branches) && len(out) == n
	})
	return out
}

// post sends one message to a server in the stateless way, and returns the answer.
func post(url, method string, params map[string]any) (string, error) {
	if params == nil {
		params = map[string]any{}
	}
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion": stateless, "io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo": map[string]string{"name": "poster", "version": "1"},
	}
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(raw))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", stateless)
	req.Header.Set("Mcp-Method", method)
	if name, ok := params["name"].(string); ok {
		req.Header.Set("Mcp-Name", name)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

func readsFile(url, path string) (string, error) {
	return post(url, "tools/call", map[string]any{"name": "read_file", "arguments": args{"path": path}})
}

// newForest makes a world whose root is a repository with a further worktree, two.
func newForest(t *testing.T) *world {
	t.Helper()
	w := newTree(t)
	w.plant("two")
	return w
}

func (w *world) in(words ...string) {
	w.t.Helper()
	cmd := exec.Command("git", words...)
	cmd.Dir, cmd.Env = w.root, w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v: %s", words, err, out)
	}
}

// plant adds a worktree, in which a file names it.
func (w *world) plant(name string) {
	w.t.Helper()
	w.in("worktree", "add", "-q", "-b", name, "../"+name)
	write(w.t, filepath.Join(filepath.Dir(w.root), name, "name.txt"), "I am "+name)
}

func TestEveryWorktreeHasAServerOnAPortOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newForest(t)
	first := freePort(t)
	taken, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", first))
	if err != nil {
		t.Skipf("the port has gone to somebody else: %v", err)
	}
	defer taken.Close()
	k := w.keep(first)
	all := k.running("main", "two")
	main, two := *all["main"].MCP.Port, *all["two"].MCP.Port
	if main <= first || two <= main {
		t.Errorf("%d is taken; main has %d, two has %d", first, main, two)
	}
	if got, err := readsFile(all["two"].MCP.URL, "name.txt"); err != nil || !strings.Contains(got, "I am two") {
		t.Errorf("two answers %s %v", got, err)
	}
	if got, err := readsFile(all["main"].MCP.URL, "name.txt"); err != nil || !strings.Contains(got, "not_found") {
		t.Errorf("main answers %s %v", got, err)
	}
	if got, err := readsFile(all["two"].MCP.URL, filepath.Join(w.root, "justfile")); err != nil || !strings.Contains(got, "Path outside project root") {
		t.Errorf("two reads main: %s %v", got, err)
	}
	list, err := post(all["main"].MCP.URL, "tools/list", nil)
	if err != nil || !strings.Contains(list, "run_just_task") || strings.Contains(list, "launch_") {
		t.Errorf("tools/list: %.300s %v", list, err)
	}
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} {
		if got, err := readsFile(fmt.Sprintf("http://%s:%d/mcp", host, two), "name.txt"); err == nil && !strings.Contains(got, "I am two") || err != nil && host == "127.0.0.1" {
			t.Errorf("%s: %s %v", host, got, err)
		}
	}
	for _, host := range []string{"evil.example", fmt.Sprintf("evil.example:%d", two), fmt.Sprintf("localhost:%d", main), "localhost"} {
		req, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/mcp", two), strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != http.StatusForbidden {
			t.Errorf("for the host %s it answers %s", host, res.Status)
		}
	}
}

func TestAServerComesAndGoesWithItsWorktree(t *testing.T) {
	t.Parallel()
	w := newForest(t)
	k := w.keep(freePort(t))
	two := *k.running("main", "two")["two"].MCP.Port
	w.plant("three")
	if got, err := readsFile(k.running("main", "two", "three")["three"].MCP.URL, "name.txt"); err != nil || !strings.Contains(got, "I am three") {
		t.Errorf("three answers %s %v", got, err)
	}
	w.in("worktree", "remove", "--force", "../two")
	k.running("main", "three")
	if _, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", two)); err == nil {
		t.Errorf("%d is not free", two)
	}
	k.stop()
	if strings.Contains(k.said.String(), `"level":"ERROR"`) {
		t.Errorf("it said %s", k.said)
	}
}

func TestTheStateOfEveryWorktreeIsShown(t *testing.T) {
	t.Parallel()
	w := newForest(t)
	w.env = append(w.env, "XDG_STATE_HOME="+w.state)
	shown := func() string {
		t.Helper()
		cmd := exec.Command(binary, "worktrees", "--json", "--root", w.root, "--state-dir", w.state)
		cmd.Env = w.env
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got := shown(); strings.Count(got, `"server_running": false`) != 2 || !strings.Contains(got, `"port": null`) {
		t.Errorf("before there is a server: %s", got)
	}
	k := w.keep(freePort(t))
	all := k.running("main", "two")
	if two := all["two"]; two.Worktree != "../two" || two.MCP.LastError != nil || two.MCP.URL != fmt.Sprintf("http://localhost:%d/mcp", *two.MCP.Port) || len(two.MCP.Tools) != 4 ||
		two.MCP.Tools[0].Name != "read_file" || two.MCP.Tools[0].Description == "" || !bytes.Contains(two.MCP.Tools[0].Parameters, []byte(`"properties"`)) {
		t.Errorf("%+v", two)
	}
	c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", *all["two"].MCP.Port))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a client to be counted", func() bool { return k.states()["two"].MCP.ConnectedClients == 1 })
	c.Close()
	eventually(t, "the command line to say the same", func() bool {
		return strings.Count(shown(), `"server_running": true`) == 2 && strings.Contains(shown(), fmt.Sprintf(`"port": %d`, *all["two"].MCP.Port))
	})
	again := exec.Command(binary, "serve", "--worktrees", "--root", w.root, "--state-dir", w.state, "--addr", "127.0.0.1:0")
	again.Env = w.env
	if out, err := again.CombinedOutput(); err == nil || !strings.Contains(string(out), "another gantry serve --worktrees") {
		t.Errorf("a second server: %v %s", err, out)
	}
	k.stop()
	if got := shown(); strings.Count(got, `"server_running": false`) != 2 {
		t.Errorf("after the server: %s", got)
	}
}

func TestAWorktreesServerOpensAStream(t *testing.T) {
	t.Parallel()
	k := newTree(t).keep(freePort(t))
	url := k.running("main")["main"].MCP.URL
	send := func(method, session, body string) *http.Response {
		t.Helper()
		req, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "application/json, text/event-stream")
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("Mcp-Protocol-Version", stateful)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	begun := send(http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+stateful+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	session := begun.Header.Get("Mcp-Session-Id")
	if begun.StatusCode != http.StatusOK || session == "" {
		t.Fatalf("initialize: %s", begun.Status)
	}
	send(http.MethodPost, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	stream := send(http.MethodGet, session, "")
	if got := stream.Header.Get("Content-Type"); stream.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Errorf("GET answers %s, %s", stream.Status, got)
	}
}

func TestManyClientsCallOneWorktreeAtOnce(t *testing.T) {
	t.Parallel()
	k := newForest(t).keep(freePort(t))
	all := k.running("main", "two")
	began := time.Now()
	var clients sync.WaitGroup
	for range 10 {
		clients.Go(func() {
			for range 10 {
				if got, err := readsFile(all["two"].MCP.URL, "name.txt"); err != nil || !strings.Contains(got, "I am two") {
					t.Errorf("%.300s %v", got, err)
					return
				}
			}
		})
	}
	clients.Wait()
	t.Logf("a hundred calls of ten clients took %s", time.Since(began))
}
