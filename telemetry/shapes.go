package telemetry

import "strings"

// shapes is the table of secrets that are known by how they look. To add one, add
// a line here and its examples, good and bad, to TestShapes.
//
// What must stay readable decides the details: commit ids, UUIDs, checksums,
// base64 images, words such as "password" on their own, task-names, and URLs
// without user information.
func shapes() []literal {
	key := func(prefix, kind string, class byteClass, min int) literal {
		return literal{text: prefix, match: token(kind, class, min)}
	}
	assigned := func(name, kind string, min int) literal {
		return literal{text: name, fold: true, match: assignment(kind, min)}
	}
	return []literal{
		{text: "AKIA", match: awsKey},
		{text: "ASIA", match: awsKey},
		key("ghp_", "github_token", alnum|underscore, 20),
		key("gho_", "github_token", alnum|underscore, 20),
		key("ghs_", "github_token", alnum|underscore, 20),
		key("ghr_", "github_token", alnum|underscore, 20),
		key("ghu_", "github_token", alnum|underscore, 20),
		key("github_pat_", "github_token", alnum|underscore, 20),
		key("glpat-", "gitlab_token", alnum|underscore|dash, 20),
		key("npm_", "npm_token", alnum, 36),
		{text: "sk-ant-", match: modelKey("anthropic_key", 12)}, // before sk-: the first of equal matches counts
		{text: "sk-", match: modelKey("openai_key", 20)},
		{text: "AIza", match: bounded(alnum, token("google_key", alnum|underscore|dash, 30))},
		key("xoxa-", "slack_token", alnum|dash, 10),
		key("xoxb-", "slack_token", alnum|dash, 10),
		key("xoxe-", "slack_token", alnum|dash, 10),
		key("xoxo-", "slack_token", alnum|dash, 10),
		key("xoxp-", "slack_token", alnum|dash, 10),
		key("xoxr-", "slack_token", alnum|dash, 10),
		key("xoxs-", "slack_token", alnum|dash, 10),
		key("xapp-", "slack_token", alnum|dash, 20),
		{text: "-----BEGIN ", at: 5, match: pemKey},
		{text: "eyJ", match: bounded(alnum|underscore|dash, jwt)},
		{text: "Bearer", fold: true, match: bearer},
		{text: "Authorization", fold: true, match: authorization},
		assigned("api_key", "api_key", 20),
		assigned("api-key", "api_key", 20),
		assigned("apikey", "api_key", 20),
		assigned("secret_key", "api_key", 20),
		assigned("secret_access_key", "api_key", 20),
		assigned("client_secret", "api_key", 20),
		assigned("access_token", "api_key", 20),
		assigned("auth_token", "api_key", 20),
		assigned("refresh_token", "api_key", 20),
		assigned("password", "password", minSecret),
		assigned("passwd", "password", minSecret),
		assigned("pwd", "password", minSecret),
		{text: "://", match: userinfo},
	}
}

type matcher = func(s string, start, end int) (from, to int, with string, ok bool)

func mask(kind string) string { return "[REDACTED:" + kind + "]" }

// whole replaces the literal itself.
func whole(kind string) matcher {
	return func(_ string, start, end int) (int, int, string, bool) {
		return start, end, mask(kind), true
	}
}

// token replaces the literal and the run of class after it, if that has min bytes.
func token(kind string, class byteClass, min int) matcher {
	return func(s string, start, end int) (int, int, string, bool) {
		to := run(s, end, class)
		return start, to, mask(kind), to-end >= min
	}
}

// bounded demands that no run of class meets the literal from the left.
func bounded(class byteClass, m matcher) matcher {
	return func(s string, start, end int) (int, int, string, bool) {
		if !wordStart(s, start, class) {
			return 0, 0, "", false
		}
		return m(s, start, end)
	}
}

// awsKey is the prefix and exactly 16 capitals and digits.
func awsKey(s string, start, end int) (int, int, string, bool) {
	const rest = 16
	to := end + rest
	if to > len(s) || run(s[:to], end, upper|digit) != to || !wordStart(s, start, alnum) {
		return 0, 0, "", false
	}
	return start, to, mask("aws_key"), to == len(s) || !alnum.has(s[to])
}

// modelKey is sk-…: a digit near its start tells it from hyphenated words.
func modelKey(kind string, atLeast int) matcher {
	const near = 128
	return bounded(alnum, func(s string, start, end int) (int, int, string, bool) {
		const class = alnum | underscore | dash
		to := run(s[:min(len(s), end+near)], end, class)
		if to-end < atLeast || !strings.ContainsAny(s[end:to], "0123456789") {
			return 0, 0, "", false
		}
		return start, run(s, to, class), mask(kind), true
	})
}

