package telemetry

import (
	"testing"
	"unicode/utf8"
)

func TestCleanLog(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain text\n\tstays: é 漢 🙂", "plain text\n\tstays: é 漢 🙂"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b[2J\x1b]0;pwn\x07tool", "tool"},
		{"\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click"},
		{"\x1b]52;c;ZXZpbA==\a", ""},
		{"\x1b]0;unfinished", `\x1b]0;unfinished`},
		{"\x1b[31", `\x1b[31`},
		{"\x1b", `\x1b`},
		{"\x1b(B\x1bcx", "x"},
		{"\u009b31mx\u009d0;t\u009cy", "xy"},
		{"\u0085", ""},
		{"\u0080", ""},
		{"a\u202eb\u2066c\u200f", `a\u202eb\u2066c\u200f`},
		{"a\r\b\x00\x7f", `a\x0d\x08\x00\x7f`},
		{"a\x9b31m\xff", `a\x9b31m\xff`},
		{"\u2028\ufeff", `\u2028\ufeff`},
	} {
		if got := CleanLog(c.in); got != c.want {
			t.Errorf("CleanLog(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestATokenCutByAnEscapeIsStillMasked(t *testing.T) {
	r := NewRedactor(nil)
	cut := ghToken[:9] + "\x1b[0m" + ghToken[9:]
	if got := r.Clean(cut); got != "[REDACTED:github_token]" {
		t.Error(got)
	}
}

func FuzzCleanLog(f *testing.F) {
	f.Add("\x1b[31mred\u009b0m\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		out := CleanLog(s)
		if !utf8.ValidString(out) {
			t.Fatalf("%q became %q", s, out)
		}
		for _, r := range out {
			if r != '\n' && r != '\t' && hidden(r) {
				t.Fatalf("%q became %q", s, out)
			}
		}
	})
}
