package inventory

import (
	"regexp"

	"github.com/gantry-run/gantry/launch/dossier"
)

var (
	gradleGroup   = regexp.MustCompile(`^\s*group\s*=?\s*["']([^"'$]+)["']`)
	gradleVersion = regexp.MustCompile(`^\s*version\s*=?\s*["']([^"'$]+)["']`)
	gradleDesc    = regexp.MustCompile(`^\s*description\s*=?\s*["']([^"'$]+)["']`)
	gradleJava    = regexp.MustCompile(`(?:JavaLanguageVersion\.of\(|jvmToolchain\(|sourceCompatibility\s*=?\s*["']?(?:JavaVersion\.VERSION_)?)([\d._]+)`)
	gradleDep     = regexp.MustCompile(`^\s*(?:api|implementation|compileOnly|runtimeOnly)\s*\(?\s*["']([^"':$]+:[^"':$]+)(?::([^"'$]+))?["']`)
	gradleName    = regexp.MustCompile(`rootProject\.name\s*=\s*["']([^"']+)["']`)
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
