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

// takeoverMode is the strategy that moves the fields of client-side apply to the applier:
//
//	takeoverInApply      the server migrates in the same write as the apply (a Cadastre extension)
//	takeoverBeforeApply  managedFields are rewritten, then the configuration is applied; if that fails, managedFields are
//	                     restored
//	takeoverAfterApply   the object has no managedFields, and its first apply creates the entry before-first-apply: the
//	                     configuration is applied, managedFields are rewritten, and the configuration is applied again
//	                     to remove fields, like kubectl
type takeoverMode uint8

const (
	takeoverNone takeoverMode = iota
	takeoverInApply
	takeoverBeforeApply
	takeoverAfterApply
)

// chooseTakeover selects the strategy, and determines the field managers that lose fields.
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

// releasingManagers returns the sorted names of the field managers that release fields.
func releasingManagers(moves []ownership.Move) []string {
	var names []string
	for _, m := range moves {
		names = append(names, m.From.Manager)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// transferThenApply rewrites managedFields and then applies. A dry run first detects errors before anything is written. If
// the apply fails nevertheless, managedFields are restored.
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
	after, err := a.applyWithRetry(ctx, false)
	if err != nil {
		return after, a.restoreOwnership(ctx, transferred, original, err)
	}
	a.ownersRewritten = false
	return after, nil
}

// checkApplySucceeds simulates the apply after the migration. It returns the error with which the apply would fail; nil if
// the simulation succeeds.
func (a *applyOperation) checkApplySucceeds(ctx context.Context) error {
	after, err := a.applyWithRetry(ctx, true)
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

// isValidationError reports whether the server rejected an object as invalid, with causes that name fields.
func isValidationError(err error) bool {
	var refused *cluster.Error
	return errors.As(err, &refused) && refused.Code == http.StatusUnprocessableEntity && len(refused.Causes) > 0
}

// mayPassAfterMigration reports whether the error of a dry run might not occur after the migration: it may be caused by
// fields that the migration will remove, or by a webhook that does not support dry runs.
func mayPassAfterMigration(err error) bool {
	var refused *cluster.Error
	return errors.As(err, &refused) && slices.Contains([]int{http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError}, refused.Code)
}

// transferOwnership rewrites managedFields and returns the previous managed fields entries. On success, a.live is the object
// with the new entries.
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

// restoreOwnership restores the original managed fields entries of transferred after an apply to it has failed with the
// error refused. It restores nothing if the object has changed since the transfer. It returns refused, with the reason
// if the entries could not be restored.
func (a *applyOperation) restoreOwnership(ctx context.Context, transferred apply.Object, original []apply.Entry, refused error) error {
	if isServerLost(refused) {
		return refused // further requests would not succeed either
	}
	if err := a.target.writeManagedFields(ctx, a.cluster, transferred, original); err != nil {
		return fmt.Errorf("%w; managedFields could not be restored: %w", refused, withoutTarget(err))
	}
	a.ownersRewritten = false
	return refused
}

// applyThenTransfer applies, rewrites managedFields, and applies again to remove the fields that the configuration does not
// contain.
func (a *applyOperation) applyThenTransfer(ctx context.Context) (apply.Object, error) {
	after, err := a.applyWithRetry(ctx, a.dryRun)
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
		return after, fmt.Errorf("applied, but the fields of client-side apply could not be taken over; apply again: %w", withoutTarget(err))
	}
	after, err = a.applyWithRetry(ctx, false)
	if refused := (*conflictsError)(nil); errors.As(err, &refused) {
		err = errors.New(refused.Error()) // conflicts with a concurrent writer; their table is printed only if nothing was applied
	}
	if err != nil {
		return after, fmt.Errorf("applied, but fields that the configuration does not contain could not be removed; apply again: %w", err)
	}
	return after, nil
}
