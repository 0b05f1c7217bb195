package pages

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// frontmatter writes a page's front matter in YAML: title, description, date,
// weight, then what else the section's contract requires, by name. A required
// key that nothing is known for is left empty and reported.
func frontmatter(in DraftInput, planned dossier.PlannedPage) (text string, defaulted []string, err error) {
	contract := in.Contract.Sections[planned.Section]
	keys := []string{"title", "description"}
	if planned.Section == dossier.Blog && in.CommitDate != "" || slices.Contains(contract.Required, "date") {
		keys = append(keys, "date")
	}
	if planned.Section != dossier.Blog || slices.Contains(contract.Required, "weight") {
		keys = append(keys, "weight")
	}
	for _, key := range slices.Sorted(slices.Values(contract.Required)) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	var b strings.Builder
	b.WriteString("---\n")
	defaulted = []string{}
	for _, key := range keys {
		value, known := knownValue(in, planned, strings.ToLower(key))
		if strings.ToLower(key) == "date" && value == "" {
			return "", nil, fault.New(fault.ConfigInvalid, "pages of section %s carry a date and the commit's date is not known", planned.Section)
		}
		if !known {
			defaulted = append(defaulted, key)
		}
		b.WriteString(key + ": " + yamlValue(value, contract.Types[key]) + "\n")
	}
	b.WriteString("---\n\n")
	return b.String(), defaulted, nil
}

// knownValue returns what the launch knows for a key, by its lower-case name.
func knownValue(in DraftInput, planned dossier.PlannedPage, key string) (any, bool) {
	switch key {
	case "title", "linktitle", "seotitle", "seo_title", "headline":
		return planned.Title, true
	case "description", "summary", "subtitle", "abstract", "excerpt":
		return planned.Description, true
	case "weight", "order", "sidebar_position", "position":
		return planned.Weight, true
	case "date", "lastmod", "publishdate", "updated", "modified":
		return in.CommitDate, in.CommitDate != ""
	case "draft":
		return false, true
	case "slug":
		if planned.Slug == "_index" {
			return in.Config.ProductSlug, true
		}
		return planned.Slug, true
	case "id", "identifier":
		return strings.Trim(strings.ReplaceAll(planned.URLPath, "/", "-"), "-"), true
	case "url", "permalink":
		return planned.URLPath, true
	case "product", "product_name":
		return in.Facts.ProductName, true
	case "family":
		return in.Config.Family, in.Config.Family != ""
	case "platform":
		return in.Config.TargetPlatform, in.Config.TargetPlatform != ""
	case "type", "section":
		return planned.Section, true
	case "lang", "language", "locale":
		return in.Config.Locale, in.Config.Locale != ""
	case "tags", "keywords", "categories":
		return []string{in.Config.ProductSlug}, true
	case "toc":
		return true, true
	}
	return nil, false
}

// yamlValue writes a value in the type that the contract asks for.
func yamlValue(value any, kind string) string {
	switch v := value.(type) {
	case string:
		switch {
		case kind == "list":
			return "[" + quoted(v) + "]"
		case kind == "date":
			return v
		case kind == "number" || kind == "boolean" || kind == "map":
			return emptyValue(kind)
		}
		return quoted(v)
	case int:
		if kind == "string" {
			return quoted(strconv.Itoa(v))
		}
		return strconv.Itoa(v)
	case bool:
		if kind == "string" {
			return quoted(strconv.FormatBool(v))
		}
		return strconv.FormatBool(v)
	case []string:
		if kind == "string" {
			return quoted(strings.Join(v, ", "))
		}
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = quoted(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return emptyValue(kind)
}

func emptyValue(kind string) string {
	switch kind {
	case "number":
		return "0"
	case "boolean":
		return "false"
	case "list":
		return "[]"
	case "map":
		return "{}"
	}
	return `""`
}

// quoted is a YAML double-quoted scalar: a JSON string is one. Braces that look
// like a template's are written so that no check takes them for a token.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	text := strings.ReplaceAll(strings.TrimSpace(b.String()), "{{", `\x7b\x7b`)
	return upperToken.ReplaceAllString(text, `_\x5f${1}_\x5f`)
}