// jwt is three base64url parts joined by dots; the last may be empty.
func jwt(s string, start, end int) (int, int, string, bool) {
	const part, minPart = alnum | underscore | dash, 8
	head := run(s, end, part)
	if head-end < minPart || head == len(s) || s[head] != '.' {
		return 0, 0, "", false
	}
	body := run(s, head+1, part)
	if body-head-1 < minPart || body == len(s) || s[body] != '.' {
		return 0, 0, "", false
	}
	return start, run(s, body+1, part), mask("jwt"), true
}

// bearer is the scheme and a token that is no ordinary word.
func bearer(s string, _, end int) (int, int, string, bool) {
	from := skipBlank(s, end)
	if from == end {
		return 0, 0, "", false
	}
	to := run(s, from, tokenClass)
	n := to - from
	hasDigit := strings.ContainsAny(s[from:to], "0123456789")
	return from, to, mask("bearer"), n >= 24 || n >= 16 && hasDigit
}

// authorization is the header with a scheme, where any credential counts.
func authorization(s string, _, end int) (int, int, string, bool) {
	i, ok := assignOperator(s, end)
	if !ok {
		return 0, 0, "", false
	}
	i = skipOpening(s, i)
	scheme := run(s, i, alnum)
	from := skipBlank(s, scheme)
	switch strings.ToLower(s[i:scheme]) {
	case "bearer", "basic", "token", "negotiate", "apikey":
	default:
		return 0, 0, "", false
	}
	to := run(s, from, tokenClass)
	return from, to, mask("bearer"), from > scheme && to-from >= minSecret
}

// userinfo is what stands before the @ of a URL's authority. The bare user of an
// ssh URL ("ssh://git@host/") is no secret.
func userinfo(s string, start, end int) (int, int, string, bool) {
	to := end
	at := -1
	for to < len(s) && !strings.ContainsRune("/?#\"'`<>\\ \t\r\n", rune(s[to])) {
		if s[to] == '@' {
			at = to
		}
		to++
	}
	if at <= end {
		return 0, 0, "", false
	}
	ssh := strings.EqualFold(s[max(0, start-len("ssh")):start], "ssh")
	if ssh && !strings.Contains(s[end:at], ":") {
		return 0, 0, "", false
	}
	return end, at, mask("userinfo"), true
}

// pemKey is a private key's block up to its END line, or, where that is cut off,
// the header and the base64 lines after it.
func pemKey(s string, start, end int) (int, int, string, bool) {
	const label, block = 48, 16 << 10
	head := strings.Index(s[end:min(len(s), end+label)], "PRIVATE KEY")
	if head < 0 || strings.ContainsAny(s[end:end+head], "\n\\-") {
		return 0, 0, "", false
	}
	from := end + head
	window := s[from:min(len(s), from+block)]
	if i := strings.Index(window, "-----END "); i >= 0 {
		to := from + i + len("-----END ")
		if j := strings.Index(s[to:min(len(s), to+label+16)], "-----"); j >= 0 {
			to += j + len("-----")
		}
		return start, to, mask("private_key"), true
	}
	to := from + len("PRIVATE KEY")
	to = run(s, to, dash)
	return start, pemBody(s, to), mask("private_key"), true
}

// pemBody returns the end of the base64 lines that begin at i.
func pemBody(s string, i int) int {
	const minLine = 16
	for {
		next := i
		for next < len(s) && (s[next] == '\n' || s[next] == '\r' || s[next] == ' ' ||
			s[next] == '\\' && next+1 < len(s) && (s[next+1] == 'n' || s[next+1] == 'r')) {
			if s[next] == '\\' {
				next++
			}
			next++
		}
		to := run(s, next, alnum|base64Signs)
		if next == i || to-next < minLine {
			return i
		}
		i = to
	}
}

// matchRoot makes a path relative to the root that it begins with.
func matchRoot(s string, start, end int) (int, int, string, bool) {
	if start > 0 && (alnum | underscore | dash | dot).has(s[start-1]) {
		return 0, 0, "", false
	}
	switch {
	case end == len(s):
		return start, end, ".", true
	case s[end] == '/':
		if end+1 < len(s) && (alnum | underscore | dash | dot).has(s[end+1]) {
			return start, end + 1, "", true
		}
		return start, end, ".", true
	}
	return start, end, ".", !(alnum | underscore | dash | dot).has(s[end]) && s[end] < 0x80
}
