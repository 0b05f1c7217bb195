package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gantry-run/gantry/internal/fault"
)

func (c *cli) callCommand() *cobra.Command {
	return &cobra.Command{
		Use: "call TOOL [JSON | KEY=VALUE ...]", Short: "Call any tool, behind the same guard as every client", Args: cobra.MinimumNArgs(1),
		Long: "Call any tool. Arguments are one JSON object, or KEY=VALUE pairs: a dot in a key leads into an object, and a\n" +
			"value that is JSON is taken as such. The result goes to standard output as JSON, an error to standard error.",
		Example: "  gantry call launch_list_runs limit=5\n  gantry call launch_start_run run_config.github_repo_url=https://github.com/spf13/cobra\n  gantry call get_run_status '{\"run_id\": \"r_...\"}'",
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := arguments(args[1:])
			if err != nil {
				return err
			}
			return c.withClient(cmd.Context(), use{quiet: !c.config.Verbose}, func(ctx context.Context, cl *client) error {
				return c.printCall(ctx, cl, args[0], raw)
			})
		},
	}
}

// withClient opens the app, does something with a client of it, and closes it.
func (c *cli) withClient(ctx context.Context, u use, do func(context.Context, *client) error) error {
	return c.withApp(ctx, u, func(ctx context.Context, _ *app, cl *client) error { return do(ctx, cl) })
}

// withApp is withClient for what needs the app beside its client.
func (c *cli) withApp(ctx context.Context, u use, do func(context.Context, *app, *client) error) (err error) {
	a, err := c.open(u)
	if err != nil {
		return err
	}
	defer func() {
		if closed := a.close(); err == nil {
			err = closed
		}
	}()
	cl, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer cl.close()
	return do(ctx, a, cl)
}

func (c *cli) printCall(ctx context.Context, cl *client, name string, args json.RawMessage) error {
	res, err := cl.call(ctx, name, args)
	f := new(fault.Fault)
	if errors.As(err, &f) {
		raw, marshalled := json.MarshalIndent(map[string]any{
			"error_code": f.Code, "message": f.Message, "retryable": f.Retryable, "hint": f.Hint, "details": f.Details,
		}, "", "  ")
		if marshalled != nil {
			return marshalled
		}
		fmt.Fprintln(c.std.err, string(raw))
		return exitCode(exitOf(f))
	}
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, res, "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.std.out, pretty.String())
	return err
}

// arguments makes a JSON object of what stands on the command line.
func arguments(words []string) (json.RawMessage, error) {
	if len(words) == 1 && strings.HasPrefix(strings.TrimSpace(words[0]), "{") {
		return json.RawMessage(words[0]), nil
	}
	top := map[string]any{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return nil, fault.New(fault.InvalidInput, "%.80q is neither a JSON object nor KEY=VALUE", word)
		}
		at := top
		path := strings.Split(key, ".")
		for _, part := range path[:len(path)-1] {
			inner, ok := at[part].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[part] = inner
			}
			at = inner
		}
		at[path[len(path)-1]] = literal(value)
	}
	return json.Marshal(top)
}

// literal reads a value as JSON if it is, else as text.
func literal(value string) any {
	dec := json.NewDecoder(strings.NewReader(value))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return value
	}
	return v
}
