package tracing

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"k8s.io/apiserver/pkg/authentication/user"
)

const (
	remoteTrace = "0af7651916cd43dd8448eb211c80319c"
	parent      = "00-" + remoteTrace + "-b7ad6b7169203331-01"
)

// request returns a request with a traceparent, unless that is "", of a user in a group.
func request(traceparent, group string) Request {
	r := httptest.NewRequest("PATCH", "/api/v1/namespaces/default/configmaps/c?dryRun=All", nil)
	if traceparent != "" {
		r.Header.Set("traceparent", traceparent)
	}
	return Request{HTTP: r, Start: time.Now(), Name: "PATCH /x", AuditID: "a1", User: &user.DefaultInfo{Name: "u", Groups: []string{group}}}
}

// recording returns a provider with a sampler, and the recorder of its spans.
func recording(sampler sdktrace.Sampler) (*Provider, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	return newProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.ParentBased(sampler)), sdktrace.WithSpanProcessor(recorder))), recorder
}

// TestStages: the stages of a request are children of its span, one after another.
func TestStages(t *testing.T) {
	p, recorder := recording(sdktrace.AlwaysSample())
	ctx, span := p.Start(request("", ""))
	span.Stage("load")
	span.Stage("merge")
	sent := http.Header{}
	Inject(ctx, sent)
	span.End(409)
	ended := recorder.Ended()
	var names []string
	for _, s := range ended {
		names = append(names, s.Name())
	}
	if got := strings.Join(names, ", "); got != "load, merge, PATCH /x" {
		t.Fatalf("spans = %s, want load, merge, PATCH /x", got)
	}
	root := ended[2]
	for _, stage := range ended[:2] {
		if stage.Parent().SpanID() != root.SpanContext().SpanID() || stage.EndTime().IsZero() {
			t.Errorf("%s: parent = %s, want %s", stage.Name(), stage.Parent().SpanID(), root.SpanContext().SpanID())
		}
	}
	if root.Parent().IsValid() {
		t.Error("the span of the request has a parent")
	}
	if got := sent.Get("traceparent"); !strings.Contains(got, root.SpanContext().TraceID().String()) {
		t.Errorf("injected traceparent = %q, want the trace %s", got, root.SpanContext().TraceID())
	}
	attributes := map[string]string{}
	for _, a := range root.Attributes() {
		attributes[string(a.Key)] = a.Value.String()
	}
	if attributes["audit-id"] != "a1" || attributes["http.response.status_code"] != "409" || attributes["http.target"] != "/api/v1/namespaces/default/configmaps/c?dryRun=All" {
		t.Errorf("attributes = %v", attributes)
	}
}

// TestTraceparent: the trace of a request is continued for privileged users. For others it is a link, and does not make the server
// record the request.
func TestTraceparent(t *testing.T) {
	for _, test := range []struct {
		group         string
		sampler       sdktrace.Sampler
		traced, child bool
	}{
		{user.SystemPrivilegedGroup, sdktrace.NeverSample(), true, true},
		{user.MonitoringGroup, sdktrace.NeverSample(), true, true},
		{user.AllAuthenticated, sdktrace.NeverSample(), false, false},
		{user.AllAuthenticated, sdktrace.AlwaysSample(), true, false},
	} {
		p, recorder := recording(test.sampler)
		_, span := p.Start(request(parent, test.group))
		if (span != nil) != test.traced {
			t.Errorf("%s: traced = %t, want %t", test.group, span != nil, test.traced)
		}
		span.End(200)
		if !test.traced {
			continue
		}
		ended := recorder.Ended()[0]
		if isChild := ended.SpanContext().TraceID().String() == remoteTrace; isChild != test.child || len(ended.Links()) != map[bool]int{false: 1}[isChild] {
			t.Errorf("%s: continues the trace = %t, links %v, want %t", test.group, isChild, ended.Links(), test.child)
		}
	}
	p, _ := recording(sdktrace.NeverSample())
	if _, span := p.Start(request("", user.SystemPrivilegedGroup)); span != nil {
		t.Error("a request without a traceparent is traced although the rate is 0")
	}
}

// TestOff: without a provider, nothing is traced or allocated.
func TestOff(t *testing.T) {
	r := request(parent, user.SystemPrivilegedGroup)
	if n := testing.AllocsPerRun(100, func() {
		var p *Provider
		_, span := p.Start(r)
		span.Stage("load")
		span.Stage("merge")
		span.End(200)
	}); n != 0 {
		t.Errorf("number of allocations = %v, want 0", n)
	}
	if p, err := Open("", nil); p != nil || err != nil || p.Close(context.Background()) != nil {
		t.Errorf("Open without a file = %v, %v, want nil", p, err)
	}
}

// TestConfigurations: the versions of a TracingConfiguration are accepted as by kube-apiserver; invalid ones are rejected.
func TestConfigurations(t *testing.T) {
	const v1 = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"
	for text, want := range map[string]string{
		v1: "",
		v1 + "endpoint: 127.0.0.1:4317\nsamplingRatePerMillion: 100\n":                           "",
		strings.Replace(v1, "apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1", 1):  "",
		strings.Replace(v1, "apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1beta1", 1):         "no kind",
		v1 + "samplingRatePerMillion: 1000001\n":                                                 "less than or equal to one million",
		v1 + "endpoint: http://127.0.0.1:4317\n":                                                 "unsupported scheme",
		v1 + "other: 1\n":                                                                        "unknown field",
		"apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: []\n": "expected a TracingConfiguration",
	} {
		file := filepath.Join(t.TempDir(), "tracing.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Open(file, slog.New(slog.DiscardHandler))
		if want == "" {
			if err != nil || p == nil {
				t.Errorf("%s: Open = %v, %v", text, p, err)
			} else if err := p.Close(t.Context()); err != nil {
				t.Error(err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error = %v, want %q", text, err, want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "absent"), nil); err == nil {
		t.Error("absent file: no error")
	}
}

// BenchmarkStages compares a request of seven stages that is not traced with one that is.
func BenchmarkStages(b *testing.B) {
	r := request("", "")
	on, _ := recording(sdktrace.AlwaysSample())
	idle, _ := recording(sdktrace.NeverSample())
	for name, p := range map[string]*Provider{"off": nil, "not sampled": idle, "sampled": on} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, span := p.Start(r)
				for _, stage := range []string{"load", "merge", "mutate", "prepare", "validate", "commit", "respond"} {
					span.Stage(stage)
				}
				span.End(200)
			}
		})
	}
}
