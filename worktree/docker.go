package worktree

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/proc"
)

// What docker may cost a context.
const (
	dockerTime  = 300 * time.Millisecond
	dockerBytes = 1 << 20
	dockerLines = 20
	dockerChars = 2000
	maxFailed   = 5 // containers that are shown
)

// container is what the daemon says of one.
type container struct {
	ID     string `json:"Id"`
	Names  []string
	Image  string
	State  string
	Status string
}

// docker returns the containers of the project's compose files that have failed, with the
// end of their logs; nothing where there is no docker, or none that answers at once.
func (t *Tree) docker(ctx context.Context) []item {
	if t.o.DockerSocket == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, dockerTime)
	defer cancel()
	d := daemon{&http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", t.o.DockerSocket)
		},
	}}}
	filter, err := json.Marshal(map[string][]string{"label": {"com.docker.compose.project.working_dir=" + t.root}})
	if err != nil {
		return nil
	}
	raw, err := d.get(ctx, "/containers/json?all=1&filters="+url.QueryEscape(string(filter)))
	var all []container
	if err != nil || json.Unmarshal(raw, &all) != nil {
		return nil
	}
	var out []item
	for _, c := range all {
		if c.failed() && len(out) < maxFailed {
			out = append(out, item{text: d.describe(ctx, c)})
		}
	}
	return out
}

// failed reports whether a container is not as it should be.
func (c container) failed() bool {
	return c.State == "dead" || c.State == "restarting" || c.State == "exited" && !strings.HasPrefix(c.Status, "Exited (0)") ||
		strings.Contains(c.Status, "(unhealthy)")
}

// daemon asks the docker daemon.
type daemon struct{ client *http.Client }

func (d daemon) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://docker"+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := d.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("docker answers %s", res.Status)
	}
	return io.ReadAll(io.LimitReader(res.Body, dockerBytes))
}

func (d daemon) describe(ctx context.Context, c container) string {
	name := c.ID
	if len(c.Names) > 0 {
		name = strings.TrimPrefix(c.Names[0], "/")
	}
	said := fmt.Sprintf("%s (%s): %s\n\n", line(name), line(c.Image), line(c.Status))
	raw, err := d.get(ctx, fmt.Sprintf("/containers/%s/logs?stdout=1&stderr=1&tail=%d", url.PathEscape(c.ID), dockerLines))
	if err != nil {
		return said
	}
	log := []rune(proc.Text(unframed(raw)))
	return said + fenced(string(log[max(0, len(log)-dockerChars):]))
}

// unframed takes the headers out of a log: eight bytes before each piece, the last four
// of them its length. The log of a terminal has none.
func unframed(raw []byte) (out []byte) {
	const header = 8
	for rest := raw; len(rest) > 0; {
		if len(rest) < header || rest[0] > 2 || rest[1]|rest[2]|rest[3] != 0 {
			return raw
		}
		n := int(rest[4])<<24 | int(rest[5])<<16 | int(rest[6])<<8 | int(rest[7])
		rest = rest[header:]
		n = min(n, len(rest))
		out, rest = append(out, rest[:n]...), rest[n:]
	}
	return out
}
