package leaderelection

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// kind is the name of the resource leases in the watch cache, in the form GROUP/RESOURCE.
const kind = "coordination.k8s.io/leases"

// record is the content of a Lease: the fields of its spec and its resourceVersion.
type record struct {
	holder          string // spec.holderIdentity; "" if the Lease is free
	seconds         int64  // spec.leaseDurationSeconds
	acquired        string // spec.acquireTime
	renewed         string // spec.renewTime
	transitions     int64  // spec.leaseTransitions
	resourceVersion string // "" if the Lease does not exist
}

// read returns the current content of the Lease; the zero record if the Lease does not exist.
func (e *Elector) read(ctx context.Context) (record, error) {
	object, err := e.Objects.Cache.Get(ctx, watchcache.Key{Kind: kind, Namespace: e.Namespace, Name: e.Name}, watchcache.Latest)
	if errors.Is(err, storage.ErrNotFound) {
		return record{}, nil
	}
	if err != nil {
		return record{}, err
	}
	doc, err := object.WithoutManagedFields()
	if err != nil {
		return record{}, err
	}
	spec := doc.Get("spec")
	r := record{
		holder: spec.Get("holderIdentity").Text(), acquired: spec.Get("acquireTime").Text(), renewed: spec.Get("renewTime").Text(),
		resourceVersion: fmt.Sprint(object.Revision()),
	}
	r.seconds, _ = spec.Get("leaseDurationSeconds").Int64()
	r.transitions, _ = spec.Get("leaseTransitions").Int64()
	return r, nil
}

// write creates the Lease if the record has no resourceVersion. If the record has a resourceVersion, write updates the Lease,
// and fails with a conflict if the resourceVersion of the Lease differs.
func (e *Elector) write(ctx context.Context, r record) error {
	leases, _ := e.Objects.Kinds.Resource("coordination.k8s.io", "v1", "leases")
	endpoint, err := e.Objects.Endpoint(leases, "v1", "")
	if err != nil {
		return err
	}
	request := &registry.Request{
		Endpoint: endpoint, Namespace: e.Namespace, Body: registry.Body{Text: e.lease(r).JSON()},
		User: e.User, Manager: e.Manager, FieldValidation: registry.Ignore, Warn: func(string) {},
	}
	if r.resourceVersion == "" {
		_, err = e.Objects.Create(ctx, request)
		return err
	}
	request.Name = e.Name
	_, err = e.Objects.Update(ctx, request)
	return err
}

// lease returns a Lease object with the content of a record.
func (e *Elector) lease(r record) document.Value {
	metadata := document.NewMap(
		document.Field{Name: "name", Value: document.NewString(e.Name)},
		document.Field{Name: "namespace", Value: document.NewString(e.Namespace)},
	)
	if r.resourceVersion != "" {
		metadata = metadata.With("resourceVersion", document.NewString(r.resourceVersion))
	}
	return document.NewMap(
		document.Field{Name: "apiVersion", Value: document.NewString("coordination.k8s.io/v1")},
		document.Field{Name: "kind", Value: document.NewString("Lease")},
		document.Field{Name: "metadata", Value: metadata},
		document.Field{Name: "spec", Value: document.NewMap(
			document.Field{Name: "acquireTime", Value: document.NewString(r.acquired)},
			document.Field{Name: "holderIdentity", Value: document.NewString(r.holder)},
			document.Field{Name: "leaseDurationSeconds", Value: document.NewInt(r.seconds)},
			document.Field{Name: "leaseTransitions", Value: document.NewInt(r.transitions)},
			document.Field{Name: "renewTime", Value: document.NewString(r.renewed)},
		)},
	)
}

// timeText formats a time as metav1.MicroTime does.
func timeText(t time.Time) string { return t.UTC().Format(metav1.RFC3339Micro) }
