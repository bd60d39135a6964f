package garbagecollector

import (
	"context"
	"fmt"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// component is source.component and reportingComponent of the collector's Events, as in Kubernetes.
const component = "garbage-collector-controller"

// reportOwnerInOtherNamespace creates an Event if an object with the UID of an owner reference exists in another
// namespace than the dependent: such a reference is invalid.
func (c *Collector) reportOwnerInOtherNamespace(ctx context.Context, object *subject, kind *api.Kind, r reference) {
	namespaces, err := c.Objects.Cache.List(ctx, watchcache.Query{Selection: watchcache.Selection{Kind: "core/namespaces"}, Freshness: watchcache.Any})
	if err != nil {
		return
	}
	for _, namespace := range namespaces.Objects {
		owner, err := c.Objects.Cache.Get(ctx, watchcache.Key{Kind: kind.StoreName(), Namespace: namespace.Name(), Name: r.name}, watchcache.Any)
		if err == nil && owner.UID() == r.uid {
			if err := c.createEvent(ctx, object, r); err != nil && ctx.Err() == nil {
				c.Log.Warn("cannot create an event about an owner in another namespace", "key", object.Key(), "error", err)
			}
			return
		}
	}
}

// createEvent creates an Event about a dependent whose owner is in another namespace, with Kubernetes' reason and message.
func (c *Collector) createEvent(ctx context.Context, object *subject, r reference) error {
	kind, _ := c.Objects.Kinds.Resource("", "v1", "events")
	endpoint, err := c.Objects.Endpoint(kind, "v1", "")
	if err != nil {
		return err
	}
	namespace := object.Namespace()
	if namespace == "" {
		namespace = "default"
	}
	now := c.Objects.Now()
	text := func(fields ...string) document.Value {
		var all []document.Field
		for i := 0; i < len(fields); i += 2 {
			if fields[i+1] != "" {
				all = append(all, document.Field{Name: fields[i], Value: document.NewString(fields[i+1])})
			}
		}
		return document.NewMap(all...)
	}
	event := text("apiVersion", "v1", "kind", "Event", "type", "Warning", "reason", "OwnerRefInvalidNamespace",
		"firstTimestamp", now.UTC().Format(time.RFC3339), "lastTimestamp", now.UTC().Format(time.RFC3339),
		"message", fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
			r.apiVersion, r.kind, object.Namespace(), r.name, r.uid, object.Namespace())).
		With("count", document.NewInt(1)).
		With("metadata", text("name", fmt.Sprintf("%s.%x", object.Name(), now.UnixNano()), "namespace", namespace)).
		With("source", text("component", component)).
		With("reportingComponent", document.NewString(component)).
		With("involvedObject", text("apiVersion", object.kind.StoredVersion(), "kind", object.kind.Name,
			"namespace", object.Namespace(), "name", object.Name(), "uid", object.UID()))
	_, err = c.Objects.Create(ctx, &registry.Request{
		Endpoint: endpoint, Namespace: namespace, Body: registry.Body{Text: event.JSON()},
		User: c.User, Manager: c.Manager, FieldValidation: registry.Ignore, Warn: func(string) {},
	})
	return err
}
