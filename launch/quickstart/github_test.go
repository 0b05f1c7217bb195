package quickstart

import (
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

func TestGitHubURLIsNormalised(t *testing.T) {
	for _, raw := range []string{
		"https://github.com/spf13/cobra",
		" https://github.com/spf13/cobra.git\n",
		"https://github.com/spf13/cobra/",
		"HTTPS://GitHub.com/spf13/cobra",
	} {
		owner, repo, normalised, err := ParseGitHubURL(raw)
		if err != nil || owner != "spf13" || repo != "cobra" || normalised != "https://github.com/spf13/cobra" {
			t.Errorf("%q: %q %q %q, %v", raw, owner, repo, normalised, err)
		}
	}
	if _, repo, _, err := ParseGitHubURL("https://github.com/vercel/next.js.git"); err != nil || repo != "next.js" {
		t.Errorf("next.js: %q, %v", repo, err)
	}
}

func TestWhatIsNoGitHubRepositoryIsInvalidURL(t *testing.T) {
	for _, raw := range []string{
		"", " ", "cobra", "spf13/cobra", "github.com/spf13/cobra", "//github.com/o/r",
		"http://github.com/o/r", "git://github.com/o/r", "ssh://git@github.com/o/r", "git@github.com:o/r.git",
		"ext::sh -c id", "file:///etc", "ssh://-oProxyCommand=id/x", "git@-oProxyCommand:x", "http://169.254.169.254/",
		"gopher://github.com/o/r", "https://[::1]/o/r", "https://0x7f.1/o/r", "https://2130706433/o/r",
		"https://github.com:443/o/r", "https://github.com:/o/r", "https://user@github.com/o/r", "https://u:tok@github.com/o/r",
		"https://@github.com/o/r", "https://github.com.evil.example/o/r", "https://www.github.com/o/r", "https://gitlab.com/o/r",
		"https://github.com./o/r", "https://evil.example/github.com/o/r", "https://github.com@evil.example/o/r",
		"https://github.com/o/r?x=1", "https://github.com/o/r?", "https://github.com/o/r#a", "https://github.com/o/r#",
		"https://github.com", "https://github.com/", "https://github.com/o", "https://github.com/o/", "https://github.com/o/.git",
		"https://github.com/o/r/tree/main", "https://github.com/o//r", "https://github.com//o/r", "https://github.com/o/r//",
		"https://github.com/o/..", "https://github.com/../r", "https://github.com/o/a..b", "https://github.com/o/./r", "https://github.com/o/.",
		"https://github.com/o/%2e%2e", "https://github.com/o/a%2fb", "https://github.com/-o/r", "https://github.com/o-/r", "https://github.com/o_o/r",
		"https://github.com/o/r r", "https://github.com/o/r\x00", "https://github.com/o/r\nx", `https://github.com\o\r`, `https://github.com/o/r\x`,
		"https://github.com/o/é", "https://github.com/o/" + strings.Repeat("r", 101), "https://github.com/o/" + strings.Repeat("r", 1e6),
	} {
		if owner, repo, normalised, err := ParseGitHubURL(raw); !fault.Is(err, fault.InvalidURL) || owner+repo+normalised != "" {
			t.Errorf("%.80q: %q %q, %v", raw, owner, repo, err)
		}
	}
}

func TestErrorsDoNotRepeatTheURL(t *testing.T) {
	for _, raw := range []string{"https://u:s3cret@github.com/o/r", "https://github.com/o/r?token=s3cret", "https://github.com/s3cret/%zz"} {
		_, _, _, err := ParseGitHubURL(raw)
		if f := fault.From(err); f == nil || strings.Contains(f.Message+f.Hint, "s3cret") {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
