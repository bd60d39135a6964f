package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// What client-side apply wrote goes to the applier as the server allows:
//
//	at once      the server does it in the same write as it applies
//	before       the owners are rewritten, and then it is applied; if it can't be, they are put back
//	afterwards   nobody owns anything yet, and it is the apply that makes an owner of what is there: so it is applied,
//	             the owners are rewritten, and it is applied once more, as kubectl does
type takeoverMode uint8

const (
	takeoverNone takeoverMode = iota
	takeoverInApply
	takeoverBeforeApply
	takeoverAfterApply
)

// chooseTakingOver finds out how, and whose fields they are.
func (a *applyOperation) chooseTakeover(ctx context.Context) error {
	if !a.exists || a.migrationOff {
		return nil
	}
	_, moved, err := a.target.computeMove(ctx, a.cluster, a.live, takeOver(a.manager))
	if err != nil {
		return err
	}
	untracked := isUntracked(a.live) && lastApplied(a.live.Document) != ""
	switch {
	case moved.NoOp() && !untracked:
		return nil
	case a.cluster.SupportsTakeover(ctx, a.target.kind):
		a.takeover, a.live.Entries = takeoverInApply, moved.Entries
	case untracked:
		a.takeover = takeoverAfterApply
	default:
		a.takeover, a.simulatedEntries = takeoverBeforeApply, moved.Entries
	}
	if a.previousManagers = releasingManagers(moved.Moves); untracked {
		a.previousManagers = []string{apply.BeforeFirstApply}
	}
	return nil
}

// giversOf names who gave something up.
func releasingManagers(moves []ownership.Move) []string {
	var names []string
	for _, m := range moves {
		names = append(names, m.From.Manager)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// handOverAndApply rewrites the owners, and applies. What can be known to fail before does so before anything is written.
func (a *applyOperation) transferThenApply(ctx context.Context) (apply.Object, error) {
	if err := a.checkApplySucceeds(ctx); err != nil {
		return apply.Object{}, err
	}
	a.simulatedEntries = nil
	original, err := a.transferOwnership(ctx)
	if err != nil {
		return apply.Object{}, withoutTarget(err)
	}
	a.ownersRewritten = true
	transferred := a.live
	after, err := a.attempt(ctx, false)
	if err != nil {
		return after, a.restoreOwnership(ctx, transferred, original, err)
	}
	a.ownersRewritten = false
	return after, nil
}

// failsForeseeably is why applying would fail after the migration, as far as that can be told; nil if nothing is known to be
// in the way.
func (a *applyOperation) checkApplySucceeds(ctx context.Context) error {
	after, err := a.attempt(ctx, true)
	if err == nil || isValidationError(err) {
		if _, err = a.simulateMigration(ctx, after, err); isValidationError(err) {
			return err
		}
		return nil
	}
	if mayPassAfterMigration(err) {
		return nil
	}
	return err
}

// isInvalid reports whether an object was refused for what it is, which a server says field by field.
func isValidationError(err error) bool {
	var refused *cluster.Error
	return errors.As(err, &refused) && refused.Code == http.StatusUnprocessableEntity && len(refused.Causes) > 0
}

// mayPassLater reports whether what a dry run was refused for may be different after the migration: an object may be
// invalid with what goes then, and some webhooks take no dry runs.
func mayPassAfterMigration(err error) bool {
	var refused *cluster.Error
	return errors.As(err, &refused) && slices.Contains([]int{http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError}, refused.Code)
}

// handOver rewrites the owners, and returns those before. The object is then the one with the new ones.
func (a *applyOperation) transferOwnership(ctx context.Context) (original []apply.Entry, err error) {
	for attempt := 0; ; attempt++ {
		object, moved, err := a.target.computeMove(ctx, a.cluster, a.live, takeOver(a.manager))
		if err != nil || moved.NoOp() {
			return object.Entries, err
		}
		original = object.Entries
		if err = a.target.writeManagedFields(ctx, a.cluster, object, moved.Entries); err != nil && !retryAfterConflict(ctx, err, attempt) {
			return nil, err
		}
		var getErr error
		if a.live, getErr = a.target.get(ctx, a.cluster); getErr != nil || err == nil {
			return original, getErr
		}
	}
}

// putBack gives an object that could not be applied to the owners back that it had, unless somebody has written it since.
func (a *applyOperation) restoreOwnership(ctx context.Context, transferred apply.Object, original []apply.Entry, refused error) error {
	if isServerLost(refused) {
		return refused // and there is nobody to ask
	}
	if err := a.target.writeManagedFields(ctx, a.cluster, transferred, original); err != nil {
		return fmt.Errorf("%w; the owners could not be put back: %w", refused, withoutTarget(err))
	}
	a.ownersRewritten = false
	return refused
}

// applyAndHandOver applies, rewrites the owners that are known then, and applies once more, so that what is left out goes.
func (a *applyOperation) applyThenTransfer(ctx context.Context) (apply.Object, error) {
	after, err := a.attempt(ctx, a.dryRun)
	if err != nil {
		return after, err
	}
	_, moved, err := a.target.computeMove(ctx, a.cluster, after, takeOver(a.manager))
	switch {
	case err != nil, moved.NoOp():
		return after, withoutTarget(err)
	case a.dryRun:
		a.simulatedEntries = moved.Entries
		return a.simulateMigration(ctx, after, nil)
	}
	a.live = after
	if _, err := a.transferOwnership(ctx); err != nil {
		return after, fmt.Errorf("it was applied, but what client-side apply wrote could not be taken over; apply again: %w", withoutTarget(err))
	}
	after, err = a.attempt(ctx, false)
	if refused := (*conflictsError)(nil); errors.As(err, &refused) {
		err = errors.New(refused.Error()) // with somebody who came in between; the table is for what is not applied
	}
	if err != nil {
		return after, fmt.Errorf("it was applied, but what it leaves out could not be removed; apply again: %w", err)
	}
	return after, nil
}
