package cli

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/cadastre/cadastre/internal/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// migrationRun migrates objects.
type migrationRun struct {
	cluster   *cluster.Cluster
	migration ownership.Migration
	parallel  int
	write     bool
	progress  progress
}

// all migrates what is found, several at once, and tells what became of each.
func (r migrationRun) all(ctx context.Context, found objects) *migrationReport {
	report := &migrationReport{to: r.migration.To}
	var group errgroup.Group
	group.SetLimit(r.parallel)
	for f, err := range found {
		if err == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			report.add(result{target: f.target, outcome: failedOutcome, err: err})
			if ctx.Err() != nil {
				break
			}
			continue
		}
		group.Go(func() error {
			r.progress.at(report.add(r.one(ctx, f)))
			return nil
		})
	}
	_ = group.Wait() // what failed is in the report
	r.progress.end()
	report.sort()
	return report
}

// one migrates an object; when somebody else has written it since it was read, it is read again.
func (r migrationRun) one(ctx context.Context, f found) result {
	for race := 0; ; race++ {
		done, err := r.try(ctx, f)
		if isLostRace(err, race) {
			if f.object, err = f.target.get(ctx, r.cluster); err == nil {
				continue
			}
		}
		if err != nil {
			return result{target: f.target, outcome: failedOutcome, err: err}
		}
		return done
	}
}

func (r migrationRun) try(ctx context.Context, f found) (result, error) {
	moved, err := ownership.Migrate(f.object, r.migration)
	if err != nil {
		return result{}, fmt.Errorf("%s: %w", f.target, err)
	}
	done := result{target: f.target, outcome: wouldMigrate, moves: moved.Moves}
	switch {
	case moved.NoOp():
		done.outcome = nothingToDo
		return done, nil
	case !r.write:
		return done, nil
	}
	if err := f.target.writeOwners(ctx, r.cluster, f.object, moved.Entries); err != nil {
		return result{}, err
	}
	done.outcome = migrated
	return done, nil
}
