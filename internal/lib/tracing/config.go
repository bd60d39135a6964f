package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
	"k8s.io/component-base/tracing"
	tracingv1 "k8s.io/component-base/tracing/api/v1"
)

// service is the name of the service in traces.
const service = "cadastre"

// Provider makes the spans of requests and sends them to a collector. A nil *Provider makes no spans.
type Provider struct {
	provider tracing.TracerProvider
	tracer   trace.Tracer
}

// Open returns a Provider with the TracingConfiguration in a file; nil if file is "". It does not connect to the collector yet.
// Spans that cannot be sent are dropped, and log reports it.
func Open(file string, log *slog.Logger) (*Provider, error) {
	if file == "" {
		return nil, nil
	}
	config, err := load(file)
	if err != nil {
		return nil, fmt.Errorf("tracing configuration %s: %w", file, err)
	}
	otel.SetMeterProvider(noop.NewMeterProvider()) // gRPC would otherwise collect metrics that nothing reads
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces were not sent to the collector", "error", err) }))
	provider, err := tracing.NewProvider(context.Background(), config, nil, []resource.Option{resource.WithAttributes(
		attribute.String("service.name", service), attribute.String("service.instance.id", instance()),
	)})
	if err != nil {
		return nil, fmt.Errorf("tracing configuration %s: %w", file, err)
	}
	return newProvider(provider), nil
}

// instance returns the name of this server in traces: the host and the process.
func instance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}

func newProvider(p tracing.TracerProvider) *Provider {
	return &Provider{provider: p, tracer: p.Tracer("github.com/cadastre/cadastre")}
}

// load reads and validates a TracingConfiguration.
func load(file string) (*tracingv1.TracingConfiguration, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	known := runtime.NewScheme()
	install.Install(known)
	object, kind, err := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	config, ok := object.(*apiserver.TracingConfiguration)
	if !ok {
		return nil, fmt.Errorf("expected a TracingConfiguration of apiserver.config.k8s.io/v1, received %s", kind)
	}
	return &config.TracingConfiguration, tracingv1.ValidateTracingConfiguration(&config.TracingConfiguration, nil, nil).ToAggregate()
}

// Close sends the remaining spans and ends the connection.
func (p *Provider) Close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	return p.provider.Shutdown(ctx)
}
