package serverbench

import (
	"context"
	"fmt"
	"net/http"
	"runtime"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	appsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/client"
)

// A ClientCost is what client-go allocates for one answer, or one event of a watch. It is measured while nothing else
// runs in the process.
type ClientCost struct{ Bytes, Allocations float64 }

// Deployments is client-go's client of the namespace. One that drops managedFields never sees them, whatever the server.
func (m Managed) Deployments(s *Server, wish Wish) (appsv1.DeploymentInterface, error) {
	config := &rest.Config{
		Host: s.URL, BearerToken: s.token, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: string(wish.Media), AcceptContentTypes: string(wish.Media)},
		Transport:     &http.Transport{TLSClientConfig: s.tls.Clone(), ForceAttemptHTTP2: true, DisableCompression: true},
	}
	if wish.Drop {
		config = client.WithoutManagedFields(config)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return clients.AppsV1().Deployments(m.place(0).space), nil
}

// GetCost is that of reading an object.
func (m Managed) GetCost(ctx context.Context, s *Server, wish Wish) (ClientCost, error) {
	const times = 200
	deployments, err := m.Deployments(s, wish)
	if err != nil {
		return ClientCost{}, err
	}
	get := func() error {
		object, err := deployments.Get(ctx, m.place(0).name, metav1.GetOptions{})
		if err == nil {
			err = seen(object, wish)
		}
		return err
	}
	if err := get(); err != nil { // has connected
		return ClientCost{}, err
	}
	return allocatedIn(times, times, get)
}

// ListCost is that of a list.
func (m Managed) ListCost(ctx context.Context, s *Server, wish Wish) (ClientCost, error) {
	deployments, err := m.Deployments(s, wish)
	if err != nil {
		return ClientCost{}, err
	}
	return allocatedIn(1, 1, func() error {
		list, err := deployments.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) != m.Objects {
			return fmt.Errorf("listed %d objects, expected %d", len(list.Items), m.Objects)
		}
		return seen(&list.Items[0], wish)
	})
}

// EventCost is that of an event of a watch, which begins with one for each object.
func (m Managed) EventCost(ctx context.Context, s *Server, wish Wish) (ClientCost, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	deployments, err := m.Deployments(s, wish)
	if err != nil {
		return ClientCost{}, err
	}
	return allocatedIn(1, m.Objects, func() error {
		w, err := deployments.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		defer w.Stop()
		for range m.Objects {
			event, ok := <-w.ResultChan()
			if !ok || event.Type != watch.Added {
				return fmt.Errorf("received %v %v, expected an object that was added", event.Type, event.Object)
			}
			if err := seen(event.Object.(metav1.Object), wish); err != nil {
				return err
			}
		}
		return nil
	})
}

// seen fails if a client saw what it was not to see.
func seen(object metav1.Object, wish Wish) error {
	if has := len(object.GetManagedFields()) > 0; has == wish.Drop {
		return fmt.Errorf("%s: has managedFields: %v, expected %v", object.GetName(), has, !wish.Drop)
	}
	return nil
}

// allocatedIn does something so many times and shares what was allocated among so many.
func allocatedIn(times, among int, do func() error) (ClientCost, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		if err := do(); err != nil {
			return ClientCost{}, err
		}
	}
	runtime.ReadMemStats(&after)
	return ClientCost{
		Bytes:       float64(after.TotalAlloc-before.TotalAlloc) / float64(among),
		Allocations: float64(after.Mallocs-before.Mallocs) / float64(among),
	}, nil
}
