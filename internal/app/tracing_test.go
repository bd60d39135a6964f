package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// traceCollector is an OpenTelemetry collector that keeps all spans.
type traceCollector struct {
	collector.UnimplementedTraceServiceServer
	mu    sync.Mutex
	spans []*tracev1.Span
}

// Export implements collector.TraceServiceServer.
func (c *traceCollector) Export(_ context.Context, r *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range r.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// startCollector starts a collector and returns the name of a TracingConfiguration with its address.
func startCollector(t *testing.T, c *traceCollector) string {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(socket) }()
	t.Cleanup(server.Stop)
	file := filepath.Join(t.TempDir(), "tracing.yaml")
	text := fmt.Sprintf("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: %s\nsamplingRatePerMillion: 1000000\n", socket.Addr())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestTraces: a collector receives the span of each request and those of its stages, the last ones when the server stops.
func TestTraces(t *testing.T) {
	var received traceCollector
	serving(t, Config{TracingConfigFile: startCollector(t, &received)}, func(c *client) {
		c.apply(configMaps+"/c", "m", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"b"}}`,
			"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").want(201)
		c.call("GET", configMaps+"/none", "").want(404)
		c.call("GET", "/apis/apps/v1/deployments", "").want(200)
		c.call("GET", "/readyz", "").want(200)
	})
	stages := map[string][]string{}
	names := map[string]string{}
	slices.SortFunc(received.spans, func(a, b *tracev1.Span) int { return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano)) })
	for _, s := range received.spans {
		if s.Kind == tracev1.Span_SPAN_KIND_SERVER {
			names[string(s.SpanId)] = s.Name
		}
	}
	for _, s := range received.spans {
		if root := names[string(s.ParentSpanId)]; root != "" {
			stages[root] = append(stages[root], s.Name)
		}
	}
	const apply = "PATCH /api/v1/namespaces/{:namespace}/configmaps/{:name}"
	for name, want := range map[string]string{
		apply: "receive body, wait for seats, handle, load, merge, mutate, prepare, validate, validating admission, commit, respond",
		"GET /api/v1/namespaces/{:namespace}/configmaps/{:name}": "wait for seats, handle, respond",
		"GET /apis/apps/v1/deployments":                          "wait for seats, handle, respond",
		"GET":                                                    "wait for seats, handle, respond",
	} {
		if got := strings.Join(stages[name], ", "); got != want {
			t.Errorf("stages of %s = %s, want %s; spans %v", name, got, want, names)
		}
	}
	for _, s := range received.spans {
		if s.Name == apply && fmt.Sprintf("%x", s.TraceId) != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("the trace of the administrator's apply = %x, want that of its traceparent", s.TraceId)
		}
	}
}

// TestUnreachableCollector: requests succeed and the server stops although no collector listens.
func TestUnreachableCollector(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket.Close()
	file := filepath.Join(t.TempDir(), "tracing.yaml")
	text := fmt.Sprintf("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: %s\nsamplingRatePerMillion: 1000000\n", socket.Addr())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	serving(t, Config{TracingConfigFile: file}, func(c *client) { c.call("GET", "/readyz", "").want(200) })
}
