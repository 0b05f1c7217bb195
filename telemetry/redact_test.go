package telemetry

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Examples are joined from parts so that no scanner takes this file for a leak.
const (
	ghToken  = "ghp" + "_0123456789abcdefghijABCDEFGHIJ012345"
	awsID    = "AKIA" + "IOSFODNN7EXAMPLE"
	openAI   = "sk-" + "proj-Ab12Cd34Ef56Gh78Ij90Kl12"
	ant      = "sk-" + "ant-api03-Ab12Cd34Ef56Gh78"
	google   = "AIza" + "SyA1234567890abcdefghijklmnopqrstuv"
	slack    = "xoxb" + "-123456789012-abcdefGHIJKL"
	webToken = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	pem      = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123456789abcdef\nMIIEpAIBAAKCAQEA0123456789abcdef==\n-----END RSA PRIVATE KEY-----"
)

func TestShapes(t *testing.T) {
	r := NewRedactor(nil)
	for _, c := range []struct{ in, want string }{
		{"id " + awsID + ".", "id [REDACTED:aws_key]."},
		{"key-" + awsID, "key-[REDACTED:aws_key]"},
		{ghToken, "[REDACTED:github_token]"},
		{"x" + strings.Replace(ghToken, "p_", "o_", 1), "x[REDACTED:github_token]"},
		{strings.Replace(ghToken, "p_", "s_", 1), "[REDACTED:github_token]"},
		{strings.Replace(ghToken, "p_", "r_", 1), "[REDACTED:github_token]"},
		{"github" + "_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv", "[REDACTED:github_token]"},
		{"OPENAI=" + openAI + "\n", "OPENAI=[REDACTED:openai_key]\n"},
		{"(" + ant + ")", "([REDACTED:anthropic_key])"},
		{google, "[REDACTED:google_key]"},
		{slack, "[REDACTED:slack_token]"},
		{webToken + " next", "[REDACTED:jwt] next"},
		{"a\n" + pem + "\nb", "a\n[REDACTED:private_key]\nb"},
		{strings.ReplaceAll(pem, "\n", `\n`) + `\n"`, `[REDACTED:private_key]\n"`},
		{strings.Split(pem, "-----END")[0] + "rest, of it", "[REDACTED:private_key]\nrest, of it"},
		{"Authorization: " + "Bearer abcdef0123456789abcdef", "Authorization: Bearer [REDACTED:bearer]"},
		{`{"authorization":"` + `bearer short-token"}`, `{"authorization":"bearer [REDACTED:bearer]"}`},
		{"Authorization: " + "Basic dXNlcjpwYXNz", "Authorization: Basic [REDACTED:bearer]"},
		{"api_key=" + "abcdefghij0123456789", "api_key=[REDACTED:api_key]"},
		{"X-Api-Key: " + "abcdefghij0123456789", "X-Api-Key: [REDACTED:api_key]"},
		{"aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = [REDACTED:api_key]"},
		{"password=" + "hunter22", "password=[REDACTED:password]"},
		{"DB_PASSWORD: " + "'correct horse battery'", "DB_PASSWORD: '[REDACTED:password]'"},
		{`{"password":"` + `pa\"ss word"}`, `{"password":"[REDACTED:password]"}`},
		{`{\"password\":\"` + `hunter2222\"}`, `{\"password\":\"[REDACTED:password]\"}`},
		{"?user=a&passwd=" + "hunter2222&b=c", "?user=a&passwd=[REDACTED:password]&b=c"},
		{"psql --password " + "hunter2222 -h x", "psql --password [REDACTED:password] -h x"},
		{"PWD=" + "hunter2222", "PWD=[REDACTED:password]"},
		{"https://" + "bob:hunter2@example.com/x", "https://[REDACTED:userinfo]@example.com/x"},
		{"https://" + "token@example.com", "https://[REDACTED:userinfo]@example.com"},
		{"postgres://" + "u:p@ss@db:5432/x", "postgres://[REDACTED:userinfo]@db:5432/x"},
		{"ssh://" + "git:secret@host/x", "ssh://[REDACTED:userinfo]@host/x"},
		{`line\n` + openAI, `line\n[REDACTED:openai_key]`},
		{"q=%20" + awsID, "q=%20[REDACTED:aws_key]"},
		{"\x1b[1;31m" + google, "\x1b[1;31m[REDACTED:google_key]"},
		{"password: " + pem, "password: [REDACTED:password]"},
		{"password=abc.defgh&" + ghToken, "password=[REDACTED:password]&[REDACTED:github_token]"},
		{ghToken + ghToken, "[REDACTED:github_token]"},
	} {
		if got := r.String(c.in); got != c.want {
			t.Errorf("String(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestOrdinaryTextStays(t *testing.T) {
	r := NewRedactor([]string{"", "short"})
	for _, s := range []string{
		"", "a", "ab", "short",
		"6700066aa1b2c3d4e5f60718293a4b5c6d7e8f90",
		"commit 6700066aa1b2c3d4e5f60718293a4b5c6d7e8f90 token",
		"550e8400-e29b-41d4-a716-446655440000",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"golang.org/x/mod v0.42.0 h1:dlm59SBTUiNSTUVxcvzRzxKlHV1OCyDMFaeKqjT+mXM=",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"xAKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLEMORE", "AKIA alone",
		"password", "the password is required", "passwords: use long ones", "api_key", "api_key: string",
		"Bearer token", "bearer authentication", "a bearer of news",
		"PWD=/home/someone/project", "OLDPWD=/home/someone/project",
		"https://example.com/a?b=c@d", "https://example.com/@user", "git@github.com:owner/repo.git", "ssh://git@github.com/o/r",
		"task-management-system-0123456789-abcdef", "risk-0123456789abcdefghijkl", "sk-button-primary-large-rounded-full",
		"eyJhbGciOiJIUzI1NiJ9", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "----------------",
		"://", "a://", "-----BEGIN ", "password=", "password:\"", `password=\`, "Bearer ", "eyJ", "sk-", "--password", "idempotency_key=abcdefghij0123456789",
	} {
		if got := r.String(s); got != s {
			t.Errorf("String(%q) = %q", s, got)
		}
	}
}

func TestKnownValuesAreMaskedInEveryForm(t *testing.T) {
	secret := `p"a<ss/w+rd é&8`
	r := NewRedactor([]string{secret})
	escaped, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string]string{
		"plain": secret, "json": string(escaped), "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
		"base64": base64.StdEncoding.EncodeToString([]byte(secret)),
	}
	for name, form := range forms {
		got := r.String("<" + form + ">")
		if strings.Contains(got, strings.Trim(form, `"`)) || !strings.Contains(got, "[REDACTED:secret]") {
			t.Errorf("%s: %q", name, got)
		}
	}
	for before := range 6 {
		text := strings.Repeat("u", before) + secret + "after"
		enc := base64.URLEncoding.EncodeToString([]byte(text))
		if got := r.String(enc); !strings.Contains(got, "[REDACTED:secret]") {
			t.Errorf("base64 at offset %d: %q", before, got)
		}
	}
}

func TestTheLongestOfTwoValuesWins(t *testing.T) {
	r := NewRedactor([]string{"secretvalue", "secretvalue-and-more"})
	if got := r.String("secretvalue-and-more"); got != "[REDACTED:secret]" {
		t.Error(got)
	}
}

func TestAValueThatAShapeWouldCutIsMaskedWhole(t *testing.T) {
	r := NewRedactor([]string{"abcdefgh&ijklmnop"})
	if got := r.String("password=abcdefgh&ijklmnop"); strings.Contains(got, "ijkl") {
		t.Error(got)
	}
}

func TestSecretsFromEnv(t *testing.T) {
	got := SecretsFromEnv([]string{
		"A_KEY=aaaaaaaa", "b_token=bbbbbbbb", "C_SECRET=cccccccc", "D_PASSWORD=dddddddd", "MY_CREDENTIAL=eeeeeeee", "MY_CREDENTIALS=ffffffff",
		"PASSWORD=gggggggg", "AGAIN_KEY=aaaaaaaa", "SHORT_KEY=1234567", "KEYBOARD=hhhhhhhh", "HOME=/home/x/y/z", "MONKEY=iiiiiiii", "=odd", "NOVALUE_KEY", "EQ_KEY=jjj=jjjj",
	})
	want := []string{"aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd", "eeeeeeee", "ffffffff", "gggggggg", "jjj=jjjj"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestJSONKeepsItsShape(t *testing.T) {
	r := NewRedactor([]string{`va"lue-one`})
	for _, c := range []struct{ in, want string }{
		{`{"b":1.50,"a":[true,null,-2e3],"b":"x"}`, `{"b":1.50,"a":[true,null,-2e3],"b":"x"}`},
		{`{"password":"x","token" : "y","n":{"api-key":"z"}}`, `{"password":"[REDACTED:field]","token" : "[REDACTED:field]","n":{"api-key":"[REDACTED:field]"}}`},
		{`{"password":12345678,"max_tokens":5,"secret":{"a":1},"b":2}`, `{"password":"[REDACTED:field]","max_tokens":5,"secret":{"a":1},"b":2}`},
		{`{"idempotency_key":"k-1","cursor":"c"}`, `{"idempotency_key":"k-1","cursor":"c"}`},
		{`{"a":"say va\"lue-one <b>"}`, `{"a":"say [REDACTED:secret] <b>"}`},
		{`{"` + ghToken + `":"\u0067hp_0123456789abcdefghijABCDEFGHIJ012345"}`, `{"[REDACTED:github_token]":"[REDACTED:github_token]"}`},
		{`not json ` + ghToken, `"not json [REDACTED:github_token]"`},
		{`"` + ghToken + `"`, `"[REDACTED:github_token]"`},
		{``, ``}, {`  `, ``}, {`{}`, `{}`}, {`{"password":""}`, `{"password":""}`},
	} {
		got := string(r.JSON(json.RawMessage(c.in)))
		if got != c.want {
			t.Errorf("JSON(%s)\n got %s\nwant %s", c.in, got, c.want)
		}
		if got != "" && !json.Valid([]byte(got)) {
			t.Errorf("JSON(%s) is not JSON: %s", c.in, got)
		}
	}
}

func TestRootsBecomeRelative(t *testing.T) {
	r := NewRedactor([]string{"topsecret1"}).WithRoots("/srv/site", "/srv/site/sub/", "/", "relative")
	for in, want := range map[string]string{
		"open /srv/site/a.md: no":      "open a.md: no",
		"in /srv/site":                 "in .",
		"(/srv/site/)":                 "(./)",
		"/srv/site2/a /srv/site.bak/a": "/srv/site2/a /srv/site.bak/a",
		"/srv/site/sub/b":              "b",
		"x/srv/site/a":                 "x/srv/site/a",
		"/srv/site: topsecret1":        ".: [REDACTED:secret]",
	} {
		if got := r.String(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestRedactingTwiceChangesNothing(t *testing.T) {
	r := NewRedactor([]string{"known-secret-value"})
	parts := rapid.SampledFrom([]string{ghToken, awsID, openAI, webToken, pem, "password", "=", ":", " ", "\"", "\\", "\n", "known-secret-value",
		"https://", "u:p@", "Bearer ", "Authorization", "api_key", "abcdefghij0123456789", "[", "]", "REDACTED", "é", "\x1b[0m", "-", "eyJ", "."})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(parts, 0, 12).Draw(t, "parts"), rapid.SampledFrom([]string{" ", "\n"}).Draw(t, "sep"))
		once := r.String(text)
		if twice := r.String(once); twice != once {
			t.Fatalf("%q\n once %q\ntwice %q", text, once, twice)
		}
		if strings.Contains(once, "known-secret-value") {
			t.Fatalf("%q leaks: %q", text, once)
		}
	})
}

// hostileUnits are texts that trigger the matchers again and again when repeated.
func hostileUnits() []string {
	return []string{"sk-", "eyJ", "-eyJ", "eyJabcdefgh.", "password", "password=\"", "password=", "://", "a://b@", "-----BEGIN PRIVATE KEY-----",
		"Bearer ", "authorization:", "AIza-", "AKIA", "xoxb-", "ghp_", "github_pat_", "\"\\", "pwd=[", "-", "known-secret"}
}

// Each unit must cost time in proportion to the text: compare the sizes.
func BenchmarkHostileText(b *testing.B) {
	r := NewRedactor([]string{"known-secret-value"})
	for _, unit := range hostileUnits() {
		for _, size := range []int{1 << 17, 1 << 20} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(fmt.Sprintf("%q/%d", unit, size), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					r.String(text)
					r.JSON(quoteJSON(text))
				}
			})
		}
	}
}

func FuzzRedactJSON(f *testing.F) {
	f.Add([]byte(`{"password":"x","a":[1,"` + ghToken + `"]}`))
	f.Add([]byte(`{"a":"\ud800","b":"\u202e"}`))
	r := NewRedactor([]string{"known-secret-value"})
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, out := range []json.RawMessage{r.JSON(raw), r.CleanJSON(raw)} {
			if len(out) > 0 && !json.Valid(out) {
				t.Fatalf("%q became %q", raw, out)
			}
		}
	})
}

// BenchmarkRedact reports MB/s on a build log without and with known values.
func BenchmarkRedact(b *testing.B) {
	line := "2026-11-20T10:00:00Z INFO pkg/server/handler.go:118 processed request id=42 status=ok path=https://example.com/docs/page duration=1.25ms\n" +
		"The quick brown fox passes the password prompt; authorization is access by key. --- [done] 6700066aa1b2c3d4e5f60718293a4b5c6d7e8f90\n"
	text := strings.Repeat(line, 1<<20/len(line))
	known := NewRedactor([]string{"known-secret-value", "another-secret-value", "third-secret-value-0123456789"}).WithRoots("/srv/site")
	for name, r := range map[string]*Redactor{"shapes": NewRedactor(nil), "shapes+values": known} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.String(text)
			}
		})
	}
}
