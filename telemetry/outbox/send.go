package outbox

import (
	"bytes"
	"io"
	"net/http"
	"time"
)

// timeout is how long one request may take.
const timeout = 10 * time.Second

// maxAnswer is how much of an answer is read.
const maxAnswer = 64 << 10

// pauses follow the tries of a request, of which there are as many.
var pauses = [...]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}

// verdict is what became of a line.
type verdict int

const (
	taken     verdict = iota // the API has it
	refusedIt                // the API will not have it as it is
	failed                   // the API is not there, or not well, or does not let us in
)

func newClient(via http.RoundTripper) *http.Client {
	if via == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 1
		via = t
	}
	return &http.Client{Transport: via, Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a record goes where it was to go, or nowhere
	}}
}

// send sends a line, and what it takes to bring a record up to date that the API has
// already.
func (o *Outbox) send(l line) verdict {
	v, answer := o.try("POST", l.Endpoint, l.Payload)
	if v != taken || !l.isRecord() {
		return v
	}
	if path, payload := l.amendment(answer); payload != nil {
		v, _ = o.try("PATCH", path, payload)
	}
	return v
}

// try makes a request until it is answered by other than a failure of the server, three
// times at most.
func (o *Outbox) try(method, path string, payload []byte) (verdict, []byte) {
	for _, pause := range pauses {
		status, answer, err := o.request(method, path, payload)
		switch {
		case err != nil, status >= 500, status < 200:
		case status < 300, status == http.StatusConflict:
			return taken, answer
		case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests, status < 400:
			return failed, nil // the next line would fare no better
		default:
			return refusedIt, nil
		}
		if !o.pause(pause) {
			break
		}
	}
	return failed, nil
}

func (o *Outbox) request(method, path string, payload []byte) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(o.ctx, method, o.o.API.JoinPath(path).String(), bytes.NewReader(payload))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "gantry/"+o.o.Version)
	if o.o.Token != "" {
		r.Header.Set("Authorization", "Bearer "+o.o.Token)
	}
	resp, err := o.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, answer, err
}
