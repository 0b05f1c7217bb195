package dossier

import "strings"

// PlatformOf maps a language, by linguist's name, to run_config's target_platform.
// It returns "" for a language that stands for none.
func PlatformOf(language string) string {
	switch language {
	case "Python", "Cython":
		return "python"
	case "TypeScript", "TSX":
		return "typescript"
	case "JavaScript":
		return "javascript"
	case "Java", "Groovy":
		return "java"
	case "C#", "F#", "Visual Basic .NET":
		return "dotnet"
	case "C++", "C":
		return "cpp"
	case "Go", "Ruby", "PHP", "Kotlin", "Swift", "Rust":
		return strings.ToLower(language)
	}
	return ""
}
