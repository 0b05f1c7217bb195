package site

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/goccy/go-yaml"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// readHugo finds and reads the configuration. The map gives each language its
// own content folder where one is configured, and "" the site's.
func readHugo(ctx context.Context, files tree) (dossier.HugoConfig, map[string]string, error) {
	folder, names := findConfig(files)
	hugo := dossier.HugoConfig{ConfigRoot: folder, ConfigFiles: []dossier.ConfigFile{}}
	merged := settings{}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return hugo, nil, fault.From(err)
		}
		raw, ok := files.read(name)
		if !ok {
			continue
		}
		values, parsed := parseConfig(path.Ext(name), raw)
		hugo.ConfigFiles = append(hugo.ConfigFiles, dossier.ConfigFile{
			Path: name, SHA256: fingerprint(values, parsed, raw), Bytes: int64(len(raw)), Ext: path.Ext(name),
		})
		merged.add(path.Base(name), values)
	}
	hugo.BaseURL = merged.text("baseurl")
	hugo.DefaultLanguage = merged.text("defaultcontentlanguage")
	hugo.LanguageInSub, _ = merged["defaultcontentlanguageinsubdir"].(bool)
	dirs := map[string]string{"": merged.text("contentdir")}
	languages := lower(merged["languages"])
	hugo.Languages = []string{}
	for code, value := range languages {
		hugo.Languages = append(hugo.Languages, code)
		if dir, ok := lower(value)["contentdir"].(string); ok {
			dirs[code] = dir
		}
	}
	slices.Sort(hugo.Languages)
	if hugo.DefaultLanguage == "" && len(hugo.Languages) == 0 {
		hugo.DefaultLanguage = "en" // Hugo's own default
	}
	if len(hugo.Languages) == 0 {
		hugo.Languages = append(hugo.Languages, hugo.DefaultLanguage)
	}
	if hugo.DefaultLanguage == "" {
		hugo.DefaultLanguage = "en"
		if !slices.Contains(hugo.Languages, "en") {
			hugo.DefaultLanguage = hugo.Languages[0]
		}
	}
	return hugo, dirs, nil
}

var extensions = []string{".toml", ".yaml", ".yml", ".json"} // in Hugo's order

// findConfig returns the folder of the configuration and its files by path: one
// file in the root, where hugo.* goes before config.*, and those under
// config/_default and configs.
func findConfig(files tree) (folder string, names []string) {
	for _, stem := range []string{"hugo", "config"} {
		for _, ext := range extensions {
			if _, ok := files.read(stem + ext); ok && len(names) == 0 {
				folder, names = ".", append(names, stem+ext)
			}
		}
	}
	for _, dir := range []string{"config/_default", "configs"} {
		found := configsUnder(files, dir)
		if len(found) > 0 && folder == "" {
			folder = dir
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return folder, names
}

func configsUnder(files tree, dir string) []string {
	var names []string
	_ = fs.WalkDir(files, dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && slices.Contains(extensions, path.Ext(name)) {
			names = append(names, name)
		}
		return nil // a folder that cannot be read has no configuration for us
	})
	return names
}

// parseConfig reads a file of any of the three formats.
func parseConfig(ext string, raw []byte) (values map[string]any, ok bool) {
	defer func() {
		if recover() != nil { // a parser that gives up is a file that cannot be read
			values, ok = nil, false
		}
	}()
	var err error
	switch ext {
	case ".toml":
		err = toml.Unmarshal(raw, &values)
	case ".json":
		err = json.Unmarshal(raw, &values)
	default:
		err = yaml.Unmarshal(raw, &values)
	}
	return values, err == nil
}

// fingerprint hashes what a file says and not how: comments, white space and the
// order of keys do not count. A file that cannot be read is hashed as it is.
func fingerprint(values map[string]any, parsed bool, raw []byte) string {
	if parsed {
		if canonical, err := dossier.Encode(values); err == nil {
			raw = canonical
		}
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// settings are configuration values by lower-case key; the first to state one wins.
type settings map[string]any

// add merges a file. One that is not named hugo or config holds the part that it
// is named after: languages.toml, params.toml, languages.en.toml.
func (s settings) add(name string, values map[string]any) {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	if stem == "languages" {
		if part := strings.Split(strings.ToLower(name), "."); len(part) == 3 {
			values = map[string]any{part[1]: values}
		}
		values = map[string]any{"languages": values}
	}
	for key, value := range lower(values) {
		if key == "languages" && s[key] != nil {
			both := lower(s[key])
			for code, language := range lower(value) {
				if both[code] == nil {
					both[code] = language
				}
			}
			s[key] = both
		} else if s[key] == nil {
			s[key] = value
		}
	}
}

func (s settings) text(key string) string {
	text, _ := s[key].(string)
	return text
}

// lower returns a map with its keys in lower case, as Hugo reads them; nil for
// what is no map.
func lower(value any) map[string]any {
	from, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	to := make(map[string]any, len(from))
	for key, v := range from {
		to[strings.ToLower(key)] = v
	}
	return to
}

// ConfigFiles returns the site's configuration files as they are now, by path. The
// error is CANCELLED, when ctx ends.
func ConfigFiles(ctx context.Context, files fs.FS) ([]dossier.ConfigFile, error) {
	hugo, _, err := readHugo(ctx, tree{files})
	return hugo.ConfigFiles, err
}
