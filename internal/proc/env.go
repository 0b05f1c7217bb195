package proc

import (
	"maps"
	"slices"
	"strings"
)

// baseNames are the variables that every program may expect.
var baseNames = []string{
	"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TRACEPARENT", "TRACESTATE", "TZ", "USER",
}

// workNames are the variables that whoever works in a project may expect: where its
// toolchains and their caches are, and how the network is reached.
var workNames = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "CI", "SSH_AUTH_SOCK",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
	"GOPATH", "GOBIN", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOPRIVATE", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOTOOLCHAIN", "GOFLAGS", "CGO_ENABLED",
	"CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "ANDROID_HOME", "GRADLE_USER_HOME", "M2_HOME", "NVM_DIR", "PNPM_HOME", "VOLTA_HOME",
	"COREPACK_HOME", "BUN_INSTALL", "PYENV_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "GEM_HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG",
	"NIX_PROFILES", "NIX_PATH", "HOMEBREW_PREFIX",
}

// BaseEnv returns what a supervised process inherits of an environment: the
// variables that every program may expect, LC_*, XDG_*, and the trace that it is
// part of. No secret travels in these. What else a process needs, its caller adds.
// The result is sorted by name, and each name is in it once, with its last value.
func BaseEnv(environ []string) []string {
	return inherit(environ, func(name string) bool {
		return slices.Contains(baseNames, name) || strings.HasPrefix(name, "XDG_")
	})
}

// WorkEnv returns what a program that works in a project inherits of an environment:
// the variables of toolchains and of the network, LC_*, and those whose names also
// accepts. The result is as BaseEnv's.
func WorkEnv(environ []string, also func(name string) bool) []string {
	return inherit(environ, func(name string) bool { return slices.Contains(workNames, name) || also(name) })
}

func inherit(environ []string, accepts func(name string) bool) []string {
	values := map[string]string{}
	for _, v := range environ {
		if name, _, ok := strings.Cut(v, "="); ok && (strings.HasPrefix(name, "LC_") || accepts(name)) {
			values[name] = v
		}
	}
	env := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		env = append(env, values[name])
	}
	return env
}
