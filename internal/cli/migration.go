package cli

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// migrationRun migrates objects.
type migrationRun struct {
	cluster *cluster.Cluster
	// to is the applier that gets the fields, and move how it does.
	to   string
	move func(apply.Object) (ownership.Result, error)
	// beforeManagers reports whether what nobody owns of an object is meant, too.
	includesUntracked func(apply.Object) bool
	parallel          int
	write             bool
	progress          *progress
	// tell tells what became of an object as soon as that of those before it is told; nil tells nobody.
	printResult func(result) error
	// stop ends the context of the run, and says why.
	stop context.CancelCauseFunc
}

// takeOver has an applier take over what client-side apply wrote.
func takeOver(applier string) func(apply.Object) (ownership.Result, error) {
	return func(o apply.Object) (ownership.Result, error) { return ownership.TakeOver(o, applier) }
}

// all migrates what is found, several at once, and tells what became of each. When the server is gone, or nobody
// waits any more, it stops: what is known and was not done is told, too.
func (r migrationRun) migrateAll(ctx context.Context, found objects) *migrationReport {
	report := &migrationReport{to: r.to}
	record := func(place int, migrateOne result) { r.record(report, place, migrateOne) }
	var group errgroup.Group
	group.SetLimit(r.parallel)
	place := 0
	for f, err := range found {
		at := place
		switch {
		case f.target.name == "" && (ctx.Err() != nil || isServerLost(err)): // the list ended before its end
			report.listIncomplete = true
			r.stop(err)
			continue
		case ctx.Err() != nil:
			record(at, result{target: f.target, outcome: notAttempted})
		case err != nil:
			record(at, r.failed(f.target, err))
		default:
			group.Go(func() error {
				record(at, r.migrateOne(ctx, f))
				r.progress.step()
				return nil
			})
		}
		place++
	}
	_ = group.Wait() // what failed is in the report
	r.progress.clearBar()
	report.stopped = context.Cause(ctx)
	report.sort()
	return report
}

// note adds a result to the report. If it can't be told, nothing more is done: nobody would know.
func (r migrationRun) record(report *migrationReport, place int, migrateOne result) {
	r.progress.withoutBar(func() {
		if err := report.add(place, migrateOne, r.printResult); err != nil {
			r.stop(err)
		}
	})
}

// failed is what became of an object that was not migrated. If that is because the server is gone, all stops.
func (r migrationRun) failed(t target, err error) result {
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

// one migrates an object, and tells what became of it.
func (r migrationRun) migrateOne(ctx context.Context, f foundObject) result {
	if ctx.Err() != nil {
		return result{target: f.target, outcome: notAttempted} // it was stopped while this one waited
	}
	done, err := r.migrateWithRetry(ctx, f)
	if err != nil {
		return r.failed(f.target, err)
	}
	return done
}

// untilWritten migrates an object; when somebody else has written it since it was read, it is read again.
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
		if object, err = f.target.tracked(ctx, r.cluster, object); err != nil {
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
