package local_test

import (
	"os"
	"testing"

	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/runs/local"
	"github.com/gantry-run/gantry/runs/runstest"
)

func open(c runstest.Config) (runs.Engine, error) {
	return local.New(local.Options{Store: c.Store, Workers: c.Workers, Adopt: c.Adopt, Backoff: c.Backoff, Log: c.Log}), nil
}

func TestMain(m *testing.M) { os.Exit(runstest.Main(m, open)) }

func TestConformance(t *testing.T) { runstest.Run(t, runstest.Options{}) }
