package cli

import (
	"context"
	"errors"
	"net/http"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// Another client may create, delete or change an object between the read and the apply. A precondition in the applied
// configuration makes the server check the object in the same transaction as the write:
//
// uid the object that was read must still exist; it is not created again resourceVersion the object must be unchanged or, if
// the value is unusedRevision, must not exist

// unusedRevision is a resourceVersion that no object has, because servers count resourceVersions up from 1.
const unusedRevision = "9223372036854775807"

var (
	errExists   = errors.New("not applied: the object exists, and --only-create is set")
	errNotFound = errors.New("not applied: the object does not exist, and --only-update is set")
)

// checkExistence returns an error if --only-create is set and exists is true, or if --only-update is set and exists is
// false.
func (a *applyOperation) checkExistence(exists bool) error {
	switch {
	case exists && a.onlyCreate:
		return errExists
	case !exists && a.onlyUpdate:
		return errNotFound
	}
	return nil
}

// reload reads the object again after a conflict, and computes the migration from client-side apply again.
func (a *applyOperation) reload(ctx context.Context) error {
	live, err := a.cluster.Get(ctx, a.target.kind, a.target.namespace, a.target.name)
	if err != nil && !cluster.IsCode(err, http.StatusNotFound) {
		return err
	}
	if a.exists, a.live = err == nil, live; !a.exists {
		a.takeover, a.previousManagers, a.simulatedEntries = takeoverNone, nil, nil
	}
	if err := a.checkExistence(a.exists); err != nil || a.takeover != takeoverInApply && a.simulatedEntries == nil {
		return err
	}
	_, moved, err := a.target.computeMove(ctx, a.cluster, a.live, takeOver(a.manager))
	if err != nil {
		return withoutTarget(err)
	}
	if a.takeover == takeoverInApply {
		a.live.Entries = moved.Entries
		return nil
	}
	a.original, a.simulatedEntries = a.live, moved.Entries // safe to replace, because nothing has been written yet
	return nil
}

// withPrecondition returns the configuration with a precondition: metadata.uid or metadata.resourceVersion, as selected by
// name, is set to the value that was read. If no object was found, the value is unusedRevision.
func (a *applyOperation) withPrecondition(name string) document.Value {
	value := document.NewString(unusedRevision)
	if a.exists {
		value = a.live.Document.Lookup("metadata", name)
	}
	return a.config.With("metadata", a.config.Get("metadata").With(name, value))
}

// withoutPrecondition returns doc, the result of a dry run. If the dry run creates the object, the result contains the
// resourceVersion of the precondition, which withoutPrecondition removes.
func (a *applyOperation) withoutPrecondition(doc document.Value) document.Value {
	if a.exists {
		return doc
	}
	return doc.With("metadata", doc.Get("metadata").Without("resourceVersion"))
}

// sendWithExistenceCheck applies with a precondition. After a conflict, it reads the object to determine whether
// --only-create or --only-update was violated, which the response does not state. For --only-create, the server may instead
// report field conflicts with the existing object.
func (a *applyOperation) sendWithExistenceCheck(ctx context.Context, name string, dryRun bool) (apply.Object, error) {
	after, err := a.sendWithPrecondition(ctx, name, a.force, dryRun)
	if !cluster.IsCode(err, http.StatusConflict) || isApplyConflict(err) && a.onlyUpdate {
		return after, err
	}
	_, now := a.cluster.Get(ctx, a.target.kind, a.target.namespace, a.target.name)
	if now != nil && !cluster.IsCode(now, http.StatusNotFound) {
		return after, err
	}
	if violation := a.checkExistence(now == nil); violation != nil {
		return after, violation
	}
	return after, err
}
