package smd_test

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/cadastre/cadastre/test/bench/fixture"
	"github.com/cadastre/cadastre/test/bench/smd"
)

// TestEngineEqualsFieldManager checks that Engine returns the same results as apimachinery's field manager.
func TestEngineEqualsFieldManager(t *testing.T) {
	for _, o := range []*fixture.Object{
		fixture.Pod(), fixture.Deployment(1), fixture.Deployment(3), fixture.Deployment(8), fixture.Node(),
		fixture.EndpointSlice(1000), fixture.Definition(), fixture.Fleet("CustomResource", 60),
	} {
		engine, reference := smd.NewEngine(o.Kind.SMD), newReference(t, o.Kind.SMD)
		apply := func(name string, live, config []byte, manager string, force bool) {
			t.Run(o.Name+"/"+name, func(t *testing.T) {
				got, err := engine.Apply(live, config, manager, force)
				want, wantErr := reference.apply(live, config, manager, force)
				compare(t, got, err, want, wantErr)
			})
		}
		apply("create", nil, o.Config, o.Manager, false)
		apply("change", o.Live, o.Changed, o.Manager, false)
		apply("no-op", o.Live, o.Config, o.Manager, false)
		apply("conflict", o.Live, o.Foreign, "intruder", false)
		apply("force", o.Live, o.Foreign, "intruder", true)
		apply("override", o.Live, o.Overridden, o.Manager, true)
		t.Run(o.Name+"/update", func(t *testing.T) {
			got, err := engine.Update(o.Live, o.Updated, "editor")
			want, wantErr := reference.update(o.Live, o.Updated, "editor")
			compare(t, got, err, want, wantErr)
		})
	}
}

func TestEngineRejects(t *testing.T) {
	pod := fixture.Pod()
	engine := smd.NewEngine(pod.Kind.SMD)
	for name, config := range map[string]string{
		"text that is not JSON":        `{`,
		"a configuration not a map":    `null`,
		"a field outside the schema":   `{"apiVersion":"v1","kind":"Pod","spec":{"nodes":3}}`,
		"duplicate list items":         `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"a"},{"name":"a"}]}}`,
		"a configuration with entries": string(pod.Live),
	} {
		if _, err := engine.Apply(pod.Live, []byte(config), "anyone", true); err == nil {
			t.Errorf("%s: got no error, want an error", name)
		}
	}
}

var timestamp = regexp.MustCompile(`"time":"[^"]*"`)

func compare(t *testing.T, got []byte, err error, want []byte, wantErr error) {
	t.Helper()
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("Engine returned error %v, want %v", err, wantErr)
	}
	got, want = timestamp.ReplaceAll(got, nil), timestamp.ReplaceAll(want, nil)
	if !bytes.Equal(got, want) {
		t.Errorf("Engine returned\n%s\nwant\n%s", got, want)
	}
}
