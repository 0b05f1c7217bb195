package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

const history = `
echo one >a; git add .; git commit -qm one; git tag light
echo two >a; git commit -qam two; git tag -am x annotated; git branch side; git tag side HEAD~1
echo three >a; git commit -qam three; git tag -a blob -m x $(git hash-object -w a)`

func TestCloneChecksOutTheCommitThatTheRefMeans(t *testing.T) {
	w := newWorld(t)
	origin := w.repo(history)
	sha := func(rev string) string { return w.sh(origin, "git rev-parse "+rev+"^{commit}") }
	for _, c := range []struct{ ref, want, content string }{
		{"", sha("main"), "three\n"},
		{"main", sha("main"), "three\n"},
		{"side", sha("refs/heads/side"), "two\n"}, // not the tag
		{"refs/tags/side", sha("refs/tags/side"), "one\n"},
		{"light", sha("light"), "one\n"},
		{"annotated", sha("annotated"), "two\n"},
		{sha("light"), sha("light"), "one\n"},
		{sha("main"), sha("main"), "three\n"},
	} {
		for _, depth := range []int{0, 1} {
			for _, url := range []string{origin, "file://" + origin} {
				dir, got := w.mustClone(url, CloneOptions{Ref: c.ref, Depth: depth})
				content, _ := os.ReadFile(filepath.Join(dir, "a"))
				if got.SHA != c.want || got.When.Unix() != 1700000000 || string(content) != c.content {
					t.Errorf("%q, depth %d: %v %q, want %s %q", c.ref, depth, got, content, c.want, c.content)
				}
				if branch, err := w.git.Branch(t.Context(), dir); branch != "" || err != nil {
					t.Errorf("%q: on branch %q %v", c.ref, branch, err)
				}
				if s, err := w.git.Status(t.Context(), dir); err != nil || !s.Clean() {
					t.Errorf("%q: %+v %v", c.ref, s, err)
				}
			}
		}
		if got, err := w.git.ResolveRemote(t.Context(), origin, c.ref, true); got != c.want || err != nil {
			t.Errorf("ResolveRemote(%q) = %s %v, want %s", c.ref, got, err, c.want)
		}
	}
	if dir, _ := w.mustClone(origin, CloneOptions{Depth: 1}); w.sh(dir, "git rev-list --count HEAD") != "1" {
		t.Error("depth 1 fetched more than one commit")
	}
	if dir, _ := w.mustClone(origin, CloneOptions{}); w.sh(dir, "git rev-list --count HEAD") != "3" {
		t.Error("depth 0 did not fetch all of the history")
	}
}

func TestCloneBySHAWhenTheServerForbidsIt(t *testing.T) {
	w := newWorld(t)
	origin := w.repo(history)
	first := w.sh(origin, "git rev-parse light")
	w.sh(origin, "git tag -d light; git tag -d side")
	// Version 0 of the protocol gives only what a ref points to.
	write(t, w.home+"/.gitconfig", "[protocol]\n\tversion = 0\n")
	var f *failure
	if _, err := w.git.run(t.Context(), in(w.repo(""), "fetch", "--", "file://"+origin, first)); !errors.As(err, &f) || !f.noRef() {
		t.Fatalf("the server does not forbid it: %v", err)
	}
	dir, got := w.mustClone("file://"+origin, CloneOptions{Ref: first, Depth: 1})
	if got.SHA != first || w.sh(dir, "cat a") != "one" {
		t.Errorf("%v", got)
	}
	_, _, err := w.clone("file://"+origin, CloneOptions{Ref: strings.Repeat("1", 40), Depth: 1})
	if !fault.Is(err, fault.RefNotFound) {
		t.Errorf("an object that is not there: %v", err)
	}
}

