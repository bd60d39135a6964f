package service

import (
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// open returns objects of which services get addresses of a network.
func open(t *testing.T, network string) *registry.Registry {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	c := watchcachetest.Open(t)
	register, err := api.NewRegister(api.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	all := registry.New(registry.Options{
		Cache: c, Kinds: register, Log: log, Strategies: map[string]registry.Strategy{Resource: Strategy(netip.MustParsePrefix(network))},
	})
	if _, err := all.Create(t.Context(), request(t, all, "namespaces", "", `{"metadata":{"name":"default"}}`)); err != nil {
		t.Fatal(err)
	}
	return all
}

func request(t *testing.T, all *registry.Registry, resource, namespace, body string) *registry.Request {
	t.Helper()
	kind, _ := all.Kinds.Resource("", "v1", resource)
	endpoint, err := all.Endpoint(kind, "v1", "")
	if err != nil {
		t.Fatal(err)
	}
	return &registry.Request{Endpoint: endpoint, Namespace: namespace, Body: registry.Body{Text: body}, User: user, Manager: "tester", Warn: func(string) {}}
}

func service(t *testing.T, all *registry.Registry, name, spec string) (document.Value, error) {
	t.Helper()
	r := request(t, all, "services", "default", fmt.Sprintf(`{"metadata":{"name":%q},"spec":%s}`, name, spec))
	result, err := all.Create(t.Context(), r)
	if err != nil {
		return document.Value{}, err
	}
	parsed, err := result.Object.Parsed()
	if err != nil {
		t.Error(err)
	}
	return parsed.Document.Get("spec"), nil
}

// TestAllAddresses: many at once draw from a network that has just enough. Each gets its own, and
// then there are none left.
func TestAllAddresses(t *testing.T) {
	all := open(t, "10.1.2.0/27")
	const size = 30
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		seen  = map[string]bool{}
	)
	for i := range size {
		group.Go(func() {
			spec, err := service(t, all, fmt.Sprint("s", i), `{"type":"NodePort","ports":[{"port":80}]}`)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, holding := range holdings(spec) {
				if seen[holding.String()] {
					t.Errorf("%v was given twice", holding)
				}
				seen[holding.String()] = true
			}
		})
	}
	group.Wait()
	if len(seen) != 2*size {
		t.Errorf("%d addresses and ports, want %d", len(seen), 2*size)
	}
	_, err := service(t, all, "more", `{"ports":[{"port":80}]}`)
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `failed to allocate a serviceIP for Service "more": range is full`) {
		t.Errorf("there is none left: %v", err)
	}
	endpoint := request(t, all, "services", "", "").Endpoint
	if _, err := all.Delete(t.Context(), &registry.Deletion{Endpoint: endpoint, Namespace: "default", Name: "s7"}); err != nil {
		t.Fatal(err)
	}
	if _, err := service(t, all, "more", `{"ports":[{"port":80}]}`); err != nil {
		t.Errorf("one is left: %v", err)
	}
}

// TestOneWins: of many that ask for the same at once, one gets it.
func TestOneWins(t *testing.T) {
	for what, spec := range map[string]string{
		"provided IP is already allocated":   `{"clusterIP":"10.1.2.3","ports":[{"port":80}]}`,
		"provided port is already allocated": `{"type":"NodePort","ports":[{"port":80,"nodePort":30005}]}`,
	} {
		all := open(t, "10.1.2.0/24")
		var (
			group sync.WaitGroup
			mu    sync.Mutex
			won   int
		)
		for i := range 8 {
			group.Go(func() {
				_, err := service(t, all, fmt.Sprint("s", i), spec)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won++
				} else if !strings.Contains(err.Error(), what) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if won != 1 {
			t.Errorf("%s: %d have it", spec, won)
		}
	}
}

func TestDraw(t *testing.T) {
	taken := map[int]bool{}
	isFree := func(n int) (bool, error) { return !taken[n], nil }
	for i := range 20 {
		n, err := draw(20, 4, isFree)
		if err != nil || taken[n] || n < 0 || n >= 20 || i < 16 && n < 4 {
			t.Fatalf("draw %d is %d, %v", i, n, err)
		}
		taken[n] = true
	}
	if _, err := draw(20, 4, isFree); err != errFull {
		t.Error(err)
	}
	if got := []int{lowerPart(14, 16, 256), lowerPart(254, 16, 256), lowerPart(1<<20, 16, 256), lowerPart(2768, 32, 128)}; fmt.Sprint(got) != "[0 16 256 86]" {
		t.Error(got)
	}
}

// Many ports cost what they cost; each was compared with each.
func TestManyPorts(t *testing.T) {
	all := open(t, "10.0.0.0/24")
	text := &strings.Builder{}
	const many = 40_000
	for i := range many {
		fmt.Fprintf(text, `,{"name":"p%d","port":%d,"nodePort":%d}`, i, i+1, i+1)
	}
	r := request(t, all, "services", "default", `{"metadata":{"name":"many"},"spec":{"type":"NodePort","ports":[`+text.String()[1:]+`]}}`)
	r.DryRun = true
	begin := time.Now()
	if _, err := all.Create(t.Context(), r); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("received %v, want that it is too large with its defaults and owners", err)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
