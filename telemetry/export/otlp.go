package export

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// The variables of OpenTelemetry that are looked at here. The exporters read all others.
const (
	endpointVariable = "OTEL_EXPORTER_OTLP_ENDPOINT"
	protocolVariable = "OTEL_EXPORTER_OTLP_PROTOCOL"
	disabledVariable = "OTEL_SDK_DISABLED"
	tracesVariable   = "OTEL_TRACES_EXPORTER"
	metricsVariable  = "OTEL_METRICS_EXPORTER"
)

func (x *Exporters) addOTLP(ctx context.Context, o Options) error {
	env := variables(o.Env)
	if env[endpointVariable] == "" || strings.EqualFold(env[disabledVariable], "true") {
		return nil
	}
	if p := env[protocolVariable]; strings.EqualFold(p, "grpc") {
		x.log.Warn("OTLP is sent over HTTP only; " + protocolVariable + "=grpc is passed over, point " + endpointVariable + " at the port for HTTP")
	}
	tellErrors(x.log)
	if env[tracesVariable] != "none" {
		exporter, err := otlptracehttp.New(ctx)
		if err != nil {
			return err
		}
		x.processors = append(x.processors, sdktrace.NewBatchSpanProcessor(exporter))
	}
	if env[metricsVariable] != "none" {
		exporter, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return err
		}
		var opts []sdkmetric.PeriodicReaderOption
		if o.Appends != nil {
			opts = append(opts, sdkmetric.WithProducer(o.Appends))
		}
		x.readers = append(x.readers, sdkmetric.NewPeriodicReader(exporter, opts...))
	}
	// Several processes send the same metrics; the id keeps their series apart.
	x.resource = append(x.resource, attribute.String("service.instance.id", rand.Text()))
	given, err := resource.New(ctx, resource.WithFromEnv())
	if given != nil {
		x.resource = append(x.resource, given.Attributes()...)
	}
	return err
}

// variables returns the environment by name. Of a name that is there twice the last
// value counts.
func variables(environ []string) map[string]string {
	out := map[string]string{}
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok {
			out[name] = strings.TrimSpace(value)
		}
	}
	return out
}

// tellErrors sends what OpenTelemetry has to complain about to the log: it would write to
// standard error in a form of its own. The library has no place for this but a global one.
// A collector that is down fails every few seconds: that is said once aloud.
func tellErrors(log *slog.Logger) {
	var told atomic.Bool
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		level := slog.LevelWarn
		if told.Swap(true) {
			level = slog.LevelDebug
		}
		log.Log(context.Background(), level, "spans or metrics could not be delivered", "error", err.Error())
	}))
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
}
