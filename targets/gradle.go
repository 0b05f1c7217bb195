package targets

import (
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// gradleRunner finds the tasks of a Gradle build: those that every build has, those of
// well-known plugins and those that the build file defines. Each name is listed once.
func gradleRunner() Runner {
	return Runner{
		Kind: "gradle",
		Tools: []Tool{{
			Name: "gradle", Program: "gradle", Hint: "Install gradle: brew install gradle (macOS), or use a Gradle wrapper",
		}},
		find: findGradle,
	}
}

var (
	gradleCommon = []string{
		"build", "clean", "test", "assemble", "check", "compileJava", "compileKotlin", "jar", "javadoc", "run", "distZip", "distTar", "wrapper",
	}
	gradlePlugins = []struct {
		name  string // a word of the plugins block or of an apply line
		tasks []string
	}{
		{"java", []string{"jar", "javadoc", "compileJava", "compileTestJava"}},
		{"application", []string{"run", "installDist", "distZip", "distTar"}},
		{"kotlin", []string{"compileKotlin", "compileTestKotlin"}},
		{"org.springframework.boot", []string{"bootRun", "bootJar"}},
		{"maven-publish", []string{"publish", "publishToMavenLocal"}},
	}
	gradleDefinition = lazyregexp.New(`(?m)(?:^|[;{}]|\bby\s)[ \t]*(?:(?:project\.)?tasks\.(?:register|create)(?:<[^>\n]*>)?\s*\(?\s*["']([A-Za-z_][\w.-]*)["']` +
		`|(?:project\.)?task(?:\s*\(\s*["']|[ \t]+["']?)([A-Za-z_][\w-]*)["']?|(?:val|def)\s+([A-Za-z_]\w*)\s+by\s+(?:project\.)?tasks\.(?:registering|creating))`)
	gradlePlugin      = lazyregexp.New(`(?m)^[ \t]*(?:(?:alias|id)\s*\(?\s*["']([\w.-]+)["']|(kotlin)\s*\(|["'` + "`" + `]?([\w.-]+)["'` + "`" + `]?[ \t]*$|apply\s*\(?\s*plugin\s*[:=]\s*["']([\w.-]+)["'])`)
	gradleDescription = lazyregexp.New(`^(?:setDescription\s*\(|description\s*(?:=|\(|\s))\s*["']([^"'\n]*)["']`)
)

func findGradle(f *folder) {
	s, ok := f.first("build.gradle", "build.gradle.kts")
	if !ok {
		return
	}
	tool, program := gradleRunner().Tools[0], "gradle"
	if f.has("gradlew") {
		program, tool.Program = "./gradlew", "./gradlew"
		tool.elsewhere = func(t Target, up string) []string {
			return append([]string{path.Join(up, "gradlew"), "-p", up}, t.Argv[1:]...)
		}
	}
	code := withoutComments(s.text)
	var names []string
	says := map[string]string{}
	add := func(name, description string) {
		if says[name] == "" {
			names = append(names, name)
		}
		says[name] = description
	}
	for _, name := range gradleCommon {
		add(name, "Gradle "+name+" task")
	}
	applied := appliedPlugins(code)
	for _, p := range gradlePlugins {
		if slices.ContainsFunc(applied, func(id string) bool { return isPlugin(id, p.name) }) {
			for _, name := range p.tasks {
				add(name, "Gradle "+name+" task of the plugin "+p.name)
			}
		}
	}
	for _, m := range gradleDefinition.FindAllStringSubmatchIndex(code, maxTargets) {
		add(submatch(code, m), gradleSays(code[m[1]:]))
	}
	for _, name := range names {
		f.add(s, Target{
			Name: name, Argv: []string{program, name}, Description: says[name], tool: tool,
			searched: []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"},
		})
	}
}

// appliedPlugins returns the words that may be plugins.
func appliedPlugins(code string) []string {
	var ids []string
	for _, m := range gradlePlugin.FindAllStringSubmatchIndex(code, maxTargets) {
		ids = append(ids, submatch(code, m))
	}
	return ids
}

// isPlugin reports whether an id is that of a plugin: java also by java-library, kotlin
// also by org.jetbrains.kotlin.jvm.
func isPlugin(id, plugin string) bool {
	return id == plugin || plugin == "java" && id == "java-library" || plugin == "kotlin" && strings.HasPrefix(id, "org.jetbrains.kotlin")
}

// submatch returns the first group that matched.
func submatch(text string, m []int) string {
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] >= 0 {
			return text[m[i]:m[i+1]]
		}
	}
	return ""
}

// gradleSays returns the description in the block that follows a definition.
func gradleSays(rest string) string {
	rest = rest[:min(len(rest), maxBlock)]
	line, _, _ := strings.Cut(rest, "\n")
	open := strings.Index(line, "{")
	if at := strings.Index(rest, "{"); open < 0 && at >= 0 && strings.TrimSpace(rest[:at]) == "" {
		open = at
	}
	if open >= 0 {
		line = block(rest[open:])
	}
	for _, word := range []string{"description", "setDescription"} {
		if at := strings.Index(line, word); at >= 0 {
			if m := gradleDescription.FindStringSubmatch(line[at:min(len(line), at+maxLine)]); m != nil && m[1] != "" {
				return m[1]
			}
		}
	}
	return "Custom Gradle task"
}

// Bounds on what follows a definition and is searched for a description, in bytes.
const (
	maxBlock = 4 << 10
	maxLine  = 500
)

// block returns what is between the brace that text begins with and the one that closes
// it.
func block(text string) string {
	depth := 0
	for i, c := range []byte(text) {
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}

// withoutComments blanks // and /* */ outside of strings, as Java-like languages have
// them.
func withoutComments(text string) string {
	out := []byte(text)
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"' || c == '\'':
			for i++; i < len(out) && out[i] != c && out[i] != '\n'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			i = blankComment(out, i)
		}
	}
	return string(out)
}