func TestCloneSaysWhatIsMissing(t *testing.T) {
	w := newWorld(t)
	origin, empty := w.repo(history), w.repo("")
	noHead := w.repo(oneCommit + `; git symbolic-ref HEAD refs/heads/gone`)
	for _, c := range []struct {
		url, ref string
		want     fault.Code
	}{
		{origin + "-none", "", fault.RepoNotFound},
		{"file://" + origin + "-none", "", fault.RepoNotFound},
		{empty, "", fault.RepoEmpty},
		{empty, "main", fault.RepoEmpty},
		{noHead, "", fault.RefNotFound},
		{origin, "none", fault.RefNotFound},
		{origin, "blob", fault.RefNotFound},
		{origin, strings.Repeat("1", 40), fault.RefNotFound},
		{origin, "--upload-pack=id", fault.InvalidInput},
		{origin, "a..b", fault.InvalidInput},
		{"--upload-pack=id", "", fault.URLNotAllowed},
	} {
		dir, _, err := w.clone(c.url, CloneOptions{Ref: c.ref})
		if !fault.Is(err, c.want) || fault.From(err).Retryable {
			t.Errorf("%s %q: %v, want %s", c.url, c.ref, err, c.want)
			continue
		}
		if exists(dir) {
			t.Errorf("%s %q left a folder behind", c.url, c.ref)
		}
		if text := err.Error() + fault.From(err).Hint; strings.Contains(text, filepath.Dir(origin)) || strings.Contains(text, w.home) {
			t.Errorf("the error tells a path: %s", text)
		}
	}
	full := t.TempDir()
	write(t, full+"/mine", "x")
	if _, err := w.git.Clone(t.Context(), origin, full, CloneOptions{AllowLocal: true}); !fault.Is(err, fault.InvalidInput) || !exists(full+"/mine") {
		t.Errorf("into a folder with files: %v", err)
	}
	inside := t.TempDir()
	if _, err := w.git.Clone(t.Context(), origin, inside, CloneOptions{Ref: strings.Repeat("1", 40), AllowLocal: true}); err == nil || exists(inside+"/.git") || !exists(inside) {
		t.Errorf("into an empty folder: %v", err)
	}
}

func TestAnUnreachableHostIsWorthARetry(t *testing.T) {
	w := newWorld(t)
	_, _, err := w.clone("git://127.0.0.1:1/x", CloneOptions{})
	if !fault.Is(err, fault.CloneFailed) || !fault.From(err).Retryable {
		t.Errorf("%v", err)
	}
}

