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

// ClientCost is the number of bytes and of heap allocations of client-go per response or watch event. All allocations
// of the process are counted, so it must do nothing else during the measurement.
type ClientCost struct{ Bytes, Allocations float64 }

// Deployments returns client-go's client for the Deployments of the namespace. If format.Drop is set and the server sends
// managedFields nevertheless, the client removes them.
func (m ManagedObjects) Deployments(s *Server, format Format) (appsv1.DeploymentInterface, error) {
	config := &rest.Config{
		Host: s.URL, BearerToken: s.token, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: string(format.Media), AcceptContentTypes: string(format.Media)},
		Transport:     &http.Transport{TLSClientConfig: s.tls.Clone(), ForceAttemptHTTP2: true, DisableCompression: true},
	}
	if format.Drop {
		config = client.WithoutManagedFields(config)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return clients.AppsV1().Deployments(m.key(0).namespace), nil
}

// GetCost returns the cost of a get of one object.
func (m ManagedObjects) GetCost(ctx context.Context, s *Server, format Format) (ClientCost, error) {
	const times = 200
	deployments, err := m.Deployments(s, format)
	if err != nil {
		return ClientCost{}, err
	}
	get := func() error {
		object, err := deployments.Get(ctx, m.key(0).name, metav1.GetOptions{})
		if err == nil {
			err = checkManagedFields(object, format)
		}
		return err
	}
	if err := get(); err != nil { // the first get opens the connection
		return ClientCost{}, err
	}
	return allocatedIn(times, times, get)
}

// ListCost returns the cost of a list of the namespace.
func (m ManagedObjects) ListCost(ctx context.Context, s *Server, format Format) (ClientCost, error) {
	deployments, err := m.Deployments(s, format)
	if err != nil {
		return ClientCost{}, err
	}
	return allocatedIn(1, 1, func() error {
		list, err := deployments.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) != m.Objects {
			return fmt.Errorf("List(): expected %[2]d objects, received %[1]d", len(list.Items), m.Objects)
		}
		return checkManagedFields(&list.Items[0], format)
	})
}

// EventCost returns the cost per event of the initial events of a watch, one for each object.
func (m ManagedObjects) EventCost(ctx context.Context, s *Server, format Format) (ClientCost, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	deployments, err := m.Deployments(s, format)
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
				return fmt.Errorf("watch: expected an ADDED event, received %v %v", event.Type, event.Object)
			}
			if err := checkManagedFields(event.Object.(metav1.Object), format); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkManagedFields returns an error if an object has managedFields although format drops them, or lacks them although
// format includes them.
func checkManagedFields(object metav1.Object, format Format) error {
	if has := len(object.GetManagedFields()) > 0; has == format.Drop {
		return fmt.Errorf("%s: got managedFields: %v, want %v", object.GetName(), has, !format.Drop)
	}
	return nil
}

// allocatedIn calls do the given number of times. It returns the allocations during all these calls divided by count,
// the total number of responses or events that the calls receive.
func allocatedIn(times, count int, do func() error) (ClientCost, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		if err := do(); err != nil {
			return ClientCost{}, err
		}
	}
	runtime.ReadMemStats(&after)
	return ClientCost{
		Bytes:       float64(after.TotalAlloc-before.TotalAlloc) / float64(count),
		Allocations: float64(after.Mallocs-before.Mallocs) / float64(count),
	}, nil
}
