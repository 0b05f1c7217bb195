package dossier

// LLM is the model that rewords drafts. What is 0 or empty has the value that its member
// says.
type LLM struct {
	APIBaseURL      string       `json:"api_base_url" yaml:"api_base_url"`
	Model           string       `json:"model" yaml:"model"`
	Decoding        Decoding     `json:"decoding" yaml:"decoding"`
	APIKeyEnv       string       `json:"api_key_env,omitempty" yaml:"api_key_env,omitempty"`             // empty: the endpoint wants no key
	RequestTimeoutS int          `json:"request_timeout_s,omitempty" yaml:"request_timeout_s,omitempty"` // 120
	MaxConcurrency  int          `json:"max_concurrency,omitempty" yaml:"max_concurrency,omitempty"`     // 4
	Fallback        *LLMFallback `json:"fallback,omitempty" yaml:"fallback,omitempty"`
}

// Decoding is how answers are sampled.
type Decoding struct {
	Temperature float64  `json:"temperature" yaml:"temperature"`
	TopP        *float64 `json:"top_p,omitempty" yaml:"top_p,omitempty"`           // nil: the endpoint's own
	MaxTokens   int      `json:"max_tokens,omitempty" yaml:"max_tokens,omitempty"` // 4096
}

// LLMFallback is asked when the first endpoint fails for a passing reason.
type LLMFallback struct {
	APIBaseURL      string `json:"api_base_url" yaml:"api_base_url"`
	Model           string `json:"model" yaml:"model"`
	APIKeyEnv       string `json:"api_key_env,omitempty" yaml:"api_key_env,omitempty"`
	RequestTimeoutS int    `json:"request_timeout_s,omitempty" yaml:"request_timeout_s,omitempty"` // 300
}
