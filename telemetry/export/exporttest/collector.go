// Package exporttest is an OTLP collector for tests: it listens on loopback, takes what
// is sent to it, and tells what it has. Spans come in JSON, for which their exporter has
// to be asked; that of metrics knows Protocol Buffers alone, of which only names are read.
package exporttest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Collector takes spans and metrics by OTLP over HTTP, in JSON.
type Collector struct {
	t      testing.TB
	server *httptest.Server

	mu      sync.Mutex
	spans   []Span
	metrics [][]byte // requests
}

// Span is a span as it was received.
type Span struct {
	TraceID  string `json:"traceId"`
	SpanID   string `json:"spanId"`
	ParentID string `json:"parentSpanId"`
	Name     string `json:"name"`
	Start    string `json:"startTimeUnixNano"`
	End      string `json:"endTimeUnixNano"`
	Status   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
	Attributes []attribute `json:"attributes"`
	Links      []struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
	} `json:"links"`
}

type attribute struct {
	Key   string `json:"key"`
	Value struct {
		Text string `json:"stringValue"`
	} `json:"value"`
}

// Attribute returns the text of an attribute, "" if there is none.
func (s Span) Attribute(key string) string {
	i := slices.IndexFunc(s.Attributes, func(a attribute) bool { return a.Key == key })
	if i < 0 {
		return ""
	}
	return s.Attributes[i].Value.Text
}

// NewCollector starts a collector, which ends with the test.
func NewCollector(t testing.TB) *Collector {
	c := &Collector{t: t}
	c.server = httptest.NewServer(http.HandlerFunc(c.receive))
	t.Cleanup(c.server.Close)
	return c
}

// Env is what makes a process send to the collector.
func (c *Collector) Env() []string {
	return []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.server.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=http/json"}
}

// Spans returns the spans so far, in the order in which they came.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// HasMetric reports whether a metric of the name was sent.
func (c *Collector) HasMetric(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	const firstFieldText = 0x0a // the name is the first field of a metric
	field := append([]byte{firstFieldText, byte(len(name))}, name...)
	return slices.ContainsFunc(c.metrics, func(raw []byte) bool { return bytes.Contains(raw, field) })
}

func (c *Collector) receive(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err == nil && r.Header.Get("Content-Encoding") == "gzip" {
		raw, err = unzip(raw)
	}
	switch {
	case err != nil:
	case r.URL.Path == "/v1/metrics":
		c.mu.Lock()
		c.metrics = append(c.metrics, raw)
		c.mu.Unlock()
	case r.URL.Path == "/v1/traces":
		err = c.receiveSpans(raw)
		w.Header().Set("Content-Type", "application/json")
	}
	if err != nil {
		c.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		w.WriteHeader(http.StatusBadRequest)
	}
}

func (c *Collector) receiveSpans(raw []byte) error {
	var body struct {
		Resources []struct {
			Scopes []struct {
				Spans []Span `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range body.Resources {
		for _, s := range r.Scopes {
			for _, span := range s.Spans {
				for _, id := range []*string{&span.TraceID, &span.SpanID, &span.ParentID} {
					*id = strings.ToLower(*id)
				}
				c.spans = append(c.spans, span)
			}
		}
	}
	return nil
}

func unzip(raw []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
