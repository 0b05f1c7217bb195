package inventory

import (
	_ "embed"
	"path"
	"strings"
	"sync"
)

// languages.txt is generated from GitHub Linguist's data; its head says how.
//
//go:embed languages.txt
var languageTable string

// language is one row of the table.
type language struct {
	name string
	kind string // programming, markup, data, prose
}

type languageIndex struct {
	byExt, byName, byInterpreter map[string]language
	byLanguage                   map[string]language
}

// languages decodes the table on first use: most invocations never need it.
var languages = sync.OnceValue(func() languageIndex {
	index := languageIndex{map[string]language{}, map[string]language{}, map[string]language{}, map[string]language{}}
	for line := range strings.Lines(languageTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		if len(fields) != 5 {
			continue
		}
		lang := language{fields[0], fields[1]}
		index.byLanguage[lang.name] = lang
		for i, table := range []map[string]language{index.byExt, index.byName, index.byInterpreter} {
			for _, key := range strings.Split(fields[2+i], ",") {
				if key != "" {
					table[key] = lang
				}
			}
		}
	}
	return index
})

// languageOf names the language of a text file: by its whole name, its longest
// known extension, or the interpreter of its first line. "" when unknown.
func languageOf(name string, head []byte) string {
	index := languages()
	base := path.Base(name)
	if lang, ok := index.byName[base]; ok {
		return lang.name
	}
	lower := strings.ToLower(base)
	for rest := lower; ; {
		dot := strings.IndexByte(rest, '.')
		if dot < 0 {
			break
		}
		if lang, ok := index.byExt[rest[dot:]]; ok {
			return lang.name
		}
		rest = rest[dot+1:]
	}
	return index.byInterpreter[interpreter(head)].name
}

// interpreter returns the program that a "#!" line names, without path and version.
func interpreter(head []byte) string {
	line, _, _ := strings.Cut(string(head[:min(len(head), 256)]), "\n")
	line, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	fields := strings.Fields(line)
	if len(fields) > 1 && path.Base(fields[0]) == "env" {
		fields = fields[1:]
		for len(fields) > 1 && strings.HasPrefix(fields[0], "-") {
			fields = fields[1:]
		}
	}
	if len(fields) == 0 {
		return ""
	}
	name := path.Base(fields[0])
	if _, ok := languages().byInterpreter[name]; ok {
		return name
	}
	return strings.TrimRight(name, "0123456789.")
}

// kindOf returns programming, markup, data or prose, or "" for an unknown language.
func kindOf(languageName string) string { return languages().byLanguage[languageName].kind }
