package leaderelection

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/internal/registry"
)

// Elector is a candidate in a leader election.
type Elector struct {
	Objects *registry.Registry
	// Namespace and Name identify the Lease. Identity is the unique name of this candidate.
	Namespace, Name, Identity string
	// User is the user that writes the Lease. Manager is the field manager of these writes.
	User    user.Info
	Manager string
	// Duration is the lifetime of a Lease that is not renewed, in whole seconds; 0 means 15 s. Deadline is the time after
	// the last renewal at which a leader stops leading; 0 means two thirds of Duration. Retry is the interval of renewals
	// and of attempts to acquire the Lease; 0 means an eighth of Duration.
	Duration, Deadline, Retry time.Duration
	Log                       *slog.Logger

	// observed is the content of the Lease that was read or written last. observedAt is the local time at which that content was
	// first observed.
	observed   record
	observedAt time.Time
}

const defaultDuration = 15 * time.Second

// setDefaults replaces zero durations with their defaults.
func (e *Elector) setDefaults() {
	if e.Duration == 0 {
		e.Duration = defaultDuration
	}
	if e.Deadline == 0 {
		e.Deadline = e.Duration * 2 / 3
	}
	if e.Retry == 0 {
		e.Retry = e.Duration / 8
	}
}

// Run calls lead whenever this candidate becomes the leader, and cancels the context of the call when the candidate stops
// leading. It acquires the Lease again only after lead has returned. Run returns when its own context ends, after
// releasing the Lease.
func (e *Elector) Run(ctx context.Context, lead func(context.Context)) {
	e.setDefaults()
	for ctx.Err() == nil {
		if !e.acquire(ctx) {
			return
		}
		e.Log.Info("became leader of the controllers", "identity", e.Identity)
		e.leadUntilLost(ctx, lead)
		if ctx.Err() == nil {
			e.Log.Warn("lost leadership of the controllers: the lease could not be renewed in time", "identity", e.Identity)
		}
	}
	e.release(context.WithoutCancel(ctx))
}

// acquire waits until this candidate holds the Lease. It returns false when the context ends.
func (e *Elector) acquire(ctx context.Context) bool {
	for {
		if e.tryAcquireOrRenew(ctx) {
			return true
		}
		// Jitter, so that candidates do not retry at the same time and cause conflicts.
		if !sleep(ctx, e.Retry+rand.N(e.Retry/4+1)) {
			return false
		}
	}
}

// leadUntilLost runs lead and renews the Lease. It returns when the Lease was not renewed in time or the context has
// ended, after lead has returned.
func (e *Elector) leadUntilLost(ctx context.Context, lead func(context.Context)) {
	leading, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { lead(leading) })
	for {
		over := e.observedAt.Add(e.Deadline)
		for {
			if !sleep(ctx, min(e.Retry, time.Until(over))) {
				return
			}
			attempt, cancel := context.WithDeadline(ctx, over)
			isHeld := e.tryAcquireOrRenew(attempt)
			cancel()
			if isHeld {
				break
			}
			if e.observed.holder != e.Identity || !time.Now().Before(over) {
				return
			}
		}
	}
}

// tryAcquireOrRenew acquires or renews the Lease if it is free, expired or held by this candidate. It reports whether it has
// written the Lease, that is, whether this candidate holds the Lease. It logs errors.
func (e *Elector) tryAcquireOrRenew(ctx context.Context) bool {
	begun := time.Now()
	now, err := e.read(ctx)
	if err != nil {
		return e.logFailure(ctx, err)
	}
	if now != e.observed || e.observedAt.IsZero() {
		e.observed, e.observedAt = now, begun
	}
	isMine := now.holder == e.Identity
	if !isMine && now.holder != "" && begun.Before(e.observedAt.Add(time.Duration(now.seconds)*time.Second)) {
		return false
	}
	next := record{
		holder: e.Identity, seconds: int64(e.Duration / time.Second), resourceVersion: now.resourceVersion,
		acquired: now.acquired, renewed: timeText(e.Objects.Now()), transitions: now.transitions,
	}
	if !isMine {
		next.acquired = next.renewed
		if now.resourceVersion != "" {
			next.transitions++
		}
	}
	if err := e.write(ctx, next); err != nil {
		return e.logFailure(ctx, err)
	}
	e.observed, e.observedAt = next, begun
	return true
}

// logFailure logs an error of a read or write of the Lease, unless the context has ended or another candidate has written
// the Lease first. It always returns false, the result of tryAcquireOrRenew.
func (e *Elector) logFailure(ctx context.Context, err error) bool {
	if ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		e.Log.Warn("cannot acquire or renew the leader election lease; retrying", "error", err)
	}
	return false
}

// releaseTimeout is the maximum time that a stopping leader spends on releasing the Lease.
const releaseTimeout = 2 * time.Second

// release clears the holder of the Lease if this candidate is the holder, so that other candidates need not wait until the Lease
// expires. It logs errors.
func (e *Elector) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	now, err := e.read(ctx)
	if err != nil || now.holder != e.Identity {
		return
	}
	now.holder, now.seconds = "", 1
	now.renewed = timeText(e.Objects.Now())
	now.acquired = now.renewed
	if err := e.write(ctx, now); err != nil {
		e.logFailure(ctx, err)
	}
}

// sleep waits for the duration. It returns false if the context ends first.
func sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
