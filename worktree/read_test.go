package worktree

import (
	"errors"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

func wantFault(t *testing.T, name string, err error, code fault.Code) {
	t.Helper()
	f := new(fault.Fault)
	if !errors.As(err, &f) || f.Code != code {
		t.Errorf("%.60s: %v, want %s", name, err, code)
		return
	}
	if code == fault.PathOutsideRoot && f.Message != "Path outside project root" {
		t.Errorf("%.60s: the message is %q", name, f.Message)
	}
}

func TestLinesOfAFile(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	long := strings.Repeat("x", DefaultBytes) + "y\nlast\n"
	p.write("a.txt", "one\ntwo\nthree", "empty", "", "long", long, "many", strings.Repeat("0123456789abcde\n", 5000), "bin", "\x00\xff\n\xfe", "half", "é\xc3")
	tree := p.open()
	for name, c := range map[string]struct {
		path  string
		slice Slice
		want  Content
	}{
		"all":             {"a.txt", Slice{}, Content{Data: []byte("one\ntwo\nthree"), Text: true, Size: 13, Lines: 3}},
		"by the root":     {filepath.Join(p.dir, "a.txt"), Slice{}, Content{Data: []byte("one\ntwo\nthree"), Text: true, Size: 13, Lines: 3}},
		"the first":       {"a.txt", Slice{0, 1}, Content{Data: []byte("one\n"), Text: true, Size: 13, Lines: 3, Truncated: true, Next: 1}},
		"the last":        {"./a.txt", Slice{2, 5}, Content{Data: []byte("three"), Text: true, Size: 13, Lines: 3}},
		"behind the last": {"a.txt", Slice{math.MaxInt64, math.MaxInt64}, Content{Data: []byte{}, Text: true, Size: 13, Lines: 3}},
		"nothing":         {"empty", Slice{}, Content{Data: []byte{}, Text: true}},
		"no text":         {"bin", Slice{}, Content{Data: []byte("\x00\xff\n\xfe"), Size: 4, Lines: 2}},
		"half a letter":   {"half", Slice{}, Content{Data: []byte("é\xc3"), Size: 3, Lines: 1}},
		"a long line":     {"long", Slice{}, Content{Data: []byte(long[:DefaultBytes]), Text: true, Size: int64(len(long)), Lines: 2, Truncated: true, Next: 1}},
		"a whole line":    {"long", Slice{0, 1}, Content{Data: []byte(long[:DefaultBytes+2]), Text: true, Size: int64(len(long)), Lines: 2, Truncated: true, Next: 1}},
		"many lines": {"many", Slice{}, Content{Data: []byte(strings.Repeat("0123456789abcde\n", DefaultBytes/16)), Text: true, Size: 80000, Lines: 5000,
			Truncated: true, Next: DefaultBytes / 16}},
	} {
		got, err := tree.ReadFile(c.path, c.slice)
		c.want.Path = filepath.Base(c.path)
		if err != nil || string(got.Data) != string(c.want.Data) {
			t.Errorf("%s: %d bytes, %v", name, len(got.Data), err)
		}
		got.Data, c.want.Data = nil, nil
		if got.Path != c.want.Path || got.Text != c.want.Text || got.Size != c.want.Size || got.Lines != c.want.Lines || got.Truncated != c.want.Truncated || got.Next != c.want.Next {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestAFileOfTenGigabytesIsCut(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("big", "head\n")
	if err := os.Truncate(filepath.Join(p.dir, "big"), 10<<30); err != nil {
		t.Fatal(err)
	}
	c, err := p.open().ReadFile("big", Slice{Limit: 1})
	if err != nil || string(c.Data) != "head\n" || !c.Truncated || c.Size != 10<<30 || c.Lines != 2 || c.Text {
		t.Errorf("%q %+v %v", c.Data, c.Lines, err)
	}
}

func TestWhatLeadsOutIsRefusedWhetherItExistsOrNot(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("a.txt", "x", "dir/", "", "../project-evil/secret", "s", "../project2/secret", "s")
	p.link("/etc/passwd", "passwd")
	p.link("/etc", "etc")
	p.link("../project-evil", "evil")
	p.link(filepath.Join(p.dir, "a.txt"), "absolute")
	tree := p.open()
	for _, path := range []string{
		"/etc/passwd", "/etc", "/", "../outside/secret", "foo/../../etc/passwd", "..", "dir/../..", "/no/such/file", "../no/such/file",
		p.dir + "/../project-evil/secret", p.dir + "2/secret", p.dir + "_backup/x", p.dir + ".bak", p.dir + "ile", p.dir + "-evil/secret",
		"passwd", "etc/passwd", "evil/secret", "etc/../a.txt", "absolute", "/proc/self/environ", "/proc/self/root/etc/passwd", "/proc/1/cwd",
	} {
		_, err := tree.ReadFile(path, Slice{})
		wantFault(t, path, err, fault.PathOutsideRoot)
		_, err = tree.ListDirectory(t.Context(), path)
		wantFault(t, "list "+path, err, fault.PathOutsideRoot)
		_, err = tree.Context(t.Context(), Ask{Files: []string{path}})
		wantFault(t, "context "+path, err, fault.PathOutsideRoot)
	}
}

func TestPathsAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("a.txt", "x", "dir/b", "")
	p.link("loop", "loop")
	p.link("pong", "ping")
	p.link("ping", "pong")
	p.link("a.txt", "good")
	tree := p.open()
	for path, code := range map[string]fault.Code{
		"%2e%2e%2fetc%2fpasswd": fault.NotFound, "..%c0%af": fault.NotFound, "..%255c": fault.NotFound, "．．/etc": fault.NotFound, "..;/": fault.NotFound,
		"..∕etc": fault.NotFound, "file:///etc/passwd": fault.NotFound, "~/.ssh/id_rsa": fault.NotFound, "no": fault.NotFound, "a.txt/b": fault.NotFound,
		"loop": fault.TooManyLinks, "ping": fault.TooManyLinks, "ok.txt\x00.png": fault.InvalidInput, "": fault.IsDirectory, ".": fault.IsDirectory, "dir": fault.IsDirectory,
		strings.Repeat("a/", 3000) + "x": fault.NameTooLong, strings.Repeat("n", 300): fault.NameTooLong,
	} {
		_, err := tree.ReadFile(path, Slice{})
		if code == fault.NameTooLong && fault.Is(err, fault.NotFound) {
			code = fault.NotFound // the first folder of a long path is not there
		}
		wantFault(t, path, err, code)
		if err != nil && len(err.Error()) > 256 {
			t.Errorf("%.40s: the text of the failure has %d bytes", path, len(err.Error()))
		}
	}
	if c, err := tree.ReadFile("good", Slice{}); err != nil || c.Path != "a.txt" {
		t.Errorf("a link in the project: %+v, %v", c, err)
	}
	_, err := tree.ListDirectory(t.Context(), "a.txt")
	wantFault(t, "list a.txt", err, fault.NotDirectory)
}

func TestPipesDevicesAndSocketsAreNotOpened(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	if err := syscall.Mkfifo(filepath.Join(p.dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("", "s") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	l, err := net.Listen("unix", filepath.Join(short, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p.write("dir/", "")
	tree := p.open()
	_, err = tree.ReadFile("pipe", Slice{})
	wantFault(t, "pipe", err, fault.NotRegular)
	_, err = tree.Context(t.Context(), Ask{Files: []string{"pipe"}})
	wantFault(t, "pipe", err, fault.NotRegular)
	sockets, err := Open(short, Options{Env: p.env})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sockets.ReadFile("s", Slice{})
	wantFault(t, "socket", err, fault.NotRegular)
	f, err := tree.ListDirectory(t.Context(), "")
	if err != nil || len(f.Entries) != 2 || f.Entries[1] != (Entry{Name: "pipe", Kind: Other}) {
		t.Errorf("%+v %v", f, err)
	}
}

func TestFilesThatLookSecretAreRefusedUnlessAllowed(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	secrets := []string{".env", ".ENV", ".env.local", "sub/.npmrc", ".netrc", "key.pem", "server.key", "id_rsa", "id_ed25519", ".git/config", "deploy/.aws/credentials"}
	open := []string{".env.example", "id_rsa.pub", "id_map.go", "environment", "pem.go", "config"}
	for _, s := range append(secrets, open...) {
		p.write(s, "x")
	}
	p.link("id_rsa", "harmless.txt")
	p.link("config", ".envrc")
	tree := p.open()
	for _, s := range append(secrets, "harmless.txt", ".envrc") {
		_, err := tree.ReadFile(s, Slice{})
		wantFault(t, s, err, fault.SecretFile)
	}
	for _, s := range open {
		if _, err := tree.ReadFile(s, Slice{}); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	allowing := p.open(func(o *Options) { o.AllowSecrets = true })
	for _, s := range secrets {
		if _, err := allowing.ReadFile(s, Slice{}); err != nil {
			t.Errorf("%s, allowed: %v", s, err)
		}
	}
}

// What is judged and what is opened is one file, whatever happens in between.
func TestALinkThatIsSwappedGivesNothingFromOutside(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("in.txt", "inside", "../outside.txt", "outside", "id_rsa", "outside")
	tree := p.open()
	path := filepath.Join(p.dir, "swap")
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; !over.Load(); i++ {
			next := path + ".new"
			_ = os.Symlink([]string{"in.txt", "../outside.txt", "id_rsa"}[i%3], next)
			_ = os.Rename(next, path)
		}
	}()
	for range 10000 {
		if c, err := tree.ReadFile("swap", Slice{}); err == nil && string(c.Data) != "inside" {
			t.Errorf("it gave %q", c.Data)
			break
		}
	}
	over.Store(true)
	<-done
}

func TestAFolderIsListedByNameWithKindsAndSizes(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("b.txt", "12345", "a/x", "", ".hidden", "1", "Z", "", ".git/HEAD", "", "sub/.git", "gitdir: x", "sub/y", "")
	p.link("nowhere", "dangling")
	p.link("a", "linked")
	f, err := p.open().ListDirectory(t.Context(), "")
	want := []Entry{
		{".hidden", File, 1}, {"Z", File, 0}, {"a", Directory, 0}, {"b.txt", File, 5}, {"dangling", Symlink, 7}, {"linked", Symlink, 1}, {"sub", Directory, 0},
	}
	if err != nil || len(f.Entries) != len(want) {
		t.Fatalf("%+v %v", f, err)
	}
	for i, e := range f.Entries {
		if e != want[i] {
			t.Errorf("%+v, want %+v", e, want[i])
		}
	}
	if got := names(t, p.open(), "sub"); got != "y" {
		t.Errorf("a .git file: %q", got)
	}
	if f, err := p.open().ListDirectory(t.Context(), "linked"); err != nil || f.Path != "a" || len(f.Entries) != 1 {
		t.Errorf("through a link: %+v %v", f, err)
	}
}

func TestAFolderThatIsReplacedIsReadAnew(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("old", "")
	tree := p.open()
	if got := names(t, tree, ""); got != "old" {
		t.Fatal(got)
	}
	if err := os.Rename(p.dir, p.dir+"-old"); err != nil {
		t.Fatal(err)
	}
	_, err := tree.ListDirectory(t.Context(), "")
	wantFault(t, "gone", err, fault.NotFound)
	p.write("new", "")
	if got := names(t, tree, ""); got != "new" {
		t.Error(got)
	}
}
