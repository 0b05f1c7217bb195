package quickstart

import (
	"strings"
	"testing"
)

func TestSlugKeepsASCIIAndHasNoEmptyParts(t *testing.T) {
	for name, want := range map[string]string{
		"Cobra":                    "cobra",
		"Aspose.3D FOSS":           "aspose-3d-foss",
		"  Crème  Brûlée_2 ":       "creme-brulee-2",
		"ﬁle № ½":                  "file-no-1-2",
		"--a//b--":                 "a-b",
		"日本":                       "",
		"":                         "",
		"a\x00b":                   "a-b",
		strings.Repeat("ab ", 1e5): strings.TrimSuffix(strings.Repeat("ab-", 22)[:64], "-"),
	} {
		if got := Slug(name); got != want {
			t.Errorf("Slug(%.30q) = %q, want %q", name, got, want)
		}
	}
}

func TestNameIsTheLastPartOfTheAddress(t *testing.T) {
	for raw, want := range map[string]string{
		"https://github.com/spf13/cobra":              "cobra",
		" https://github.com/spf13/cobra.git/ ":       "cobra",
		"https://github.com/spf13/cobra.git":          "cobra",
		"https://u:tok@h.example/a/My%20Tool.git?x#y": "My Tool",
		"https://h.example":                           "",
		"https://h.example/":                          "",
		"git@github.com:spf13/cobra.git":              "cobra",
		"host:tool":                                   "tool",
		"ssh://git@h.example:2222/o/tool":             "tool",
		"/srv/repos/tool/":                            "tool",
		"./tool":                                      "tool",
		`C:\work\tool`:                                "tool",
		"..":                                          "",
		".":                                           "",
		"":                                            "",
		"a\x00\x1bb":                                  "a b",
		"/" + strings.Repeat("é", 100):                strings.Repeat("é", 64),
	} {
		if got := NameFromURL(raw); got != want {
			t.Errorf("NameFromURL(%.60q) = %q, want %q", raw, got, want)
		}
	}
}
