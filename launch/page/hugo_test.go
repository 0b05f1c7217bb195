package page

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEscapeHugo(t *testing.T) {
	for in, want := range map[string]string{
		"plain {{ .X }}":          "plain {{ .X }}",
		"{{< x >}}":               "{{</* x */>}}",
		"a {{% x %}} b {{< y >}}": "a {{%/* x */%}} b {{</* y */>}}",
		"{{</* x */>}}":           "{{</*/* x */*/>}}",
		"{{<>}}":                  "{{</**/>}}",
		"{{< a {{< b >}} c >}}":   "{{</* a {{< b */>}} c >}}",
		"{{< two\nlines >}}\n":    "{{</* two\nlines */>}}\n",
	} {
		got, ok := EscapeHugo(in)
		if !ok || got != want {
			t.Errorf("EscapeHugo(%q) = %q, %v", in, got, ok)
		}
		if back := UnescapeHugo(got); back != in {
			t.Errorf("UnescapeHugo(%q) = %q", got, back)
		}
	}
	for _, in := range []string{"{{< open", "{{% open >}}", "x <!--more--> y"} {
		if got, ok := EscapeHugo(in); ok {
			t.Errorf("EscapeHugo(%q) = %q", in, got)
		}
	}
}

func TestUnescapeUndoesEscape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"{{<", ">}}", "{{%", "%}}", "/*", "*/", "{", "}", "<", "*", "/", " x ", "\n"}), 0, 12).Draw(t, "in"), "")
		if escaped, ok := EscapeHugo(in); ok && UnescapeHugo(escaped) != in {
			t.Fatalf("%q → %q → %q", in, escaped, UnescapeHugo(escaped))
		}
	})
}
