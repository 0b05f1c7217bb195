package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/bench/probe"
)

type multiFlag []string

func (m *multiFlag) String() string     { return strings.Join(*m, ", ") }
func (m *multiFlag) Set(s string) error { *m = append(*m, s); return nil }

type config struct {
	label       string
	tool        string
	args        json.RawMessage
	n           int
	c           int
	warmup      int
	duration    time.Duration
	timeout     time.Duration
	protocol    string
	httpURL     string
	headers     multiFlag
	env         multiFlag
	dir         string
	stderrMode  string
	stderr      io.Writer // the server's; nil discards it
	cold        int
	progress    bool
	rssPID      int
	failOnError bool
	command     []string
}

func parseFlags(argv []string, errOut io.Writer) (*config, error) {
	var cfg config
	var args string
	fs := flag.NewFlagSet("mcpbench", flag.ContinueOnError)
	fs.SetOutput(errOut)
	fs.Usage = func() {
		fmt.Fprintf(errOut, "usage: mcpbench [flags] -- command [args...]\n       mcpbench [flags] --http URL\n\n")
		fs.PrintDefaults()
	}
	fs.StringVar(&cfg.label, "label", "", "free text copied into the report")
	fs.StringVar(&cfg.tool, "tool", "", "tool to call; empty means start, list tools and stop")
	fs.StringVar(&args, "args", "{}", "tool arguments as JSON, or @file")
	fs.IntVar(&cfg.n, "n", 1000, "measured calls")
	fs.IntVar(&cfg.c, "c", 1, "calls in flight")
	fs.IntVar(&cfg.warmup, "warmup", 50, "calls made before measuring")
	fs.DurationVar(&cfg.duration, "duration", 0, "stop measuring after this long (overrides -n)")
	fs.DurationVar(&cfg.timeout, "timeout", 30*time.Second, "limit for one call")
	fs.StringVar(&cfg.protocol, "protocol", "2025-11-25", "protocol revision to ask for; 2026-07-28 and later use per-request _meta and no handshake")
	fs.StringVar(&cfg.httpURL, "http", "", "Streamable HTTP endpoint instead of a command")
	fs.Var(&cfg.headers, "header", "extra HTTP header 'Name: value' (repeatable)")
	fs.Var(&cfg.env, "env", "extra environment KEY=VALUE for the command (repeatable)")
	fs.StringVar(&cfg.dir, "dir", "", "working directory for the command")
	fs.StringVar(&cfg.stderrMode, "stderr", "discard", "server stderr: discard or inherit")
	fs.IntVar(&cfg.cold, "cold", 0, "measure this many cold starts (command only) instead of calls")
	fs.BoolVar(&cfg.progress, "progress", false, "attach a progressToken to every call and count notifications")
	fs.IntVar(&cfg.rssPID, "pid", 0, "process whose memory to sample (default: the command)")
	fs.BoolVar(&cfg.failOnError, "fail-on-error", false, "exit 1 if any call failed")
	if err := fs.Parse(argv); err != nil {
		return nil, err
	}
	cfg.command = fs.Args()
	switch {
	case cfg.httpURL == "" && len(cfg.command) == 0:
		fs.Usage()
		return nil, errors.New("need a command after -- or --http URL")
	case cfg.httpURL != "" && len(cfg.command) > 0:
		return nil, errors.New("give either a command or --http, not both")
	case cfg.cold > 0 && cfg.httpURL != "":
		return nil, errors.New("--cold needs a command")
	case cfg.n < 1 || cfg.c < 1:
		return nil, errors.New("-n and -c must be at least 1")
	}
	if strings.HasPrefix(args, "@") {
		b, err := os.ReadFile(args[1:])
		if err != nil {
			return nil, err
		}
		args = string(b)
	}
	if !json.Valid([]byte(args)) {
		return nil, fmt.Errorf("--args is not JSON: %s", args)
	}
	cfg.args = json.RawMessage(args)
	return &cfg, nil
}

// load returns the calls that the flags ask for.
func (c *config) load() probe.Load {
	return probe.Load{
		Tool: c.tool, Args: c.args, Calls: c.n, Duration: c.duration, InFlight: c.c, Warmup: c.warmup,
		Timeout: c.timeout, Progress: c.progress,
	}
}
