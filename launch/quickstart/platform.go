package quickstart

import (
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// affixes are the words by which names tell their platform.
var affixes = map[string]string{
	"python": "python", "py": "python", "typescript": "typescript", "ts": "typescript",
	"javascript": "javascript", "js": "javascript", "node": "javascript", "nodejs": "javascript",
	"java": "java", "dotnet": "dotnet", "net": "dotnet", "csharp": "dotnet", "cpp": "cpp", "cxx": "cpp",
	"go": "go", "golang": "go", "ruby": "ruby", "rb": "ruby", "php": "php", "kotlin": "kotlin", "kt": "kotlin",
	"swift": "swift", "rust": "rust", "rs": "rust",
}

// said is how a README names a platform: in its title or first paragraph, and by
// a command that installs for it.
type said struct {
	target  string
	lead    *lazyregexp.Regexp
	command *lazyregexp.Regexp
}

var sayings = []said{
	{"python", lazyregexp.New(`(?i)\bpython\b`), lazyregexp.New(`(?m)\b(?:pip3?|pipx|uv|poetry) (?:install|add)\b`)},
	{"typescript", lazyregexp.New(`(?i)\btypescript\b`), nil},
	{"javascript", lazyregexp.New(`(?i)\b(?:javascript|node\.?js)\b`), lazyregexp.New(`(?m)\b(?:npm (?:install|i)|yarn add|pnpm add)\b`)},
	{"java", lazyregexp.New(`(?i)\bjava\b`), lazyregexp.New(`<artifactId>`)},
	{"dotnet", lazyregexp.New(`(?i)(?:^|\W)(?:\.NET\b|C#)`), lazyregexp.New(`(?m)\b(?:dotnet add|Install-Package)\b`)},
	{"cpp", lazyregexp.New(`\bC\+\+`), lazyregexp.New(`(?m)\b(?:vcpkg|conan) install\b`)},
	{"go", lazyregexp.New(`\bGo\b|(?i)\bgolang\b`), lazyregexp.New(`(?m)\bgo (?:get|install)\b`)},
	{"ruby", lazyregexp.New(`(?i)\bruby\b`), lazyregexp.New(`(?m)\b(?:gem install|bundle add)\b`)},
	{"php", lazyregexp.New(`(?i)\bphp\b`), lazyregexp.New(`(?m)\bcomposer require\b`)},
	{"kotlin", lazyregexp.New(`(?i)\bkotlin\b`), nil},
	{"swift", lazyregexp.New(`\bSwift\b`), lazyregexp.New(`\.package\(url:`)},
	{"rust", lazyregexp.New(`\bRust\b`), lazyregexp.New(`(?m)\bcargo (?:add|install)\b`)},
}

// platformOf weighs what speaks for a platform.
func platformOf(repo string, f *form, seen Seen, text readme) *ballot {
	b := newBallot(platformField)
	code := shareOf(seen.Languages)
	if f != nil {
		b.add(f.platform.Target, platformInName)
	} else if words := strings.Split(Slug(repo), "-"); len(words) > 1 {
		b.add(code.of(affixes[words[0]]), nameAffix)
		b.add(code.of(affixes[words[len(words)-1]]), nameAffix)
	}
	atTop := weighManifests(b, seen.Manifests, code)
	builds := slices.ContainsFunc([]string{"bazel", "cmake", "make", "meson"}, func(system string) bool {
		return slices.Contains(seen.BuildSystems, system)
	})
	if !atTop && builds && code.percent["cpp"] >= 50 {
		b.add("cpp", buildFile)
	}
	if !atTop && code.percent[otherTarget] >= 50 {
		b.add(otherTarget, noManifest)
	}
	for _, target := range targets {
		if target != otherTarget || code.percent[otherTarget] >= 50 {
			b.addShare(target, codeShare, code.percent[target])
		}
	}
	for _, s := range sayings {
		if s.lead.MatchString(text.lead) || s.command != nil && s.command.MatchString(text.text) {
			b.add(code.of(s.target), readmePlatform)
		}
	}
	return b
}

// weighManifests counts the manifests and reports whether a platform with code has
// one at the top.
func weighManifests(b *ballot, manifests []dossier.Manifest, code shares) bool {
	atTop := slices.ContainsFunc(manifests, func(m dossier.Manifest) bool {
		return isTop(m) && code.counts(code.platformOf(m.Kind))
	})
	told := map[string]bool{}
	for _, m := range manifests {
		target := code.platformOf(m.Kind)
		switch {
		case !code.counts(target) || atTop && !isTop(m):
			continue
		case atTop:
			b.add(target, manifest)
		default:
			b.add(target, lowerManifest)
		}
		told[target] = true
	}
	for _, m := range manifests {
		if target := code.platformOf(m.Kind); !told[target] {
			b.add(target, toolManifest)
		}
	}
	return atTop
}

// shares is how the code divides among platforms, in percent.
type shares struct {
	percent map[string]int
	npm     string // which of npm's two languages the repository is in
}

func shareOf(languages []dossier.LanguageShare) shares {
	bytes, total := map[string]int64{}, int64(0)
	for _, l := range languages {
		target := dossier.PlatformOf(l.Language)
		if target == "" {
			target = otherTarget
		}
		bytes[target] += l.Bytes
		total += l.Bytes
	}
	s := shares{percent: map[string]int{}, npm: "javascript"}
	loser := "typescript"
	if bytes["typescript"] > bytes["javascript"] {
		s.npm, loser = loser, s.npm
	}
	bytes[s.npm] += bytes[loser]
	delete(bytes, loser)
	for target, n := range bytes {
		if total > 0 {
			s.percent[target] = int(float64(n) / float64(total) * 100)
		}
	}
	return s
}

// of puts the larger of npm's languages for either.
func (s shares) of(target string) string {
	if target == "javascript" || target == "typescript" {
		return s.npm
	}
	return target
}

// counts reports whether a platform has a tenth of the code; all have if there is
// no code.
func (s shares) counts(target string) bool { return len(s.percent) == 0 || s.percent[target] >= 10 }

// platformOf returns the platform that a kind of manifest is for.
func (s shares) platformOf(kind string) string {
	switch kind {
	case "npm":
		return s.npm
	case "maven", "gradle":
		if s.percent["kotlin"] > s.percent["java"] {
			return "kotlin"
		}
		return "java"
	case "cargo":
		return "rust"
	case "composer":
		return "php"
	case "rubygems":
		return "ruby"
	}
	return kind // python, go, dotnet, swift
}
