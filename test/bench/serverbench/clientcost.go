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

// ClientCost is the allocation of client-go per response or per watch event. The process must be idle otherwise while
// it is measured.
type ClientCost struct{ Bytes, Allocations float64 }

// Deployments returns client-go's client for the namespace. With format.Drop the client itself removes managedFields
// that a server sends nevertheless.
func (m Managed) Deployments(s *Server, format Format) (appsv1.DeploymentInterface, error) {
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

// GetCost measures a get.
func (m Managed) GetCost(ctx context.Context, s *Server, format Format) (ClientCost, error) {
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
	if err := get(); err != nil { // connects
		return ClientCost{}, err
	}
	return allocatedIn(times, times, get)
}

// ListCost measures a list.
func (m Managed) ListCost(ctx context.Context, s *Server, format Format) (ClientCost, error) {
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
			return fmt.Errorf("List() returned %d objects, expected %d", len(list.Items), m.Objects)
		}
		return checkManagedFields(&list.Items[0], format)
	})
}

// EventCost measures the initial events of a watch, one per object.
func (m Managed) EventCost(ctx context.Context, s *Server, format Format) (ClientCost, error) {
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
				return fmt.Errorf("received event %v %v, expected ADDED", event.Type, event.Object)
			}
			if err := checkManagedFields(event.Object.(metav1.Object), format); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkManagedFields returns an error unless an object has managedFields exactly if they were requested.
func checkManagedFields(object metav1.Object, format Format) error {
	if has := len(object.GetManagedFields()) > 0; has == format.Drop {
		return fmt.Errorf("%s: managedFields present: %v, expected %v", object.GetName(), has, !format.Drop)
	}
	return nil
}

// allocatedIn calls do several times and returns the allocation divided by among.
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
