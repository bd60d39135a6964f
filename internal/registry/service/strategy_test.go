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

// open returns a registry that allocates cluster IPs from the given network, with the namespace default.
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
	return &registry.Request{Endpoint: endpoint, Namespace: namespace, Body: registry.Body{Text: body}, User: reservationUser, Manager: "tester", Warn: func(string) {}}
}

// createService creates a service in the namespace default and returns its spec.
func createService(t *testing.T, all *registry.Registry, name, spec string) (document.Value, error) {
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

// TestAllocateAllAddresses checks that concurrent creates allocate all addresses of a network, each to one service, and that
// further services are rejected until an address is released.
func TestAllocateAllAddresses(t *testing.T) {
	all := open(t, "10.1.2.0/27")
	const size = 30
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		seen  = map[string]bool{}
	)
	for i := range size {
		group.Go(func() {
			spec, err := createService(t, all, fmt.Sprint("s", i), `{"type":"NodePort","ports":[{"port":80}]}`)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, reservation := range reservations(spec) {
				if seen[reservation.String()] {
					t.Errorf("%v was allocated twice", reservation)
				}
				seen[reservation.String()] = true
			}
		})
	}
	group.Wait()
	if len(seen) != 2*size {
		t.Errorf("allocated %d addresses and ports, want %d", len(seen), 2*size)
	}
	_, err := createService(t, all, "more", `{"ports":[{"port":80}]}`)
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `failed to allocate a serviceIP for Service "more": range is full`) {
		t.Errorf("creating a service when no cluster IP is free: got error %v, want a 500 with \"range is full\"", err)
	}
	endpoint := request(t, all, "services", "", "").Endpoint
	if _, err := all.Delete(t.Context(), &registry.Deletion{Endpoint: endpoint, Namespace: "default", Name: "s7"}); err != nil {
		t.Fatal(err)
	}
	if _, err := createService(t, all, "more", `{"ports":[{"port":80}]}`); err != nil {
		t.Errorf("creating a service after the deletion of another one: got error %v, want none", err)
	}
}

// TestReserveConcurrently checks that exactly one of several concurrent creates succeeds if the services request the same cluster
// IP or node port.
func TestReserveConcurrently(t *testing.T) {
	for wantError, spec := range map[string]string{
		"provided IP is already allocated":   `{"clusterIP":"10.1.2.3","ports":[{"port":80}]}`,
		"provided port is already allocated": `{"type":"NodePort","ports":[{"port":80,"nodePort":30005}]}`,
	} {
		all := open(t, "10.1.2.0/24")
		var (
			group   sync.WaitGroup
			mu      sync.Mutex
			created int
		)
		for i := range 8 {
			group.Go(func() {
				_, err := createService(t, all, fmt.Sprint("s", i), spec)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					created++
				} else if !strings.Contains(err.Error(), wantError) {
					t.Errorf("creating a service with spec %s: got error %v, want one that contains %q", spec, err, wantError)
				}
			})
		}
		group.Wait()
		if created != 1 {
			t.Errorf("concurrent creates of services with spec %s: %d succeeded, want 1", spec, created)
		}
	}
}

// TestAllocateFree checks that allocateFree returns each number once, those of the upper band first, and that staticBand returns
// the same sizes as Kubernetes.
func TestAllocateFree(t *testing.T) {
	taken := map[int]bool{}
	isFree := func(n int) (bool, error) { return !taken[n], nil }
	for i := range 20 {
		n, err := allocateFree(20, 4, isFree)
		if err != nil || taken[n] || n < 0 || n >= 20 || i < 16 && n < 4 {
			t.Fatalf("call %d of allocateFree(20, 4): got %d, %v, want a free number below 20, and at least 4 while such a number is free", i, n, err)
		}
		taken[n] = true
	}
	if _, err := allocateFree(20, 4, isFree); err != errRangeFull {
		t.Errorf("allocateFree() in a full range: got error %v, want %v", err, errRangeFull)
	}
	if got := []int{staticBand(14, 16, 256), staticBand(254, 16, 256), staticBand(1<<20, 16, 256), staticBand(2768, 32, 128)}; fmt.Sprint(got) != "[0 16 256 86]" {
		t.Errorf("staticBand() for ranges of 14, 254, 1<<20 and 2768: got %v, want [0 16 256 86]", got)
	}
}

// TestManyPorts checks that the time to allocate node ports is not quadratic in the number of ports.
func TestManyPorts(t *testing.T) {
	all := open(t, "10.0.0.0/24")
	text := &strings.Builder{}
	const many = 40_000
	for i := range many {
		fmt.Fprintf(text, `,{"name":"p%d","port":%d,"nodePort":%d}`, i, i+1, i+1)
	}
	r := request(t, all, "services", "default", `{"metadata":{"name":"many"},"spec":{"type":"NodePort","ports":[`+text.String()[1:]+`]}}`)
	r.DryRun = true
	start := time.Now()
	if _, err := all.Create(t.Context(), r); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("Create() = %v, want a 413", err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("creating a service with %d ports took %v, want at most 20s", many, took)
	}
}
