package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/pflag"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/launch/quickstart"
)

// config is every setting. A field is a key of gantry.toml and a flag of every
// command, with one sentence for both; docs/configuration.md is made from it. A flag wins
// over the file, the file over the default.
type config struct {
	Root        string         `toml:"root" flag:"root" help:"project folder that callers work in; paths in their arguments are under it; --cwd is the same (default: the current folder)"`
	StateDir    string         `toml:"state_dir" flag:"state-dir" help:"folder for runs and records (default: $XDG_STATE_HOME/gantry)"`
	Toolsets    []string       `toml:"toolsets" flag:"toolsets" default:"launch,worktree" help:"toolsets to serve"`
	ReadOnly    bool           `toml:"read_only" flag:"read-only" help:"serve only tools that change nothing"`
	AllRoots    bool           `toml:"all_roots" flag:"all-roots" help:"show the runs of every root, not only of this one"`
	RateLimit   int            `toml:"rate_limit" flag:"rate-limit" default:"100" help:"calls a minute for each client; 0 turns the limit off"`
	MaxInFlight int            `toml:"max_in_flight" flag:"max-in-flight" default:"64" help:"calls under way at once, for all clients together"`
	Parallel    int            `toml:"parallel" flag:"parallel" default:"4" help:"work items of one node that are executed at once"`
	NoWorker    bool           `toml:"no_worker" flag:"no-worker" help:"do not start a worker for the runs that are under way when the server exits"`
	Taskcards   string         `toml:"taskcards" flag:"taskcards" default:"plans/taskcards" help:"folder of the taskcards, under the root"`
	GitSchemes  []string       `toml:"git_schemes" flag:"git-schemes" default:"https,ssh,git" help:"URL schemes that a repository may have"`
	LogFormat   string         `toml:"log_format" flag:"log-format" default:"json" help:"format of the log on standard error: json or text"`
	Verbose     bool           `toml:"verbose" flag:"verbose" help:"log more"`
	HTTP        httpTable      `toml:"http"`
	Agents      agentsTable    `toml:"agents"`
	Board       boardTable     `toml:"board"`
	Launch      launchTable    `toml:"launch"`
	Server      serverTable    `toml:"server"`
	Tasks       tasksTable     `toml:"tasks"`
	Worktree    worktreeTable  `toml:"worktree"`
	Telemetry   telemetryTable `toml:"telemetry"`
	LogArgs     bool           `toml:"span_arguments" flag:"span-arguments" help:"put the redacted arguments of a call on its span"`

	// Lists of tables, in the file alone: config_tables.go.
	Projects  []projectTable  `toml:"projects"`
	Executors []executorTable `toml:"executors"`

	Sites []quickstart.Profile `toml:"sites"` // as specs/sites has them

	Tools map[string]bool `toml:"tools"` // config_server.go
}

// httpTable is the table [http]: settings of gantry serve.
type httpTable struct {
	Addr           string   `toml:"addr" flag:"addr" default:"127.0.0.1:8787" help:"address that gantry serve listens on; one that is not on loopback needs tokens and TLS"`
	Tokens         string   `toml:"tokens" flag:"tokens" help:"file of bearer tokens, one name:token[:scopes[:expiry]] a line"`
	TLSCert        string   `toml:"tls_cert" flag:"tls-cert" help:"file of the certificate, in PEM"`
	TLSKey         string   `toml:"tls_key" flag:"tls-key" help:"file of the certificate's key, in PEM"`
	InsecureNoTLS  bool     `toml:"insecure_no_tls" flag:"insecure-no-tls" help:"serve without TLS on an address that is not on loopback: a proxy in front has it"`
	MetricsAddr    string   `toml:"metrics_addr" flag:"metrics-addr" help:"address for /metrics alone, without tokens"`
	AllowedHosts   []string `toml:"allowed_hosts" flag:"allowed-hosts" help:"names by which the server is called besides localhost and its address: host, or host:port"`
	AllowedOrigins []string `toml:"allowed_origins" flag:"allowed-origins" help:"origins of pages that may call besides the server's own: scheme://host[:port]"`
}

// tasksTable is the table [tasks]: settings of the toolset of that name.
type tasksTable struct {
	MaxJobs      int  `toml:"max_jobs" flag:"tasks-max-jobs" default:"50" help:"tasks that may run at once under a root"`
	Capture      int  `toml:"capture_seconds" flag:"tasks-capture-seconds" default:"1" help:"seconds that task_start waits for the end when the caller does not say; at most 50"`
	RingLines    int  `toml:"ring_lines" flag:"tasks-ring-lines" default:"1000" help:"last lines of a task's output that are returned at most"`
	RingBytes    int  `toml:"ring_bytes" flag:"tasks-ring-bytes" default:"5242880" help:"last bytes of a task's output that are kept"`
	KeepFinished int  `toml:"keep_finished" flag:"tasks-keep-finished" default:"200" help:"tasks that have ended whose output is kept, for a week at most"`
	AskJust      bool `toml:"ask_just" flag:"tasks-ask-just" help:"read a justfile with just --dump, which executes nothing of it, when just is installed"`
}

