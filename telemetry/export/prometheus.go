package export

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
)

// registry holds what Prometheus scrapes. It belongs to its Exporters: the library's
// global one is not used.
type registry struct{ *prometheus.Registry }

func (x *Exporters) addPrometheus(o Options) error {
	reg := prometheus.NewRegistry()
	opts := []otelprometheus.Option{otelprometheus.WithRegisterer(reg), otelprometheus.WithoutScopeInfo()}
	if o.Appends != nil {
		opts = append(opts, otelprometheus.WithProducer(o.Appends))
	}
	reader, err := otelprometheus.New(opts...)
	if err != nil {
		return err
	}
	for _, c := range []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	x.prometheus, x.readers = &registry{reg}, append(x.readers, reader)
	return nil
}

// Bounds on scrapes. Prometheus gives up after ten seconds by itself.
const (
	refreshTime = 2 * time.Second
	scrapeTime  = 9 * time.Second
	scrapes     = 8 // at once
)

// Metrics returns the handler of /metrics, or nil if Options.Prometheus was not set. It
// calls refresh before each scrape, so that a scrape shows what happened before it; one
// that fails or is slow is logged, and the scrape goes on with what is known.
func (x *Exporters) Metrics(refresh func(context.Context) error) http.Handler {
	if x.prometheus == nil {
		return nil
	}
	serve := promhttp.HandlerFor(x.prometheus, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(x.log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
		EnableOpenMetrics: true, MaxRequestsInFlight: scrapes, Timeout: scrapeTime,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), refreshTime)
		defer cancel()
		if err := refresh(ctx); err != nil && r.Context().Err() == nil {
			x.log.Warn("what other processes did is not in this scrape", "error", err.Error())
		}
		serve.ServeHTTP(w, r)
	})
}
