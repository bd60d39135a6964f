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

// managedFieldsWriter is the field manager of writes that only change managedFields. It never owns a field, because
// these writes change no value.
const managedFieldsWriter = "cadastre"

// writeManagedFields replaces the managed fields entries of the target with entries, on the condition that its
// resourceVersion is still that of the object read.
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

// computeMove evaluates move, a change of ownership, without writing it. Fields move at the API version of the managed
// fields entry that receives them; if that version differs from the version of o, computeMove reads the object again at the
// entry's version. It returns the object to which it applied move, and the result.
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

// atVersionOf returns the target at the API version of e, a managed fields entry. It returns an error if the server does not
// serve that version.
func (t target) atVersionOf(ctx context.Context, c *cluster.Cluster, e apply.Entry) (target, error) {
	kind, err := c.KindOf(ctx, e.APIVersion, t.kind.Name)
	if err != nil {
		return t, &targetError{t, fmt.Errorf("%s owns fields at %s: %w", entryName(e), e.APIVersion, err)}
	}
	return target{kind, t.namespace, t.name}, nil
}

// maxRetries is the maximum number of times that an object is read and written again after a conflict. The number is high: a
// client that writes in a tight loop causes a conflict in most attempts, but not in all. maxRetryDelay is the maximum delay
// of the exponential backoff.
const (
	maxRetries    = 100
	maxRetryDelay = 100 * time.Millisecond
)

// retryAfterConflict reports whether a write must be retried: it failed with 409 Conflict and maxRetries is not reached.
// Before it returns true, it sleeps for a random part of the exponential backoff.
func retryAfterConflict(ctx context.Context, err error, attempt int) bool {
	if !cluster.IsCode(err, http.StatusConflict) || attempt >= maxRetries {
		return false
	}
	maxDelay := min(time.Millisecond<<min(attempt, 10), maxRetryDelay)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(rand.N(maxDelay)):
		return true
	}
}
