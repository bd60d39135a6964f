package objects

import (
	"context"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/identity"
	"github.com/cadastre/cadastre/internal/store"
)

// Request says which object is to be written, by whom, and how.
type Request struct {
	Endpoint *Endpoint
	// Namespace and Name are those of the path. Creations have no Name: it is in the body.
	Namespace, Name string
	Body            Body
	// User is who writes, Manager as whom the user wants to be known in managedFields.
	User    *identity.User
	Manager string
	// Sent is what the client said as parameters.
	Sent Parameters
	// DryRun has everything done but the writing.
	DryRun bool
	// Validation says what becomes of fields that the kind does not have.
	Validation Validation
	// Force has an apply take over what others own.
	Force bool
	// TakeOver has an apply get first what client-side apply wrote.
	TakeOver bool
	// Only restricts an apply to objects that exist already, or to those that don't.
	Only Existence
	// MayCreate is asked before something is created by a verb other than create; nil means yes.
	MayCreate func(context.Context) error
	// MayAlso is asked whether the user may do something that the request does beside what it says, and returns the
	// verb that this takes; nil means yes.
	MayAlso func(Deed) (verb string, err error)
	// Warn is told what the client should know although the request succeeds.
	Warn func(text string)
	// Gone returns what is closed when the client has gone away. What waits to begin does not begin then; what has
	// begun goes on. nil means that nobody can tell.
	Gone func() <-chan struct{}
}

// Parameters are what clients say beside what is written. Those who are asked about a write see them.
type Parameters struct{ FieldManager, FieldValidation string }

// Deed is something to be allowed beside the request: the same verb, which may have something before it, at another
// subresource of the kind. Without a namespace it is about all of them, without a name about all objects.
type Deed struct{ VerbPrefix, Subresource, Namespace, Name string }

// Body is what a client sent.
type Body struct {
	Text string
	// YAML says that the text may be YAML; JSON is YAML, too, and is tried first.
	YAML bool
	// Strategic says that the text is a strategic merge patch.
	Strategic bool
}

// Validation says what becomes of fields that a kind does not have: they are dropped in any
// case.
type Validation uint8

// The ways of validation.
const (
	Warn   Validation = iota // and the client is told
	Ignore                   // in silence
	Strict                   // no, the request is refused
)

// Existence says whether an object must exist.
type Existence uint8

// The conditions of existence.
const (
	Whether Existence = iota // or not
	Absent
	Present
)

// Result is the outcome of a write.
type Result struct {
	// Object is as it is now, or would be were it not for the dry run.
	Object *cache.Object
	// Created says that it was not there before.
	Created bool
	// Revision is that of the write; 0 if nothing was written.
	Revision store.Revision
}

func (r *Request) mayCreate(ctx context.Context) error {
	if r.MayCreate == nil {
		return nil
	}
	return r.MayCreate(ctx)
}

func (r *Request) key() cache.Key {
	return cache.Key{Kind: r.Endpoint.Kind.StoreName(), Namespace: r.Namespace, Name: r.Name}
}