func TestThePersonsInsteadOfHoldsAndItsSecretsStay(t *testing.T) {
	w := newWorld(t)
	origin := w.repo(oneCommit)
	bare := filepath.Join(w.t.TempDir(), "x", "y")
	w.sh("/", "git clone -q --bare "+origin+" "+bare)
	write(t, w.home+"/.gitconfig", `[url "file://`+filepath.Dir(filepath.Dir(bare))+`/"]
	insteadOf = https://github.com/
[url "https://me:hunter2@127.0.0.1:1/"]
	insteadOf = https://secret.example/
`)
	dir := filepath.Join(t.TempDir(), "clone")
	if _, err := w.git.Clone(t.Context(), "https://github.com/x/y", dir, CloneOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := w.git.RemoteURL(t.Context(), dir, "origin"); got != "https://github.com/x/y" || err != nil {
		t.Errorf("remote %q %v", got, err)
	}
	_, err := w.git.Clone(t.Context(), "https://secret.example/x", dir+"2", CloneOptions{})
	if err == nil {
		t.Fatal("cloned from nowhere")
	}
	for e := err; e != nil; {
		if strings.Contains(e.Error(), "hunter2") {
			t.Errorf("the password is in %v", e)
		}
		u, ok := e.(interface{ Unwrap() error })
		if !ok {
			break
		}
		e = u.Unwrap()
	}
	if f := fault.From(err); f.Code != fault.CloneFailed || !f.Retryable {
		t.Errorf("%v", f)
	}
}

func TestNothingOfTheRepositoryRuns(t *testing.T) {
	w := newWorld(t)
	proof := filepath.Join(t.TempDir(), "ran")
	touch := "touch " + proof
	target := w.repo("")
	origin := w.repo(`
echo '* filter=evil diff=evil' >.gitattributes; echo '*.eq filter=a=b' >>.gitattributes
echo one >a; echo one >b.eq; git add .; git commit -qm one
git config -f .gitmodules submodule.s.path s; git config -f .gitmodules submodule.s.url ` + "'ext::sh -c \"" + touch + "\"'" + `
git add .; git commit -qm two`)
	config := `[filter "evil"]
	clean = ` + touch + `; cat
	smudge = ` + touch + `; cat
	required = true
[filter "a=b"]
	clean = ` + touch + `; cat
	smudge = ` + touch + `; cat
[diff "evil"]
	command = ` + touch + `
	textconv = ` + touch + `; cat
[diff]
	external = ` + touch + `
[core]
	fsmonitor = ` + touch + `
	autocrlf = true
	editor = ` + touch + `
	askpass = ` + touch + `
[commit]
	gpgSign = true
[submodule]
	recurse = true
[gpg]
	program = ` + touch + `
[init]
	templateDir = ` + w.home + `/template
`
	write(t, w.home+"/.gitconfig", config)
	for _, hook := range []string{"post-checkout", "pre-commit", "commit-msg", "post-commit", "pre-push", "reference-transaction", "post-index-change"} {
		write(t, w.home+"/template/hooks/"+hook, "#!/bin/sh\n"+touch+"\n")
	}
	dir, first := w.mustClone(origin, CloneOptions{})
	if exists(proof) {
		t.Fatal("cloning ran something")
	}
	if exists(dir + "/.git/hooks") {
		t.Error("the template was used")
	}
	// The same in a repository that somebody else prepared.
	write(t, dir+"/.git/info/attributes", "")
	for _, hook := range []string{"post-checkout", "pre-commit", "commit-msg", "post-commit", "pre-push", "reference-transaction", "post-index-change"} {
		write(t, dir+"/.git/hooks/"+hook, "#!/bin/sh\n"+touch+"\n")
	}
	write(t, dir+"/.git/config", config+"[remote \"origin\"]\n\turl = "+target+"\n")
	write(t, dir+"/a", "two\n")
	write(t, dir+"/b.eq", "two\n")
	ctx := t.Context()
	if _, err := w.git.Status(ctx, dir); err != nil {
		t.Error(err)
	}
	patch, err := w.git.Diff(ctx, dir, DiffSpec{From: "HEAD", Untracked: true})
	if err != nil || !strings.Contains(string(patch), "+two") {
		t.Errorf("%s %v", patch, err)
	}
	if err := w.git.Checkout(ctx, dir, "work", ""); err != nil {
		t.Error(err)
	}
	o := commitOptions("x")
	o.Paths = []string{"a", "b.eq"}
	if _, err := w.git.Commit(ctx, dir, o); err != nil {
		t.Error(err)
	}
	if err := w.git.Push(ctx, dir, "origin", "work", PushOptions{}); err != nil {
		t.Error(err)
	}
	if err := w.git.Checkout(ctx, dir, "back", first.SHA); err != nil {
		t.Error(err)
	}
	if exists(proof) {
		t.Error("something ran")
	}
}

func TestTheExtTransportIsRefusedEvenWhenConfigured(t *testing.T) {
	w := newWorld(t, "GIT_ALLOW_PROTOCOL=ext:file:https")
	proof := filepath.Join(t.TempDir(), "ran")
	write(t, w.home+"/.gitconfig", "[protocol \"ext\"]\n\tallow = always\n[url \"ext::sh -c touch% "+proof+" \"]\n\tinsteadOf = https://x.example/\n")
	for _, url := range []string{"ext::sh -c touch% " + proof, "https://x.example/y"} {
		if _, _, err := w.clone(url, CloneOptions{}); err == nil || exists(proof) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestFilesAreAsTheyAreInTheCommit(t *testing.T) {
	w := newWorld(t)
	origin := w.repo(`printf 'a\r\nb\n' >mixed; printf '$Id$\n' >id; printf 'text\n' >marked; ln -s /etc/passwd link; git add .; git commit -qm one
printf '* text eol=crlf ident\nmarked -diff\n' >.gitattributes; git add .gitattributes; git commit -qm two`)
	write(t, w.home+"/.gitconfig", "[core]\n\tautocrlf = true\n\teol = crlf\n")
	dir, _ := w.mustClone(origin, CloneOptions{})
	for name, want := range map[string]string{"mixed": "a\r\nb\n", "id": "$Id$\n", "marked": "text\n"} {
		if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if target, err := os.Readlink(dir + "/link"); target != "/etc/passwd" || err != nil {
		t.Errorf("link: %q %v", target, err)
	}
	if s := try(t, func(ctx context.Context) (Status, error) { return w.git.Status(ctx, dir) }); !s.Clean() {
		t.Errorf("%+v", s)
	}
	write(t, dir+"/marked", "text2\n")
	if patch := try(t, func(ctx context.Context) ([]byte, error) { return w.git.Diff(ctx, dir, DiffSpec{From: "HEAD"}) }); !strings.Contains(string(patch), "+text2") {
		t.Errorf("%s", patch)
	}
}

func TestNamesThatOtherSystemsReadAsDotGitAreRefused(t *testing.T) {
	w := newWorld(t)
	origin := w.repo(`b=$(echo x | git hash-object -w --stdin)
t=$(printf '100644 blob %s\tconfig\n' $b | git mktree)
r=$(printf '040000 tree %s\t.GIT\n' $t | git mktree)
git update-ref refs/heads/main $(git commit-tree -m x $r)`)
	if dir, _, err := w.clone(origin, CloneOptions{}); !fault.Is(err, fault.CloneFailed) || exists(dir) {
		t.Errorf("%v", err)
	}
}
