package applytest_test

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/applytest"
	"github.com/cadastre/cadastre/internal/app"
)

// TestGateOff runs the scripts about responses without managedFields (the parameter drop in Accept) on a server with
// the feature gate ManagedFieldsOptOut disabled. The server must ignore the parameter in every encoding, like
// kube-apiserver without the feature.
func TestGateOff(t *testing.T) {
	report, err := applytest.Run(t.Context(), applytest.Options{Config: startWithoutGates(t), Run: regexp.MustCompile("^optout/"), Parallel: 8})
	if err != nil {
		t.Fatal(err)
	}
	ignored := 0
	for _, result := range report.Results {
		switch {
		case result.Outcome == applytest.Fail:
			t.Errorf("%s\n%s\n%s", result.Name, result.Behaviour, result.Failure)
		case strings.HasPrefix(result.Name, "optout/ignored-") && result.Outcome == applytest.Pass:
			ignored++
		}
	}
	const formats = 4
	if ignored != formats {
		t.Errorf("encodings in which the parameter drop is ignored = %d, want %d", ignored, formats)
	}
}

func startWithoutGates(t *testing.T) *rest.Config {
	t.Helper()
	s, err := app.Start(t.Context(), app.Config{Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	certificate, key := s.Authority.Admin()
	return &rest.Config{Host: s.URL(), QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: s.Authority.CA(), CertData: certificate, KeyData: key}}
}
