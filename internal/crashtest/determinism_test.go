package crashtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Two launches of the same inputs, in two places, at two times, by two persons.
func TestSameInputsGiveTheSameBytesAndTheSameCommit(t *testing.T) {
	for _, shape := range shapes() {
		for _, site := range []string{"embedded", "repository"} {
			t.Run(shape.name+" "+site, func(t *testing.T) {
				first, second := newLab(t), newLab(t)
				second.otherPerson()
				want := first.once(shape.make(first, "product"), site, "--parallel", "1")
				got := second.once(shape.make(second, "product"), site, "--parallel", "4")
				compare(t, "the second launch", want, got)
				if want["artifacts/launch.patch"] == "" || len(want) < 12 {
					t.Errorf("the launch left little: %v", names(want))
				}
			})
		}
	}
}

// Two launches in one state directory see nothing of each other.
func TestALaunchAgainGivesTheSameBytes(t *testing.T) {
	l := newLab(t)
	repo := l.goRepo("product")
	site := l.siteRepo("site.git")
	var got []tree
	for range 2 {
		before := l.runs()
		l.must("launch", repo, "--site", site)
		got = append(got, l.outcome(fresh(t, before, l.runs())))
	}
	compare(t, "the second launch", got[0], got[1])
}

// once launches and returns the outcome.
func (l *lab) once(repo, site string, flags ...string) tree {
	l.t.Helper()
	args := append([]string{"launch", repo}, flags...)
	if site == "repository" {
		args = append(args, "--site", l.siteRepo("site.git"))
	}
	l.must(args...)
	return l.outcome(fresh(l.t, nil, l.runs()))
}

func fresh(t *testing.T, before, after []string) string {
	t.Helper()
	for _, id := range after {
		if !slices.Contains(before, id) {
			return id
		}
	}
	t.Fatal("there is no new run")
	return ""
}

// otherPerson gives the lab another environment: language, time zone, umask, a home
// with a git configuration of strong taste, and a state directory with a longer name.
func (l *lab) otherPerson() {
	home := filepath.Join(l.t.TempDir(), "another home")
	write(l.t, filepath.Join(home, ".gitconfig"),
		"[core]", "autocrlf = true", "abbrev = 20", "quotepath = false", "fileMode = false", "ignorecase = true",
		"[diff]", "noprefix = true", "context = 1", "algorithm = patience", "renames = copies", "mnemonicPrefix = true",
		"[user]", "name = Other", "email = other@example.com", "[commit]", "gpgsign = true", "template = /nowhere",
		"[init]", "defaultBranch = trunk", "[color]", "ui = always", "[status]", "short = true", "relativePaths = false",
		"[log]", "showSignature = true", "[apply]", "whitespace = fix")
	l.state = filepath.Join(l.t.TempDir(), strings.Repeat("deep/", 8), "state of mind")
	env := slices.DeleteFunc(l.env, func(e string) bool { return strings.HasPrefix(e, "HOME=") || strings.HasPrefix(e, "TMPDIR=") })
	tmp := filepath.Join(l.t.TempDir(), "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		l.t.Fatal(err)
	}
	l.env = append(env, "HOME="+home, "TMPDIR="+tmp, "TZ=Asia/Kathmandu", "LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "LANGUAGE=tr",
		"COLUMNS=40", "NO_COLOR=1", "GIT_AUTHOR_DATE=@1 +0000", "GIT_COMMITTER_NAME=Nobody", "GOFLAGS=-mod=mod", "GIT_DIFF_OPTS=-u9")
	l.umask = 0o077
}
