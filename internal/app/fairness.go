package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/server/flowcontrol"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/informer"
)

// The default limits of concurrent requests, as in Kubernetes.
const (
	defaultReadsInFlight  = 400
	defaultWritesInFlight = 200
)

// fairness is priority and fairness with the objects that configure it.
type fairness struct {
	controller *flowcontrol.Controller
	informer   *informer.Informer // nil if priority and fairness is disabled
	schemas    []*flowcontrolv1.FlowSchema
	levels     []*flowcontrolv1.PriorityLevelConfiguration
}

// newFairness returns priority and fairness that follows the stored objects, or fixed limits if it is disabled.
func (s *Server) newFairness(ctx context.Context, all *registry.Registry, counted *metrics.Metrics) (*fairness, error) {
	reads, writes := cmp.Or(s.config.MaxReadsInFlight, defaultReadsInFlight), cmp.Or(s.config.MaxWritesInFlight, defaultWritesInFlight)
	options := flowcontrol.Options{
		Seats: reads + writes, MaxWait: cmp.Or(s.config.Limits.RequestTimeout, time.Minute) / 4,
		Metrics: counted.FlowControl, Log: s.config.Log,
		SetDangling: func(ctx context.Context, schema, level string, dangling bool) error {
			return setDangling(ctx, all, schema, flowcontrol.DanglingCondition(level, dangling))
		},
	}
	if s.config.WithoutFairness {
		return &fairness{controller: flowcontrol.NewFixed(options, reads, writes)}, nil
	}
	f := &fairness{controller: flowcontrol.New(options)}
	var err error
	f.informer, err = informer.Start(ctx, informer.Options{
		Cache: s.cache, Kinds: []string{flowcontrol.Levels, flowcontrol.Schemas}, Handler: informer.SnapshotHandler(f.update),
		Log: s.config.Log, Description: "priority and fairness",
	})
	return f, err
}

// close stops following the objects.
func (f *fairness) close() {
	if f != nil && f.informer != nil {
		f.informer.Close()
	}
}

// update passes the stored objects to the controller. The informer calls it.
func (f *fairness) update(kind string, objects map[string]*watchcache.Object) {
	if kind == flowcontrol.Levels {
		f.levels = decodeAll[flowcontrolv1.PriorityLevelConfiguration](objects)
	} else {
		f.schemas = decodeAll[flowcontrolv1.FlowSchema](objects)
	}
	f.controller.SetObjects(f.schemas, f.levels)
}

// decodeAll decodes objects. Objects that cannot be decoded are left out: validation does not store them.
func decodeAll[T any](objects map[string]*watchcache.Object) (all []*T) {
	for _, o := range objects {
		decoded := new(T)
		if json.Unmarshal(o.JSONWithoutManagedFields(), decoded) == nil {
			all = append(all, decoded)
		}
	}
	return all
}

// makeFairness creates and restores the FlowSchemas and PriorityLevelConfigurations that exist on every server.
func makeFairness(ctx context.Context, all *registry.Registry, do func(func() error)) error {
	stored := map[string]map[string]*watchcache.Object{}
	for _, kind := range []string{flowcontrol.Schemas, flowcontrol.Levels} {
		list, err := all.Cache.List(ctx, watchcache.Query{Selection: watchcache.Selection{Kind: kind}, Freshness: watchcache.Latest})
		if isUnreadable(err) {
			return nil // logged when the object was loaded
		}
		if err != nil {
			return err
		}
		stored[kind] = map[string]*watchcache.Object{}
		for _, o := range list.Objects {
			stored[kind][o.Name()] = o
		}
	}
	changes := flowcontrol.Reconcile(decodeAll[flowcontrolv1.FlowSchema](stored[flowcontrol.Schemas]),
		decodeAll[flowcontrolv1.PriorityLevelConfiguration](stored[flowcontrol.Levels]))
	for _, c := range changes {
		do(func() error { return makeFlowObject(ctx, all, c) })
	}
	return nil
}

// makeFlowObject performs a change of a bootstrap object of priority and fairness. A FlowSchema that is created gets the
// condition that its level exists, which is created at the same time. A conflict with a concurrent write is left to the next
// call.
func makeFlowObject(ctx context.Context, all *registry.Registry, c flowcontrol.Change) error {
	o := systemWrite{group: flowcontrol.Group, resource: c.Resource, name: c.Name, body: string(c.Document), manager: flowcontrol.SpecManager}
	var err error
	switch {
	case c.Document == nil:
		endpoint, notFound := endpointOf(all, o.group, o.resource, "")
		if notFound != nil {
			return notFound
		}
		_, err = all.Delete(ctx, &registry.Deletion{Endpoint: endpoint, Name: c.Name})
	case c.Exists:
		err = write(ctx, all, all.Update, o)
	default:
		o.name = ""
		if err = write(ctx, all, all.Create, o); err == nil && c.Level != "" {
			err = setDangling(ctx, all, c.Name, flowcontrol.DanglingCondition(c.Level, false))
		}
	}
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// setDangling applies the condition of a FlowSchema. A FlowSchema that was deleted is not an error.
func setDangling(ctx context.Context, all *registry.Registry, name string, condition flowcontrolv1.FlowSchemaCondition) error {
	condition.LastTransitionTime = metav1.NewTime(all.Now().UTC())
	body, err := json.Marshal(map[string]any{
		"apiVersion": flowcontrolv1.SchemeGroupVersion.String(), "kind": "FlowSchema", "metadata": map[string]any{"name": name},
		"status": flowcontrolv1.FlowSchemaStatus{Conditions: []flowcontrolv1.FlowSchemaCondition{condition}},
	})
	if err != nil {
		return err
	}
	err = write(ctx, all, all.Apply, systemWrite{
		group: flowcontrol.Group, resource: "flowschemas", subresource: "status", name: name, body: string(body), manager: flowcontrol.StatusManager,
	})
	if errors.Is(err, context.Canceled) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
