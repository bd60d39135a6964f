package registry

import (
	"context"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/internal/lib/tracing"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Request is a request to write one object. The registry may set Name; it does not modify the other fields.
type Request struct {
	Endpoint *Endpoint
	// Verb is the RBAC verb of the request for admission plugins: create, update or patch.
	Verb string
	// Namespace and Name are parsed from the URL path. Name is "" for a create request, whose body contains the name; the
	// registry then sets it.
	Namespace, Name string
	Body            Body
	// User is the authenticated user.
	User user.Info
	// Manager is the name of the field manager that the write is attributed to.
	Manager string
	// Parameters are the query parameters that are passed to admission plugins.
	Parameters Parameters
	// DryRun runs every stage except the commit.
	DryRun bool
	// FieldValidation selects the treatment of unknown fields.
	FieldValidation FieldValidation
	// Force makes an apply take ownership of conflicting fields.
	Force bool
	// TakeOver makes an apply first take ownership of the fields of kubectl's client-side apply (KEP-3517).
	TakeOver bool
	// Precondition requires that the object exists, or that it does not exist.
	Precondition Existence
	// AuthorizeCreate is called before an update or apply creates an object. An error rejects the request; nil allows it.
	AuthorizeCreate func(context.Context) error
	// Warn adds a warning to the response. It must not be nil.
	Warn func(text string)
	// Trace receives the stages of the write; nil if the request is not traced.
	Trace *tracing.Span
	// ClientGone returns a channel that is closed when the client has disconnected; nil if the caller cannot detect that. If the
	// client disconnects while the write waits for the write gate, the write is abandoned; a started write continues.
	ClientGone func() <-chan struct{}
}

// Parameters are the query parameters of a write in the CreateOptions or UpdateOptions that admission plugins receive.
type Parameters struct{ FieldManager, FieldValidation string }

// Body is the body of a request, as text that is not parsed yet.
type Body struct {
	Text string
	// YAML reports whether the text may be YAML. It is parsed as JSON first, and as YAML if that fails.
	YAML bool
	// Strategic reports whether the text is a strategic merge patch.
	Strategic bool
}

// FieldValidation selects the treatment of unknown fields in request bodies. If the request is not rejected, unknown fields
// are dropped.
type FieldValidation uint8

// The values of the query parameter fieldValidation.
const (
	Warn   FieldValidation = iota // each unknown field causes a warning
	Ignore                        // unknown fields cause no warning
	Strict                        // unknown fields cause the request to be rejected
)

// Existence is a precondition on the existence of the object.
type Existence uint8

// The preconditions, and the HTTP headers that set them.
const (
	ExistenceAny Existence = iota // no header
	MustNotExist                  // If-None-Match: *
	MustExist                     // If-Match: *
)

// Result is the outcome of a write.
type Result struct {
	// Object is the object after the write. For a dry run it is the object that the write would have stored.
	Object *watchcache.Object
	// Created reports whether the write created the object.
	Created bool
	// Revision is the revision of the commit; 0 for a no-op and a dry run.
	Revision storage.Revision
}

func (r *Request) authorizeCreate(ctx context.Context) error {
	if r.AuthorizeCreate == nil {
		return nil
	}
	return r.AuthorizeCreate(ctx)
}

func (r *Request) key() watchcache.Key {
	return watchcache.Key{Kind: r.Endpoint.Kind.StoreName(), Namespace: r.Namespace, Name: r.Name}
}
