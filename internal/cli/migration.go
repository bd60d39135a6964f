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
	beforeManagers func(apply.Object) bool
	parallel       int
	write          bool
	progress       *progress
	// tell tells what became of an object as soon as that of those before it is told; nil tells nobody.
	tell func(result) error
	// stop ends the context of the run, and says why.
	stop context.CancelCauseFunc
}

// takeOver has an applier take over what client-side apply wrote.
func takeOver(applier string) func(apply.Object) (ownership.Result, error) {
	return func(o apply.Object) (ownership.Result, error) { return ownership.TakeOver(o, applier) }
}

// all migrates what is found, several at once, and tells what became of each. When the server is gone, or nobody
// waits any more, it stops: what is known and was not done is told, too.
func (r migrationRun) all(ctx context.Context, found objects) *migrationReport {
	report := &migrationReport{to: r.to}
	note := func(place int, one result) { r.note(report, place, one) }
	var group errgroup.Group
	group.SetLimit(r.parallel)
	place := 0
	for f, err := range found {
		at := place
		switch {
		case f.target.name == "" && (ctx.Err() != nil || isLost(err)): // the list ended before its end
			report.more = true
			r.stop(err)
			continue
		case ctx.Err() != nil:
			note(at, result{target: f.target, outcome: notDone})
		case err != nil:
			note(at, r.failed(f.target, err))
		default:
			group.Go(func() error {
				note(at, r.one(ctx, f))
				r.progress.step()
				return nil
			})
		}
		place++
	}
	_ = group.Wait() // what failed is in the report
	r.progress.end()
	report.stopped = context.Cause(ctx)
	report.sort()
	return report
}

// note adds a result to the report. If it can't be told, nothing more is done: nobody would know.
func (r migrationRun) note(report *migrationReport, place int, one result) {
	r.progress.aside(func() {
		if err := report.add(place, one, r.tell); err != nil {
			r.stop(err)
		}
	})
}

// failed is what became of an object that was not migrated. If that is because the server is gone, all stops.
func (r migrationRun) failed(t target, err error) result {
	var lost *cluster.NoAnswerError
	switch {
	case !errors.As(err, &lost):
		return result{target: t, outcome: failedOutcome, err: err}
	case lost.MayBeDone:
		r.stop(err)
		return result{target: t, outcome: mayBeDone}
	}
	r.stop(err)
	return result{target: t, outcome: notDone}
}

// one migrates an object, and tells what became of it.
func (r migrationRun) one(ctx context.Context, f found) result {
	if ctx.Err() != nil {
		return result{target: f.target, outcome: notDone} // it was stopped while this one waited
	}
	done, err := r.untilWritten(ctx, f)
	if err != nil {
		return r.failed(f.target, err)
	}
	return done
}

// untilWritten migrates an object; when somebody else has written it since it was read, it is read again.
func (r migrationRun) untilWritten(ctx context.Context, f found) (result, error) {
	for race := 0; ; race++ {
		done, err := r.try(ctx, f)
		if !again(ctx, err, race) {
			return done, err
		}
		if f.object, err = f.target.get(ctx, r.cluster); err != nil {
			return result{}, err
		}
	}
}

func (r migrationRun) try(ctx context.Context, f found) (result, error) {
	object, err := f.object, error(nil)
	if isUntracked(object) && r.beforeManagers(object) {
		if object, err = f.target.tracked(ctx, r.cluster, object); err != nil {
			return result{}, err
		}
	}
	object, moved, err := f.target.moved(ctx, r.cluster, object, r.move)
	if err != nil {
		return result{}, err
	}
	done := result{target: f.target, outcome: wouldMigrate, moves: moved.Moves, keeper: moved.LastAppliedEntry}
	switch {
	case moved.NoOp():
		done.outcome = nothingToDo
		return done, nil
	case !r.write:
		return done, nil
	}
	if err := f.target.writeOwners(ctx, r.cluster, object, moved.Entries); err != nil {
		return result{}, err
	}
	done.outcome = migrated
	return done, nil
}