// setting is one field of config.
type setting struct {
	Key, Flag, Default, Help string
	value                    reflect.Value
}

func (c *config) settings() []setting {
	return settingsOf(reflect.ValueOf(c).Elem(), "")
}

// settingsOf returns the settings of a struct; those of a table in it have its name in
// front.
func settingsOf(v reflect.Value, table string) (out []setting) {
	for i := range v.NumField() {
		tag, field := v.Type().Field(i).Tag, v.Field(i)
		if field.Kind() == reflect.Struct {
			out = append(out, settingsOf(field, table+tag.Get("toml")+".")...)
			continue
		}
		if tag.Get("flag") == "" {
			continue // a list of tables
		}
		out = append(out, setting{table + tag.Get("toml"), tag.Get("flag"), tag.Get("default"), tag.Get("help"), field})
	}
	return out
}

// bind sets the defaults and makes a flag for each setting.
func (c *config) bind(flags *pflag.FlagSet) {
	for _, s := range c.settings() {
		switch p := s.value.Addr().Interface().(type) {
		case *string:
			flags.StringVar(p, s.Flag, s.Default, s.Help)
		case *bool:
			flags.BoolVar(p, s.Flag, s.Default == "true", s.Help)
		case *int:
			var n int
			fmt.Sscan(s.Default, &n)
			flags.IntVar(p, s.Flag, n, s.Help)
		case *[]string:
			var list []string
			if s.Default != "" {
				list = strings.Split(s.Default, ",")
			}
			flags.StringSliceVar(p, s.Flag, list, s.Help)
		}
	}
}

// load reads the configuration file below the flags and fills in what depends on
// the environment.
func (c *cli) load(flags *pflag.FlagSet) error {
	given := c.config
	for _, s := range c.config.settings() {
		if s.value.Kind() == reflect.Slice { // else the file would be read into what the flags gave
			s.value.Set(reflect.AppendSlice(reflect.Zero(s.value.Type()), s.value))
		}
	}
	if err := c.readFile(); err != nil {
		return err
	}
	from := given.settings()
	for i, s := range c.config.settings() {
		if f := flags.Lookup(s.Flag); f != nil && f.Changed {
			s.value.Set(from[i].value)
		}
	}
	return c.config.settle(c.env)
}

// readFile reads the file that was named, or the one at the usual place if it is
// there. An unknown key is CONFIG_INVALID.
func (c *cli) readFile() error {
	path := c.configFile
	if path == "" {
		path = filepath.Join(configHome(c.env), "gantry", "gantry.toml")
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && c.configFile == "" {
		return nil
	}
	if err != nil {
		return fault.New(fault.ConfigInvalid, "the configuration file cannot be read").Because(err)
	}
	meta, err := toml.Decode(string(raw), &c.config)
	if err != nil {
		return fault.New(fault.ConfigInvalid, "the configuration file is not right: %s", err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return fault.New(fault.ConfigInvalid, "the configuration file has the unknown key %q", unknown[0].String()).
			WithHint("docs/configuration.md lists the keys")
	}
	return nil
}

func (c *config) settle(env []string) error {
	if c.LogFormat != "json" && c.LogFormat != "text" {
		return fault.New(fault.ConfigInvalid, "log_format is json or text, not %.40q", c.LogFormat)
	}
	if c.RateLimit < 0 || c.MaxInFlight < 1 || c.Parallel < 1 {
		return fault.New(fault.ConfigInvalid, "rate_limit is at least 0; max_in_flight and parallel are at least 1")
	}
	if t := c.Tasks; t.MaxJobs < 1 || t.Capture < 0 || t.Capture > 50 || t.RingLines < 1 || t.RingBytes < 1 || t.KeepFinished < 1 {
		return fault.New(fault.ConfigInvalid, "in [tasks], capture_seconds is 0 to 50, the others are at least 1")
	}
	if err := c.Telemetry.settle(env); err != nil {
		return err
	}
	if err := c.settleServer(env); err != nil {
		return err
	}
	if err := c.checkTables(); err != nil {
		return err
	}
	if c.StateDir == "" {
		c.StateDir = filepath.Join(stateHome(env), "gantry")
	}
	for _, dir := range []*string{&c.Root, &c.StateDir} {
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return err
		}
		*dir = abs
	}
	if info, err := os.Stat(c.Root); err != nil || !info.IsDir() {
		return fault.New(fault.ConfigInvalid, "the root is not a folder").WithHint("give --root DIR, an existing folder")
	}
	return nil
}

func configHome(env []string) string { return home(env, "XDG_CONFIG_HOME", ".config") }
func stateHome(env []string) string  { return home(env, "XDG_STATE_HOME", ".local/state") }

func home(env []string, name, below string) string {
	if dir := proc.Getenv(env, name); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(proc.Getenv(env, "HOME"), below)
}
