package main

import (
	"context"
	"net/url"
	"path/filepath"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/telemetry/outbox"
)

// The variables of the environment that say where records are posted, and with which
// bearer token.
const (
	telemetryURL   = "TELEMETRY_API_URL"
	telemetryToken = "TELEMETRY_API_TOKEN"
)

// telemetryTable is the table [telemetry]: where records go besides the state directory.
type telemetryTable struct {
	APIURL string `toml:"api_url" flag:"telemetry-api-url" help:"URL of a telemetry API that records are posted to, without /api/v1 (default: the variable TELEMETRY_API_URL; none: they stay in the state directory)"`
}

// settle takes the address from the environment if it was not given.
func (t *telemetryTable) settle(env []string) error {
	if t.APIURL == "" {
		t.APIURL = proc.Getenv(env, telemetryURL)
	}
	_, err := t.url()
	return err
}

// url returns the address, nil if there is none.
func (t *telemetryTable) url() (*url.URL, error) {
	if t.APIURL == "" {
		return nil, nil
	}
	u, err := url.Parse(t.APIURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fault.New(fault.ConfigInvalid, "the address of the telemetry API is not an http or https URL without user, query and fragment").
			WithHint("give the base of the API, such as http://localhost:8765, and the token in %s", telemetryToken)
	}
	return u, nil
}

// openOutbox begins to deliver records to the telemetry API, if there is one.
func (a *app) openOutbox() error {
	api, err := a.cfg.Telemetry.url()
	if err != nil || api == nil {
		return err
	}
	a.outbox = outbox.New(outbox.Options{
		API: api, Token: proc.Getenv(a.env, telemetryToken), StateDir: a.cfg.StateDir, RunsDir: filepath.Join(a.cfg.StateDir, "runs"),
		Version: version, Log: a.log,
	})
	return nil
}

// lastDelivery is how long the end of the program may wait for the telemetry API.
const lastDelivery = time.Second

// closeTelemetry writes what is recorded, of the runs that this process changed too, and
// delivers what it can. The rest is delivered by the next process.
func (a *app) closeTelemetry(ctx context.Context) error {
	if a.exporters.Any() || len(a.store.Appends()) > 0 { // nobody else may be there to tell of the last events
		a.tellCatchUp(ctx)
	}
	err := a.tel.Shutdown(ctx)
	if a.outbox != nil {
		last, cancel := context.WithTimeout(ctx, lastDelivery)
		defer cancel()
		a.outbox.Close(last)
	}
	return err
}
