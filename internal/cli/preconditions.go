package cli

import (
	"context"
	"errors"
	"net/http"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// Between reading an object and applying to it, somebody may have made it, deleted it, or changed it. Servers refuse what is
// meant for another object in the same step as they would apply it:
//
//	uid              the object that was read, in any state: one that is not there is not made
//	resourceVersion  the object as it was read; the version that no object has: none, so that it is only made

// noRevision is the version of no object: servers count them up from 1.
const unusedRevision = "9223372036854775807"

var (
	errExists   = errors.New("not applied: it is there already, and --only-create was asked for")
	errNotFound = errors.New("not applied: it is not there, and --only-update was asked for")
)

// excluded refuses an object that is there, or is not, if the flags say so.
func (a *applyOperation) checkExistence(exists bool) error {
	switch {
	case exists && a.onlyCreate:
		return errExists
	case !exists && a.onlyUpdate:
		return errNotFound
	}
	return nil
}

// readAgain gets the object after somebody else has written it.
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
	a.original, a.simulatedEntries = a.live, moved.Entries // nothing is done yet
	return nil
}

// asRead says in the configuration that only the object is meant that was read.
func (a *applyOperation) withPrecondition(name string) document.Value {
	value := document.NewString(unusedRevision)
	if a.exists {
		value = a.live.Document.Lookup("metadata", name)
	}
	return a.config.With("metadata", a.config.Get("metadata").With(name, value))
}

// withoutNoRevision is what a dry run would make: it has no version.
func (a *applyOperation) withoutPrecondition(doc document.Value) document.Value {
	if a.exists {
		return doc
	}
	return doc.With("metadata", doc.Get("metadata").Without("resourceVersion"))
}

// sendOrExclude applies to the object that was read. If that is another one now, it is looked whether that is why the
// server refuses: what it answers does not say so. Of one that should not be there it may tell conflicts first.
func (a *applyOperation) sendWithExistenceCheck(ctx context.Context, name string, dryRun bool) (apply.Object, error) {
	after, err := a.sendWithPrecondition(ctx, name, a.force, dryRun)
	if !cluster.IsCode(err, http.StatusConflict) || isApplyConflict(err) && a.onlyUpdate {
		return after, err
	}
	_, now := a.cluster.Get(ctx, a.target.kind, a.target.namespace, a.target.name)
	if now != nil && !cluster.IsCode(now, http.StatusNotFound) {
		return after, err
	}
	if checkExistence := a.checkExistence(now == nil); checkExistence != nil {
		return after, checkExistence
	}
	return after, err
}
