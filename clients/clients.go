// Package clients writes Gantry into the configuration files of the programs that use it.
//
// Each [Client] knows where its file is, in which form, and what an entry looks like. A
// file belongs to its owner: [Client.Merge] changes the one entry and leaves every other
// byte as it is, comments, order and other servers included. It changes the text, not a
// tree that is written anew, and then holds the result against the original: whatever
// else would read differently is refused. [Write] replaces a file as a whole and keeps
// the old one beside it.
package clients

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
)

// Server is what a client is told of.
type Server struct {
	Name string // of the entry

	// Over stdio: a program and its arguments.
	Command string
	Args    []string

	// Over HTTP, when URL is not empty. Token names the variable of the environment that
	// holds the bearer token; "" for none.
	URL   string
	Token string
}

// Place says where the files of a person and a project are.
type Place struct {
	Home    string
	Config  string // the person's folder for configuration files, such as ~/.config
	Codex   string // the folder of Codex; ~/.codex when empty
	Project string
	OS      string // as runtime.GOOS has it
}

// Client is a program that uses servers.
type Client struct {
	Name  string // on the command line
	Title string
	Root  bool // its file is not the project's and it has no project: the root must be said
	Alone bool // it has no PATH of the person's: the program must be said in full

	path  func(Place) string
	merge func(c Client, file []byte, s Server) ([]byte, error)
	key   string // member or table that holds the servers
	entry func(Server) members
}

// All returns every client, by name.
func All() []Client {
	return []Client{claudeCode(), claudeDesktop(), codex(), cursor(), gemini(), vscode()}
}

// Named returns a client by its name. The error is INVALID_INPUT, and names them all.
func Named(name string) (Client, error) {
	all := All()
	i := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
	if i < 0 {
		var names []string
		for _, c := range all {
			names = append(names, c.Name)
		}
		return Client{}, fault.New(fault.InvalidInput, "there is no client %.40q here", name).WithHint("choose from %s", strings.Join(names, ", "))
	}
	return all[i], nil
}

// Path returns the client's file.
func (c Client) Path(p Place) string { return c.path(p) }

// Merge returns the file with the entry of the server, added or replaced. An empty file is
// a new one. CONFIG_INVALID when the file is not what it should be: it is left alone.
func (c Client) Merge(file []byte, s Server) ([]byte, error) {
	if len(bytes.TrimSpace(file)) == 0 {
		file = nil
	}
	return c.merge(c, file, s)
}

// members are the members of an object, in order.
type members []member

type member struct {
	name  string
	value any // text, list of texts, members, or JSON
}

// MarshalJSON writes the members in their order.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, one := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encode(&b, one.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := encode(&b, one.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func encode(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	b.Truncate(b.Len() - 1) // the newline
	return err
}

// started returns the members of a server that the client starts.
func (s Server) started() members {
	return members{{"command", s.Command}, {"args", append([]string{}, s.Args...)}}
}

// headers returns the header with the bearer token, for clients that put variables into
// texts in the given form; nothing without a token.
func (s Server) headers(before, after string) members {
	if s.Token == "" {
		return nil
	}
	return members{{"headers", members{{"Authorization", "Bearer " + before + s.Token + after}}}}
}

// claudeCode has a file in the project, which is meant to be shared.
func claudeCode() Client {
	return Client{
		Name: "claude-code", Title: "Claude Code", merge: mergeJSON, key: "mcpServers",
		path: func(p Place) string { return filepath.Join(p.Project, ".mcp.json") },
		entry: func(s Server) members {
			if s.URL != "" {
				return append(members{{"type", "http"}, {"url", s.URL}}, s.headers("${", "}")...)
			}
			return append(members{{"type", "stdio"}}, s.started()...)
		},
	}
}

func claudeDesktop() Client {
	return Client{
		Name: "claude-desktop", Title: "Claude Desktop", merge: mergeJSON, key: "mcpServers", Root: true, Alone: true,
		path: func(p Place) string {
			dir := filepath.Join(p.Config, "Claude")
			if p.OS == "darwin" {
				dir = filepath.Join(p.Home, "Library", "Application Support", "Claude")
			}
			return filepath.Join(dir, "claude_desktop_config.json")
		},
		entry: func(s Server) members {
			if s.URL != "" {
				return append(members{{"type", "http"}, {"url", s.URL}}, s.headers("${", "}")...)
			}
			return s.started()
		},
	}
}

func codex() Client {
	return Client{
		Name: "codex", Title: "Codex", merge: mergeTOML, key: "mcp_servers", Alone: true,
		path: func(p Place) string {
			dir := p.Codex
			if dir == "" {
				dir = filepath.Join(p.Home, ".codex")
			}
			return filepath.Join(dir, "config.toml")
		},
		entry: func(s Server) members {
			switch {
			case s.URL == "":
				return s.started()
			case s.Token == "":
				return members{{"url", s.URL}}
			}
			return members{{"url", s.URL}, {"bearer_token_env_var", s.Token}}
		},
	}
}

func cursor() Client {
	return Client{
		Name: "cursor", Title: "Cursor", merge: mergeJSON, key: "mcpServers",
		path: func(p Place) string { return filepath.Join(p.Project, ".cursor", "mcp.json") },
		entry: func(s Server) members {
			if s.URL != "" {
				return append(members{{"url", s.URL}}, s.headers("${env:", "}")...)
			}
			return s.started()
		},
	}
}

func gemini() Client {
	return Client{
		Name: "gemini", Title: "Gemini CLI", merge: mergeJSON, key: "mcpServers", Alone: true,
		path: func(p Place) string { return filepath.Join(p.Home, ".gemini", "settings.json") },
		entry: func(s Server) members {
			if s.URL != "" {
				return append(members{{"httpUrl", s.URL}}, s.headers("${", "}")...)
			}
			return s.started()
		},
	}
}

func vscode() Client {
	return Client{
		Name: "vscode", Title: "VS Code", merge: mergeJSON, key: "servers",
		path: func(p Place) string { return filepath.Join(p.Project, ".vscode", "mcp.json") },
		entry: func(s Server) members {
			if s.URL != "" {
				return append(members{{"type", "http"}, {"url", s.URL}}, s.headers("${env:", "}")...)
			}
			return append(members{{"type", "stdio"}}, s.started()...)
		},
	}
}
