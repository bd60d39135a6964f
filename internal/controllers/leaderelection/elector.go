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

// Elector takes part in an election.
type Elector struct {
	Objects *registry.Registry
	// Namespace and Name are those of the lease, Identity is who takes part: no two may have the same.
	Namespace, Name, Identity string
	// User is who writes the lease, Manager as whom it is known in managedFields.
	User    user.Info
	Manager string
	// Duration is how long a lease holds that is not renewed; 0 means 15 s. It has whole seconds.
	// Deadline is after how long the holder gives up that can't renew it; 0 means two thirds of it.
	// Retry is how often it is renewed, or tried for; 0 means an eighth of it.
	Duration, Deadline, Retry time.Duration
	Log                       *slog.Logger

	// seen is the last record that was seen to differ from the one before, at the time when it was.
	seen   record
	seenAt time.Time
}

const defaultDuration = 15 * time.Second

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

// Run has lead called whenever this one leads, and its context end when that is over; the next time comes only after it has returned. Run
// returns when its context ends; then the lease is given back.
func (e *Elector) Run(ctx context.Context, lead func(context.Context)) {
	e.setDefaults()
	for ctx.Err() == nil {
		if !e.acquire(ctx) {
			return
		}
		e.Log.Info("this server leads the controllers", "identity", e.Identity)
		e.leadWhile(ctx, lead)
		if ctx.Err() == nil {
			e.Log.Warn("this server no longer leads the controllers: it could not renew the lease", "identity", e.Identity)
		}
	}
	e.release(context.WithoutCancel(ctx))
}

// acquire waits until the lease is held by this one. It reports false when the context ends.
func (e *Elector) acquire(ctx context.Context) bool {
	for {
		if e.tryHold(ctx) {
			return true
		}
		// Not all at once: those who wait would keep each other from it.
		if !sleep(ctx, e.Retry+rand.N(e.Retry/4+1)) {
			return false
		}
	}
}

// leadWhile leads as long as the lease is renewed in time.
func (e *Elector) leadWhile(ctx context.Context, lead func(context.Context)) {
	leading, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { lead(leading) })
	for {
		over := e.seenAt.Add(e.Deadline)
		for {
			if !sleep(ctx, min(e.Retry, time.Until(over))) {
				return
			}
			attempt, cancel := context.WithDeadline(ctx, over)
			isHeld := e.tryHold(attempt)
			cancel()
			if isHeld {
				break
			}
			if e.seen.holder != e.Identity || !time.Now().Before(over) {
				return
			}
		}
	}
}

// tryHold takes the lease or renews it, if it is free or held by this one. It reports whether it is held by
// this one then.
func (e *Elector) tryHold(ctx context.Context) bool {
	begun := time.Now()
	now, err := e.read(ctx)
	if err != nil {
		return e.failed(ctx, err)
	}
	if now != e.seen || e.seenAt.IsZero() {
		e.seen, e.seenAt = now, begun
	}
	isMine := now.holder == e.Identity
	if !isMine && now.holder != "" && begun.Before(e.seenAt.Add(time.Duration(now.seconds)*time.Second)) {
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
		return e.failed(ctx, err)
	}
	e.seen, e.seenAt = next, begun
	return true
}

func (e *Elector) failed(ctx context.Context, err error) bool {
	if ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		e.Log.Warn("cannot take part in the election of who leads the controllers", "error", err)
	}
	return false
}

// releaseTime is how long giving back may take.
const releaseTime = 2 * time.Second

// release gives the lease back, so that nobody has to wait until it is over.
func (e *Elector) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	now, err := e.read(ctx)
	if err != nil || now.holder != e.Identity {
		return
	}
	now.holder, now.seconds = "", 1
	now.renewed = timeText(e.Objects.Now())
	now.acquired = now.renewed
	if err := e.write(ctx, now); err != nil {
		e.failed(ctx, err)
	}
}

// sleep reports whether there was the time for it.
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
