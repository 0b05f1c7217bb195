package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// httpTransport is a Streamable HTTP client: one POST per message, answers as
// JSON or as a server-sent event stream.
type httpTransport struct {
	url     string
	headers http.Header
	hc      *http.Client
	mu      sync.RWMutex
	session string
	note    atomic.Pointer[func(*message)]
}

// HTTP talks to a Streamable HTTP endpoint over at most so many connections. A header is
// 'Name: value'.
func HTTP(url string, headers []string, conns int) (Transport, error) {
	h := http.Header{}
	for _, s := range headers {
		k, v, ok := strings.Cut(s, ":")
		if !ok {
			return nil, fmt.Errorf("the header %q is not 'Name: value'", s)
		}
		h.Add(strings.TrimSpace(k), strings.TrimSpace(v))
	}
	tr := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		MaxIdleConns:        conns + 4,
		MaxIdleConnsPerHost: conns + 4,
		IdleConnTimeout:     time.Minute,
		DisableCompression:  true,
	}
	return &httpTransport{url: url, headers: h, hc: &http.Client{Transport: tr}}, nil
}

func (t *httpTransport) post(ctx context.Context, body []byte, method string, m meta) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if m.protocol != "" {
		req.Header.Set("MCP-Protocol-Version", m.protocol)
	}
	if m.protocol >= StatelessSince {
		req.Header.Set("Mcp-Method", method)
		if m.name != "" {
			req.Header.Set("Mcp-Name", m.name)
		}
	}
	t.mu.RLock()
	if t.session != "" {
		req.Header.Set("Mcp-Session-Id", t.session)
	}
	t.mu.RUnlock()
	for k, vs := range t.headers {
		for _, v := range vs {
			req.Header.Add(k, v)
		}
	}
	return t.hc.Do(req)
}

func (t *httpTransport) roundTrip(ctx context.Context, _ int64, msg *message, m meta) (*message, error) {
	body, err := json.Marshal(msg)
	if err != nil {
		return nil, err
	}
	resp, err := t.post(ctx, body, msg.Method, m)
	if err != nil {
		return nil, err
	}
	defer func() {
		_, _ = io.Copy(io.Discard, resp.Body) // let the connection be reused
		_ = resp.Body.Close()
	}()
	if msg.Method == "initialize" {
		if sid := resp.Header.Get("Mcp-Session-Id"); sid != "" {
			t.mu.Lock()
			t.session = sid
			t.mu.Unlock()
		}
	}
	ct, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	switch strings.TrimSpace(ct) {
	case "application/json":
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		out := new(message)
		if err := json.Unmarshal(b, out); err != nil {
			return nil, fmt.Errorf("HTTP %d: %w", resp.StatusCode, err)
		}
		return out, nil
	case "text/event-stream":
		return t.readStream(resp.Body, msg.ID)
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
	return nil, fmt.Errorf("HTTP %d: %s", resp.StatusCode, strings.TrimSpace(string(b)))
}

func (t *httpTransport) readStream(r io.Reader, id json.RawMessage) (*message, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	var data []byte
	for {
		line, err := br.ReadBytes('\n')
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(line) == 0 && len(data) > 0:
			out := new(message)
			uerr := json.Unmarshal(data, out)
			data = data[:0]
			if uerr != nil {
				return nil, uerr
			}
			if out.Method == "" && bytes.Equal(out.ID, id) {
				return out, nil
			}
			if out.Method != "" {
				if f := t.note.Load(); f != nil {
					(*f)(out)
				}
			}
		case bytes.HasPrefix(line, []byte("data:")):
			v := bytes.TrimPrefix(line[len("data:"):], []byte(" "))
			if len(data) > 0 {
				data = append(data, '\n')
			}
			data = append(data, v...)
		}
		if err != nil {
			if err == io.EOF {
				err = errNoAnswer
			}
			return nil, err
		}
	}
}

func (t *httpTransport) notify(ctx context.Context, msg *message, m meta) error {
	body, err := json.Marshal(msg)
	if err != nil {
		return err
	}
	resp, err := t.post(ctx, body, msg.Method, m)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s: HTTP %d", msg.Method, resp.StatusCode)
	}
	return nil
}

func (t *httpTransport) onNotification(f func(*message)) { t.note.Store(&f) }
func (t *httpTransport) Kind() string                    { return "http" }
func (t *httpTransport) Target() string                  { return t.url }
func (t *httpTransport) PID() int                        { return 0 }
func (t *httpTransport) Broken() bool                    { return false }

func (t *httpTransport) Close() {
	t.mu.RLock()
	sid := t.session
	t.mu.RUnlock()
	if sid != "" {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if req, err := http.NewRequestWithContext(ctx, http.MethodDelete, t.url, nil); err == nil {
			req.Header.Set("Mcp-Session-Id", sid)
			for k, vs := range t.headers {
				req.Header[k] = vs
			}
			if resp, err := t.hc.Do(req); err == nil {
				_ = resp.Body.Close()
			}
		}
	}
	t.hc.CloseIdleConnections()
}
