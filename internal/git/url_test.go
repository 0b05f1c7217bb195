package git

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
)

func TestCheckURL(t *testing.T) {
	g := newWorld(t).git
	for _, c := range []struct {
		url         string
		remote, own bool // allowed for a client, and for a person's own command line
	}{
		{"https://github.com/owner/name", true, true},
		{"https://github.com/owner/name.git", true, true},
		{"https://git.example.org:8443/a/b%20c", true, true},
		{"ssh://git@github.com/owner/name", true, true},
		{"ssh://git@[2001:db8::1]:22/x", true, true},
		{"git@github.com:owner/name.git", true, true},
		{"github.com:owner/name", true, true},
		{"git://example.org/x", true, true},
		{"https://10.1.2.3/x", true, true},
		{"/srv/repo", false, true},
		{"../repo", false, true},
		{"./a:b", false, true},
		{"file:///etc", false, true},
		{"https://localhost/x", false, true},
		{"https://LOCALHOST./x", false, true},
		{"https://a.localhost/x", false, true},
		{"https://127.0.0.1/x", false, true},
		{"https://[::1]/x", false, true},
		{"https://[::ffff:127.0.0.1]/x", false, true},
		{"https://169.254.169.254/x", false, true},
		{"git@[fe80::1]:x", false, true},
		{"https://0x7f.1/x", false, true},
		{"https://2130706433/x", false, true},
		{"https://0177.0.0.1/x", false, true},
		{"file://evil/x", false, false},
		{"http://github.com/owner/name", false, false},
		{"http://169.254.169.254/", false, false},
		{"gopher://x/y", false, false},
		{"ext::sh -c id", false, false},
		{"fd::7", false, false},
		{"ext::https://x/y", false, false},
		{"ssh://-oProxyCommand=id/x", false, false},
		{"ssh://%2doProxyCommand=id/x", false, false},
		{"ssh://-oProxyCommand=id@host/x", false, false},
		{"ssh://host/-x", false, false},
		{"git@-oProxyCommand:x", false, false},
		{"-oProxyCommand=id:x", false, false},
		{"a@b@-oProxyCommand=id:x", false, false},
		{"host:-x", false, false},
		{"git@[-oProxyCommand=id]:x", false, false},
		{"-u", false, false},
		{"https://user:tok@h.org/x", false, false},
		{"https://tok@h.org/x", false, false},
		{"ssh://git:pw@h.org/x", false, false},
		{"https:///x", false, false},
		{"https://h.org/x?y=z", false, false},
		{"https://h.org/a b", false, false},
		{"https://h.org\\@x/", false, false},
		{"https://h.org/x\n", false, false},
		{"a\x00b", false, false},
		{"", false, false},
		{"https://h.org/" + strings.Repeat("x", 3000), false, false},
	} {
		for _, local := range []bool{false, true} {
			err := g.CheckURL(c.url, local)
			want := c.remote
			if local {
				want = c.own
			}
			if (err == nil) != want || err != nil && !fault.Is(err, fault.URLNotAllowed) {
				t.Errorf("CheckURL(%q, %v): %v", c.url, local, err)
			}
			if err != nil && (strings.Contains(err.Error(), "tok") || strings.Contains(err.Error(), "pw")) {
				t.Errorf("the error tells a secret: %v", err)
			}
		}
	}
	only, err := New(Options{Env: g.env, Schemes: []string{"https"}})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]bool{"https://h.org/x": true, "ssh://h.org/x": false, "git@h.org:x": false} {
		if err := only.CheckURL(url, true); (err == nil) != want {
			t.Errorf("https only: %s: %v", url, err)
		}
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"https://u:p@h.org/x":      "https://h.org/x",
		"https://h.org/x":          "https://h.org/x",
		"https://u:p@ss/w@h.org/x": "https://ss/w@h.org/x",
		"git@h.org:o/n":            "h.org:o/n",
		"/home/me/secret/repo":     "repo",
		"file:///home/me/repo":     "repo",
	} {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"fatal: repository '/home/me/x y/z' does not exist":  "fatal: repository '<path>' does not exist",
		"fatal: unable to access 'https://u:p@h.org/x/': no": "fatal: unable to access 'https://h.org/x/': no",
		"error: open(/tmp/a/b): denied":                      "error: open(<path>): denied",
		"fatal: cannot mkdir /known/my dir/x: No such file":  "fatal: cannot mkdir <path>/x: No such file",
		"fatal: cannot mkdir /root/x: No such file":          "fatal: cannot mkdir <path>: No such file",
	} {
		if got := redact(in, "/known/my dir", "/"); got != want {
			t.Errorf("redact(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCheckRefAgreesWithGit(t *testing.T) {
	w := newWorld(t)
	check := func(name string) (ours, gits bool) {
		r, err := proc.Run(t.Context(), proc.Spec{Name: "git", Args: []string{"check-ref-format", "refs/heads/" + name}, Env: w.env})
		if err != nil {
			t.Fatal(err)
		}
		return CheckRef(name) == nil, r.OK()
	}
	for _, name := range []string{
		"main", "a/b", "launch/x/abc1234/r_1", "v1.2", "ünï", "a@b", "{x}", "a.lockx",
		"", ".a", "a/.b", "a..b", "a.lock", "a.lock/b", "a b", "a~", "a^", "a:b", "a?", "a*", "a[", `a\b`, "/a", "a/", "a//b", "a.", "@{u}", "a@{1}", "a\x7f", "a\tb",
	} {
		if ours, gits := check(name); ours != gits {
			t.Errorf("%q: %v, git says %v", name, ours, gits)
		}
	}
	for _, name := range []string{"-x", "--format=evil", "@", strings.Repeat("a", 300)} {
		if err := CheckRef(name); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %v", name, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a/.@{~ lock-]{1,8}`).Draw(t, "name")
		if ours, gits := check(name); ours && !gits || gits && !ours && name[0] != '-' && name != "@" {
			t.Fatalf("%q: %v, git says %v", name, ours, gits)
		}
	})
}
