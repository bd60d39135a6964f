package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// ownersManager is the manager that changes of owners are written as. It never owns anything: no value changes.
const managedFieldsWriter = "cadastre"

// writeOwners gives an object other entries, provided that nobody has written it since it was read.
func (t target) writeManagedFields(ctx context.Context, c *cluster.Cluster, read apply.Object, entries []apply.Entry) error {
	patch, err := ownership.Patch(read, entries)
	if err != nil {
		return &targetError{t, err}
	}
	if _, err := c.Patch(ctx, t.kind, t.namespace, t.name, managedFieldsWriter, patch); err != nil {
		return &targetError{t, err}
	}
	return nil
}

// moved tells what a change of owners comes to. Which fields an object has is told at the version of who gets them: if
// that is another one, the object is read again there. It returns the object that this is about.
func (t target) computeMove(ctx context.Context, c *cluster.Cluster, o apply.Object, move func(apply.Object) (ownership.Result, error)) (apply.Object, ownership.Result, error) {
	result, err := move(o)
	if other := (*ownership.OtherVersionError)(nil); errors.As(err, &other) {
		if t, err = t.atVersionOf(ctx, c, other.Entry); err != nil {
			return o, result, err
		}
		if o, err = t.get(ctx, c); err != nil {
			return o, result, err
		}
		result, err = move(o)
	}
	if err != nil {
		return o, result, &targetError{t, err}
	}
	return o, result, nil
}

// atVersionOf is the same object at the version that a manager wrote at.
func (t target) atVersionOf(ctx context.Context, c *cluster.Cluster, e apply.Entry) (target, error) {
	kind, err := c.KindOf(ctx, e.APIVersion, t.kind.Name)
	if err != nil {
		return t, &targetError{t, fmt.Errorf("%s owns fields at %s: %w", entryName(e), e.APIVersion, err)}
	}
	return target{kind, t.namespace, t.name}, nil
}

// Races that are lost: how often an object is read again because somebody else wrote it meanwhile, and how long to wait
// at most before that. Who writes all the time does so between two requests of ours in most tries, not in all.
const (
	maxRetries    = 100
	maxRetryDelay = 100 * time.Millisecond
)

// again reports whether an object has to be read again: somebody else was faster, and not too often. It waits before
// that, at random, so that those who race do not meet again.
func retryAfterConflict(ctx context.Context, err error, attempt int) bool {
	if !cluster.IsCode(err, http.StatusConflict) || attempt >= maxRetries {
		return false
	}
	most := min(time.Millisecond<<min(attempt, 10), maxRetryDelay)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(rand.N(most)):
		return true
	}
}
