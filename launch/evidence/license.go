package evidence

import (
	"context"
	"path"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// licenseRule recognises a license by phrases that its text alone has.
type licenseRule struct {
	id      string
	phrases []string // all must be there, in lower case with single spaces
	absent  string   // and this must not
}

// licenseRules lists the common licenses, the more specific before the more general.
func licenseRules() []licenseRule {
	return []licenseRule{
		{"AGPL-3.0", []string{"gnu affero general public license", "version 3"}, ""},
		{"LGPL-3.0", []string{"gnu lesser general public license", "version 3"}, ""},
		{"LGPL-2.1", []string{"gnu lesser general public license", "version 2.1"}, ""},
		{"GPL-3.0", []string{"gnu general public license", "version 3"}, ""},
		{"GPL-2.0", []string{"gnu general public license", "version 2"}, ""},
		{"MPL-2.0", []string{"mozilla public license", "2.0"}, ""},
		{"EPL-2.0", []string{"eclipse public license", "2.0"}, ""},
		{"Apache-2.0", []string{"apache license", "version 2.0"}, ""},
		{"BSL-1.0", []string{"boost software license", "version 1.0"}, ""},
		{"BUSL-1.1", []string{"business source license 1.1"}, ""},
		{"CC0-1.0", []string{"cc0 1.0 universal"}, ""},
		{"CC-BY-4.0", []string{"creative commons attribution 4.0"}, ""},
		{"Unlicense", []string{"this is free and unencumbered software released into the public domain"}, ""},
		{"WTFPL", []string{"do what the fuck you want to public license"}, ""},
		{"Zlib", []string{"altered source versions must be plainly marked as such"}, ""},
		{"ISC", []string{"permission to use, copy, modify, and/or distribute this software for any purpose"}, "redistribution"},
		{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "neither the name"}, ""},
		{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}, "neither the name"},
		{"MIT", []string{"permission is hereby granted, free of charge", "the above copyright notice and this permission notice"}, ""},
	}
}

// recognise returns the SPDX id of a license text and the line that shows it.
// The head is looked at first: the body of a license may name others.
func recognise(text string) (id string, line int) {
	flat := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, window := range []string{flat[:min(len(flat), 400)], flat} {
		for _, rule := range licenseRules() {
			all := rule.absent == "" || !strings.Contains(flat, rule.absent)
			for _, phrase := range rule.phrases {
				all = all && strings.Contains(window, phrase)
			}
			if all {
				return rule.id, lineOfPhrase(text, rule.phrases[0])
			}
		}
	}
	return "", 0
}

// lineOfPhrase returns the line where the first two words of a phrase stand, or 1.
func lineOfPhrase(text, phrase string) int {
	words := strings.Fields(phrase)
	start := strings.Join(words[:min(2, len(words))], " ")
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.Contains(strings.ToLower(line), start) {
			return number
		}
	}
	return 1
}

var licenseFile = lazyregexp.New(`(?i)^(licen[sc]e|copying|unlicense)([.-].*)?$`)

// fromLicense states the license that the license file holds.
func (g *gatherer) fromLicense(context.Context) {
	for _, file := range g.inv.Paths {
		if path.Dir(file.Path) != "." || !licenseFile.MatchString(file.Path) {
			continue
		}
		data, ok := g.read(file.Path, 256<<10)
		if !ok {
			continue
		}
		id, line := recognise(string(data))
		if id == "" {
			continue
		}
		claim := g.claims.add(finish(g.name+" is released under the "+codeSpan(id)+" license, whose text is in "+codeSpan(file.Path)),
			kindMetadata, fact, file.Path+"#license", cite(file.Path, line, line, fromDoc))
		setFact(&g.facts.License, id, claim)
		g.record("license", id, claim, fromDoc)
	}
}

// spdxOf maps the names that manifests use to SPDX ids; what it does not know it keeps.
func spdxOf(name string) string {
	switch flat := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(name), " License")); flat {
	case "mit", "the mit", "mit license", "the mit license", "expat":
		return "MIT"
	case "apache 2", "apache 2.0", "apache-2", "apache2", "apache-2.0", "apache license 2.0", "apache license, version 2.0", "the apache license, version 2.0", "apache software", "the apache software license, version 2.0":
		return "Apache-2.0"
	case "bsd-3-clause", "bsd 3-clause", "3-clause bsd", "new bsd", "modified bsd":
		return "BSD-3-Clause"
	case "bsd-2-clause", "simplified bsd", "bsd 2-clause":
		return "BSD-2-Clause"
	case "isc":
		return "ISC"
	}
	return strings.Join(strings.Fields(name), " ")
}

// readmeLicense matches a README's sentence about the product's license.
var readmeLicense = lazyregexp.New(`(?i)\b(licensed|released|distributed|available) under (?:the )?(?:terms of )?(?:the )?((?:MIT|ISC|Apache(?:[- ]License)?,?(?: Version)?[- ]2(?:\.0)?|BSD[- ][23][- ]Clause|[23][- ]Clause BSD|A?GPL(?:-| )?v?[23](?:\.0)?|LGPL(?:-| )?v?[23](?:\.\d)?|MPL(?:-| )2\.0|Unlicense))\b`)

// readmeLicenses states what the README's license section says.
func (g *gatherer) readmeLicenses() {
	for _, doc := range g.docs {
		if !doc.readme {
			continue
		}
		for _, b := range doc.blocks {
			if b.kind == code || !lazyregexp.New(`(?i)licen[sc]e`).MatchString(b.section().title) {
				continue
			}
			for _, s := range b.prose.split() {
				m := readmeLicense.FindStringSubmatch(s.plain)
				if m == nil || strings.Contains(s.plain, " and ") || strings.Contains(s.plain, " or ") || strings.Contains(s.plain, "contributions") {
					continue // two licenses at once say nothing of which holds
				}
				id := normalLicense(m[2])
				claim := g.claims.add(finish(g.name+" is released under the "+codeSpan(id)+" license, as "+codeSpan(doc.path)+" states"),
					kindMetadata, fact, doc.anchor(b), cite(doc.path, s.start, s.end, fromTechnical))
				setFact(&g.facts.License, id, claim)
				g.record("license", id, claim, fromTechnical)
			}
		}
	}
}

// normalLicense turns a name as prose writes it into an SPDX id.
func normalLicense(name string) string {
	flat := strings.ToLower(name)
	version := lazyregexp.New(`\d(\.\d)?`).FindString(flat)
	if len(version) == 1 {
		version += ".0"
	}
	switch {
	case strings.Contains(flat, "apache"):
		return "Apache-2.0"
	case strings.Contains(flat, "bsd"):
		return "BSD-" + version[:1] + "-Clause"
	case strings.HasPrefix(flat, "agpl"), strings.HasPrefix(flat, "lgpl"):
		return strings.ToUpper(flat[:4]) + "-" + version
	case strings.HasPrefix(flat, "gpl"), strings.HasPrefix(flat, "mpl"):
		return strings.ToUpper(flat[:3]) + "-" + version
	case flat == "unlicense":
		return "Unlicense"
	}
	return strings.ToUpper(name)
}
