package registry

import (
	"context"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Request is a request to write one object. The registry may set Name; it does not change anything else.
type Request struct {
	Endpoint *Endpoint
	// Verb is the RBAC verb of the request: create, update or patch. Admission plugins see it.
	Verb string
	// Namespace and Name are those of the path. A create request has no Name: it is in the body.
	Namespace, Name string
	Body            Body
	// User is the authenticated user, Manager the field manager.
	User    user.Info
	Manager string
	// Parameters are the query parameters that admission plugins see.
	Parameters Parameters
	// DryRun runs every stage except the commit.
	DryRun bool
	// FieldValidation selects the treatment of unknown fields.
	FieldValidation FieldValidation
	// Force makes an apply take ownership of conflicting fields.
	Force bool
	// TakeOver makes an apply take over the fields of client-side apply first (KEP-3517).
	TakeOver bool
	// Precondition restricts the write to objects that exist, or that do not.
	Precondition Existence
	// AuthorizeCreate is called before a verb other than create creates an object; nil allows it.
	AuthorizeCreate func(context.Context) error
	// Warn adds a warning to the response.
	Warn func(text string)
	// ClientGone returns a channel that is closed when the client has disconnected; nil if the caller cannot detect that. A
	// write that waits to start is abandoned then; one that has started continues.
	ClientGone func() <-chan struct{}
}

// Parameters are the query parameters of a write that admission plugins see.
type Parameters struct{ FieldManager, FieldValidation string }

// Body is the body of a request.
type Body struct {
	Text string
	// YAML reports whether the text may be YAML. JSON, which YAML includes, is tried first.
	YAML bool
	// Strategic reports whether the text is a strategic merge patch.
	Strategic bool
}

// FieldValidation is the treatment of unknown fields, which are dropped in any case.
type FieldValidation uint8

// The values of the query parameter fieldValidation.
const (
	Warn   FieldValidation = iota // a warning for each
	Ignore                        // none
	Strict                        // the request is rejected
)

// Existence is a precondition on the existence of the object.
type Existence uint8

// The preconditions.
const (
	ExistenceAny Existence = iota
	MustNotExist           // If-None-Match: *
	MustExist              // If-Match: *
)

// Result is the outcome of a write.
type Result struct {
	// Object is the object after the write; of a dry run, as it would be.
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
