package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gantry-run/gantry/mcpserver/fleet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// yard is a list of places that tests change.
type yard struct {
	mu     sync.Mutex
	paths  []string
	refuse string // path that cannot be opened
	looks  chan struct{}
}

func (y *yard) set(paths ...string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.paths = paths
}

func (y *yard) sign() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return strings.Join(y.paths, "|")
}

func (y *yard) list(context.Context) (out []fleet.Place, err error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, p := range y.paths {
		out = append(out, fleet.Place{Path: p, Branch: "b" + p})
	}
	return out, nil
}

// launch runs a fleet whose servers answer with the name of their place.
func (y *yard) launch(t *testing.T, first int) (*fleet.Fleet, context.CancelFunc) {
	t.Helper()
	y.looks = make(chan struct{})
	f := fleet.New(fleet.Options{
		List: y.list, Sign: y.sign, First: first, Every: time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Open: func(p fleet.Place, _ net.Addr) (fleet.Service, error) {
			y.mu.Lock()
			defer y.mu.Unlock()
			if p.Path == y.refuse {
				return fleet.Service{}, errors.New("it is locked")
			}
			return fleet.Service{
				Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, p.Path) }),
				Tools:   []fleet.Tool{{Name: "read_file"}}, Close: func(context.Context) {},
			}, nil
		},
		Server: func(h http.Handler) *http.Server { return &http.Server{Handler: h} },
	})
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		f.Run(ctx, func() {
			select {
			case y.looks <- struct{}{}:
			case <-ctx.Done():
			}
		})
	})
	stop := func() { cancel(); run.Wait() }
	t.Cleanup(stop)
	<-y.looks
	return f, stop
}

// settle waits until the fleet has looked at the list as it is.
func (y *yard) settle() {
	for range 2 { // one look may have begun before the change
		<-y.looks
	}
}

func ask(t *testing.T, host string, port int) string {
	t.Helper()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Get(fmt.Sprintf("http://%s:%d/", host, port))
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	return string(raw)
}

// free returns a port behind which two more are likely to be free.
func free(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestServersComeAndGoWithTheirPlaces(t *testing.T) {
	y := &yard{}
	y.set("one", "two")
	f, stop := y.launch(t, free(t))
	ports := f.Ports()
	if len(ports) != 2 || ports[0] >= ports[1] {
		t.Fatalf("%v", ports)
	}
	st := f.States()
	if st[0].Path != "one" || !st[0].Running || st[0].Port != ports[0] || st[0].Tools[0].Name != "read_file" || st[1].Branch != "btwo" {
		t.Errorf("%+v", st)
	}
	if got := ask(t, "127.0.0.1", ports[0]) + " " + ask(t, "localhost", ports[1]); got != "one two" {
		t.Errorf("they answer %q", got)
	}
	y.set("two", "three")
	y.settle()
	st = f.States()
	if len(st) != 2 || st[0].Port != ports[1] || st[1].Path != "three" || !st[1].Running {
		t.Errorf("after a change: %+v", st)
	}
	if got := ask(t, "127.0.0.1", ports[0]); got != "three" { // the port was free again
		t.Errorf("the first port answers %q", got)
	}
	stop()
	if l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", ports[0])); err != nil {
		t.Errorf("after the end the port is not free: %v", err)
	} else {
		l.Close()
	}
	if slices.ContainsFunc(f.States(), func(s fleet.State) bool { return s.Running }) {
		t.Error("after the end something runs")
	}
}

func TestAPortThatIsTakenIsPassedOver(t *testing.T) {
	for _, network := range []string{"tcp4", "tcp6"} {
		host := map[string]string{"tcp4": "127.0.0.1", "tcp6": "::1"}[network]
		l, err := net.Listen(network, net.JoinHostPort(host, "0"))
		if err != nil {
			t.Logf("%s: %v", network, err) // a machine without IPv6
			continue
		}
		taken := l.Addr().(*net.TCPAddr).Port
		y := &yard{}
		y.set("one")
		f, stop := y.launch(t, taken)
		if ports := f.Ports(); len(ports) != 1 || ports[0] <= taken {
			t.Errorf("%s: %d is taken, and served are %v", network, taken, ports)
		}
		stop()
		l.Close()
	}
}

func TestAPlaceThatCannotBeServedSaysWhyAndIsTriedAgain(t *testing.T) {
	y := &yard{refuse: "two"}
	y.set("one", "two")
	f, _ := y.launch(t, free(t))
	st := f.States()
	if !st[0].Running || st[1].Running || st[1].Error != "it is locked" || st[1].Port != 0 {
		t.Errorf("%+v", st)
	}
	y.mu.Lock()
	y.refuse = ""
	y.mu.Unlock()
	y.settle()
	if st = f.States(); !st[1].Running || st[1].Error != "" {
		t.Errorf("%+v", st)
	}
}

func TestConnectionsAreCounted(t *testing.T) {
	y := &yard{}
	y.set("one")
	f, _ := y.launch(t, free(t))
	c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", f.Ports()[0]))
	if err != nil {
		t.Fatal(err)
	}
	for f.States()[0].Clients != 1 {
		<-y.looks
	}
	c.Close()
	for f.States()[0].Clients != 0 {
		<-y.looks
	}
}
