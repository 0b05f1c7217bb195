package targets

import (
	"maps"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
)

// Bounds on a caller's arguments and variables.
const (
	MaxArgs     = 64      // of one task, and as many variables
	MaxArgBytes = 8 << 10 // of one argument or value
	maxVariable = 256     // bytes of a variable's name
)

// baseEnv returns what targets get of the server's environment, sorted by name.
func (p *Project) baseEnv() []string {
	return proc.WorkEnv(p.o.Env, func(name string) bool { return slices.Contains(p.o.Inherit, name) })
}

func listed(values map[string]string) []string {
	env := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		env = append(env, name+"="+values[name])
	}
	return env
}

// environment returns the whole environment of a target: the base and what the caller
// adds. What a caller may not set is ENV_FORBIDDEN, which names all of it and no values.
func environment(base []string, asked map[string]string, allowed []string) ([]string, error) {
	if len(asked) > MaxArgs {
		return nil, fault.New(fault.SchemaValidationFailed, "/env: at most %d variables", MaxArgs)
	}
	var refused []string
	values := map[string]string{}
	for _, v := range base {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	for name, value := range asked {
		if len(value) > MaxArgBytes {
			return nil, fault.New(fault.SchemaValidationFailed, "/env: the value of %s is longer than %d bytes", shown(name), MaxArgBytes)
		}
		if !variableName(name) || strings.ContainsRune(value, 0) || EnvForbidden(name) && !slices.Contains(allowed, name) {
			refused = append(refused, shown(name))
			continue
		}
		values[name] = value
	}
	if len(refused) > 0 {
		slices.Sort(refused)
		return nil, fault.New(fault.EnvForbidden, "Environment variables that a caller may not set: %s", strings.Join(refused, ", ")).
			WithHint("leave them out, or ask a human to name them in allow_env of the task's entry in the allowlist").
			WithDetails(Refused{refused})
	}
	return listed(values), nil
}

// Refused are the details of a fault about several things of a caller's: sorted.
type Refused struct {
	Refused []string `json:"refused"`
}

func variableName(name string) bool {
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= maxVariable
}

// EnvForbidden reports whether a variable could make a tool run or load something else
// than what was allowed, or send what it does somewhere else: those of loaders, shells,
// interpreters, build tools, git, proxies and certificates.
func EnvForbidden(name string) bool {
	upper := strings.ToUpper(name)
	switch {
	case slices.Contains(forbidden, name), slices.Contains(forbiddenAnyCase, upper):
		return true
	case slices.ContainsFunc(forbiddenPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }):
		return true
	case strings.HasPrefix(upper, "NPM_CONFIG_"), strings.HasSuffix(upper, "_PROXY"):
		return true
	}
	rest, ok := strings.CutPrefix(name, "PYTHON")
	harmless := slices.Contains([]string{"UNBUFFERED", "DONTWRITEBYTECODE", "HASHSEED", "IOENCODING", "UTF8", "FAULTHANDLER"}, rest)
	return ok && !harmless && rest != "" && (rest[0] == '_' || rest[0] >= 'A' && rest[0] <= 'Z')
}

var forbiddenAnyCase = []string{"PATH", "HOME"}

var forbiddenPrefixes = []string{
	"LD_", "DYLD_", "GIT_", "BASH_FUNC_", "XDG_", "DOCKER_", "COMPOSE_", "JUST_", "UV_", "PIP_", "POETRY_", "POE_", "YARN_", "PNPM_",
	"BUN_", "COREPACK_", "TURBO_", "BUNDLE_", "GEM_", "RUSTUP_", "RUSTC", "RUSTDOC", "CARGO_", "CORECLR_", "COR_", "DOTNET_STARTUP", "MALLOC_",
	"MAGEFILE_", "CMAKE_", "NODE_TLS_",
}

var forbidden = []string{
	// Shells.
	"BASH_ENV", "ENV", "SHELL", "SHELLOPTS", "BASHOPTS", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "IFS", "CDPATH", "ZDOTDIR", "GLOBIGNORE",
	"FPATH", "USER", "LOGNAME", "PWD", "OLDPWD",
	// The C library.
	"GCONV_PATH", "GETCONF_DIR", "HOSTALIASES", "LOCALDOMAIN", "LOCPATH", "NIS_PATH", "NLSPATH", "RESOLV_HOST_CONF", "RES_OPTIONS", "TZDIR",
	"TERMINFO", "TERMCAP", "GLIBC_TUNABLES", "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES",
	// Interpreters and compilers.
	"NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "RUBYOPT", "RUBYLIB", "RUBYSHELL", "RAKEOPT", "PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB",
	"PERL5SHELL", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", "JAVA_HOME", "CLASSPATH", "MAVEN_OPTS", "MAVEN_ARGS",
	"M2_HOME", "GRADLE_OPTS", "GRADLE_USER_HOME", "PHPRC", "PHP_INI_SCAN_DIR", "LUA_INIT", "LUA_PATH", "LUA_CPATH", "R_PROFILE", "R_ENVIRON",
	"GOFLAGS", "GOROOT", "GOENV", "GOPROXY", "GOTOOLCHAIN", "GOSUMDB", "GONOSUMDB", "GONOSUMCHECK", "GOINSECURE", "GOBIN", "GOPATH", "GOWORK",
	"GCC_EXEC_PREFIX", "COMPILER_PATH", "LIBRARY_PATH", "CPATH",
	// Make.
	"MAKE", "MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKE_COMMAND",
	// Programs that others start.
	"EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "BROWSER", "SSH_ASKPASS", "SUDO_ASKPASS", "SSH_AUTH_SOCK", "CURL_HOME",
	"WGETRC", "NETRC",
	// Where data goes, and whom to trust.
	"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE", "OPENAI_BASE_URL", "OPENAI_API_BASE",
	"ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "AZURE_OPENAI_ENDPOINT",
}
