package cli

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// migrationRun migrates objects in parallel. In a dry run, write is false.
type migrationRun struct {
	cluster *cluster.Cluster
	// to is the field manager that receives the fields. move computes the migration of one object.
	to   string
	move func(apply.Object) (ownership.Result, error)
	// includesUntracked reports whether an object without managedFields is migrated.
	includesUntracked func(apply.Object) bool
	parallel          int
	write             bool
	progress          *progress
	// printResult prints the result of one object; it may be nil. It is called in the order of the objects.
	printResult func(result) error
	// stop cancels the context of the run with a cause.
	stop context.CancelCauseFunc
}

// takeOver returns a function that computes the move of the fields of client-side apply to an applier.
func takeOver(applier string) func(apply.Object) (ownership.Result, error) {
	return func(o apply.Object) (ownership.Result, error) { return ownership.TakeOver(o, applier) }
}

// migrateAll migrates the objects and returns the report. It stops if the server does not respond or the context is
// cancelled; objects that were listed but not attempted are part of the report.
func (r migrationRun) migrateAll(ctx context.Context, found objects) *migrationReport {
	report := &migrationReport{to: r.to}
	record := func(index int, res result) { r.record(report, index, res) }
	var group errgroup.Group
	group.SetLimit(r.parallel)
	index := 0
	for f, err := range found {
		at := index
		switch {
		case f.target.name == "" && (ctx.Err() != nil || isServerLost(err)): // the list is incomplete
			report.listIncomplete = true
			r.stop(err)
			continue
		case ctx.Err() != nil:
			record(at, result{target: f.target, outcome: notAttempted})
		case err != nil:
			record(at, r.failedResult(f.target, err))
		default:
			group.Go(func() error {
				record(at, r.migrateOne(ctx, f))
				r.progress.step()
				return nil
			})
		}
		index++
	}
	_ = group.Wait() // the report contains the errors
	r.progress.clearBar()
	report.stopped = context.Cause(ctx)
	report.sort()
	return report
}

// record adds res, the result of the object at index, to the report and prints it. If the result cannot be printed, record
// stops the run, because later results would be lost, too.
func (r migrationRun) record(report *migrationReport, index int, res result) {
	r.progress.withoutBar(func() {
		if err := report.add(index, res, r.printResult); err != nil {
			r.stop(err)
		}
	})
}

// failedResult returns the result for the object t, which was not migrated because of err. If err means that the server
// does not respond, failedResult also stops the run.
func (r migrationRun) failedResult(t target, err error) result {
	var noResponse *cluster.NoResponseError
	switch {
	case !errors.As(err, &noResponse):
		return result{target: t, outcome: failedMigration, err: err}
	case noResponse.OutcomeUnknown:
		r.stop(err)
		return result{target: t, outcome: outcomeUnknown}
	}
	r.stop(err)
	return result{target: t, outcome: notAttempted}
}

// migrateOne migrates one object and returns its result.
func (r migrationRun) migrateOne(ctx context.Context, f foundObject) result {
	if ctx.Err() != nil {
		return result{target: f.target, outcome: notAttempted} // the run was stopped while the object was queued
	}
	done, err := r.migrateWithRetry(ctx, f)
	if err != nil {
		return r.failedResult(f.target, err)
	}
	return done
}

// migrateWithRetry migrates one object. After a conflict it reads the object again and retries.
func (r migrationRun) migrateWithRetry(ctx context.Context, f foundObject) (result, error) {
	for attempt := 0; ; attempt++ {
		done, err := r.attemptMigration(ctx, f)
		if !retryAfterConflict(ctx, err, attempt) {
			return done, err
		}
		if f.object, err = f.target.get(ctx, r.cluster); err != nil {
			return result{}, err
		}
	}
}

func (r migrationRun) attemptMigration(ctx context.Context, f foundObject) (result, error) {
	object, err := f.object, error(nil)
	if isUntracked(object) && r.includesUntracked(object) {
		if object, err = f.target.withInitialEntry(ctx, r.cluster, object); err != nil {
			return result{}, err
		}
	}
	object, moved, err := f.target.computeMove(ctx, r.cluster, object, r.move)
	if err != nil {
		return result{}, err
	}
	done := result{target: f.target, outcome: wouldMigrate, moves: moved.Moves, annotationEntry: moved.LastAppliedEntry}
	switch {
	case moved.NoOp():
		done.outcome = nothingToDo
		return done, nil
	case !r.write:
		return done, nil
	}
	if err := f.target.writeManagedFields(ctx, r.cluster, object, moved.Entries); err != nil {
		return result{}, err
	}
	done.outcome = migrated
	return done, nil
}
