package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cadastre/cadastre/apply"
)

// A server can be asked what an apply would do, but not what it would do after a migration that is not done. So
// what the server answers is taken, and the engine applies the configuration to it once more, with the owners that
// the migration would leave: what the applier owns then and leaves out goes.
//
//	live    data: {key, legacy}   client-side apply owns both
//	server  data: {key, legacy}   as it answers a dry run: legacy is somebody else's
//	result  data: {key}           legacy would be the applier's own, and it leaves it out

// foresee tells what applying would do after the migration, from what it would do without.
func (a *application) foresee(ctx context.Context, answer apply.Object) (apply.Object, error) {
	version := a.target.kind.APIVersion()
	if i := slices.IndexFunc(a.foreseen, func(e apply.Entry) bool { return e.APIVersion != version }); i >= 0 {
		return answer, fmt.Errorf("a dry run can't tell what applying removes after the migration, as %s owns fields at %s; migrate first",
			who(a.foreseen[i]), a.foreseen[i].APIVersion)
	}
	t, err := a.cluster.Topology(ctx, a.target.kind)
	if err != nil {
		return answer, fmt.Errorf("a dry run can't tell what applying removes after the migration; migrate first: %w", err)
	}
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion(version, t), Unset: true})
	if err != nil {
		return answer, err
	}
	result, err := engine.Apply(apply.Object{Document: answer.Document, Entries: a.foreseen}, a.config,
		apply.Request{Manager: a.manager, Version: version, Time: time.Now(), Force: true})
	return result.Object, err
}

// inTheWay leaves out the conflicts with those whose entries a foreseen migration removes.
func (a *application) inTheWay(all []conflict) []conflict {
	if a.foreseen == nil {
		return all
	}
	var some []conflict
	for _, c := range all {
		known := len(c.owners) > 0
		c.owners = slices.DeleteFunc(c.owners, func(e apply.Entry) bool { return !slices.Contains(a.foreseen, e) })
		if len(c.owners) > 0 || !known {
			some = append(some, c)
		}
	}
	return some
}
