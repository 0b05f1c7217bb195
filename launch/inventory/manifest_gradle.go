package inventory

import (
	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

var (
	gradleGroup   = lazyregexp.New(`^\s*group\s*=?\s*["']([^"'$]+)["']`)
	gradleVersion = lazyregexp.New(`^\s*version\s*=?\s*["']([^"'$]+)["']`)
	gradleDesc    = lazyregexp.New(`^\s*description\s*=?\s*["']([^"'$]+)["']`)
	gradleJava    = lazyregexp.New(`(?:JavaLanguageVersion\.of\(|jvmToolchain\(|sourceCompatibility\s*=?\s*["']?(?:JavaVersion\.VERSION_)?)([\d._]+)`)
	gradleDep     = lazyregexp.New(`^\s*(?:api|implementation|compileOnly|runtimeOnly)\s*\(?\s*["']([^"':$]+:[^"':$]+)(?::([^"'$]+))?["']`)
	gradleName    = lazyregexp.New(`rootProject\.name\s*=\s*["']([^"']+)["']`)
)

// readGradle reads the plain literals of a build.gradle or build.gradle.kts.
// The project's name is in settings.gradle beside it.
func readGradle(t *tree, name string, data []byte) (dossier.Manifest, error) {
	lines := textOf(data)
	m := dossier.Manifest{Version: lines.first(gradleVersion), Description: lines.first(gradleDesc), Dependencies: lines.all(gradleDep)}
	if java := lines.first(gradleJava); java.Value != "" {
		m.Runtime = dossier.Stated{Value: "java " + java.Value, Line: java.Line}
	}
	group := lines.first(gradleGroup)
	for _, settings := range []string{"settings.gradle", "settings.gradle.kts"} {
		if parent(name) != "." {
			settings = parent(name) + "/" + settings
		}
		data, err := t.read(settings)
		project := textOf(data).first(gradleName)
		if err == nil && project.Value != "" && group.Value != "" {
			m.Name = dossier.Stated{Value: group.Value + ":" + project.Value, Line: group.Line}
		}
	}
	return m, nil
}
