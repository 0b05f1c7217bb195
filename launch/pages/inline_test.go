package pages

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gantry-run/gantry/launch/page"
)

func TestClaimsBecomeOneSafeLine(t *testing.T) {
	repo := newRepoLinks("git@github.com:acme/widget.git", strings.Repeat("a", 40))
	blob := "https://github.com/acme/widget/blob/" + strings.Repeat("a", 40) + "/"
	for in, want := range map[string]string{
		"Plain text.":                       "Plain text.",
		"Uses `{{ x }}` and {{ y }}":        "Uses `{{ x }}` and &#123;&#123; y }}",
		"See [docs](../docs/a%20b.md#top).": "See [docs](" + blob + "docs/a%2520b.md#top).",
		"See [site](https://x.org/a).":      "See [site](https://x.org/a).",
		"See [there](#anchor) ![logo](a.png) [bad](javascript:alert(1))": "See there bad",
		"A <b>bold</b> <script>x</script> word":                          "A bold x word",
		"1. First":                                                       `1\. First`,
		"- item":                                                         `\- item`,
		"# title":                                                        `\# title`,
		"> quote":                                                        `\> quote`,
		"Set __TOKEN_A__ and a__B__c":                                    `Set **TOKEN_A** and a\_\_B\_\_c`,
		"a < b <!-- c":                                                   "a &lt; b &lt;!-- c",
		"Shortcode {{< x >}} in text":                                    "Shortcode &#123;&#123;&lt; x >}} in text",
		"Shortcode `{{< x >}}` in code":                                  "",
		"`word``{{``":                                                    "\\`word`{{`",
		"two\nlines":                                                     "two lines",
		"***":                                                            "",
		"![only](image.png)":                                             "",
	} {
		if got := inline(in, repo, "docs/guide.md"); got != strings.Replace(want, "docs/a%2520b.md", "docs/a%2520b.md", 1) {
			t.Errorf("inline(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

// TestNoClaimCanBreakItsLine puts hostile claims on a page: each stays one
// statement with its marker.
func TestNoClaimCanBreakItsLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"word", " ", "`", "``", "*", "_", "[", "](", ")", "<", "<!--", "-->", "{{<", ">}}", "{{", "__X__", "\\", "#", "- ", "1. ",
			"|", "---", "![", "\n", "<div>", "&lt;", "~~~", "```", ":", "> ", "<a href=x>", "$", "[^1]"})
		claim := strings.Join(rapid.SliceOfN(piece, 1, 10).Draw(t, "claim"), "")
		text := inline(claim, repoLinks{}, "README.md")
		if text == "" {
			return
		}
		const id = "c0123456789abcdef"
		for _, lead := range []string{"", "- "} {
			src := "---\ntitle: x\n---\n\nBefore. <!-- claim_id: " + id + " -->\n\n" + lead + text + markers([]string{id}) + "\n\nAfter. <!-- claim_id: " + id + " -->\n"
			if err := check(Page{OutputPath: "x.md", Content: []byte(src)}); err != nil {
				t.Fatalf("%q → %q: %v", claim, text, err)
			}
			read, err := page.Parse("x.md", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			if len(read.Claims) != 3 || len(read.Headings) != 0 || len(read.Fences) != 0 || len(read.Shortcodes) != 0 {
				t.Fatalf("%q → %q: %d markers, %d headings, %d fences", claim, text, len(read.Claims), len(read.Headings), len(read.Fences))
			}
		}
	})
}

func TestPlainTextHasNoMarkup(t *testing.T) {
	for in, want := range map[string]string{
		"**bold** `a_b \\d` [x](y) \\_z\\_ &lt;T&gt; ![i](j)": "bold a_b \\d x _z_ <T>",
		"Use &#123;&#123; x": "Use {{ x",
	} {
		if got := plainText(in); got != want {
			t.Errorf("plainText(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRepoLinks(t *testing.T) {
	sha := strings.Repeat("b", 40)
	for url, want := range map[string]string{
		"https://github.com/o/r":          "https://github.com/o/r/blob/" + sha + "/a.md#L3-L9",
		"https://github.com/o/r.git":      "https://github.com/o/r/blob/" + sha + "/a.md#L3-L9",
		"ssh://git@github.com/o/r.git":    "https://github.com/o/r/blob/" + sha + "/a.md#L3-L9",
		"git@gitlab.com:o/g/r.git":        "https://gitlab.com/o/g/r/-/blob/" + sha + "/a.md#L3-9",
		"https://codeberg.org/o/r":        "https://codeberg.org/o/r/src/commit/" + sha + "/a.md#L3-L9",
		"https://bitbucket.org/o/r":       "https://bitbucket.org/o/r/src/" + sha + "/a.md#lines-3:9",
		"https://git.example.org/o/r.git": "",
		"widget":                          "",
		"/srv/git/widget":                 "",
	} {
		if got := newRepoLinks(url, sha).file("a.md", 3, 9); got != want {
			t.Errorf("%s: %q", url, got)
		}
	}
	if got := newRepoLinks("https://github.com/o/r", "HEAD").file("a.md", 0, 0); got != "" {
		t.Errorf("an unpinned link: %q", got)
	}
}
