package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/ownership"
)

// forcedPaths are the paths of --force-path, and what use they are of, to any of the objects.
type forcedPaths []*forcedPath

type forcedPath struct {
	written ownership.PathExpression
	// applied says that a configuration has something there, forced that a conflict was there, and missed that
	// others were in the way.
	applied, forced, missed bool
	// problem is why it means nothing in an object with conflicts.
	problem error
}

func newForcedPaths(written []ownership.PathExpression) forcedPaths {
	all := make(forcedPaths, len(written))
	for i, w := range written {
		all[i] = &forcedPath{written: w}
	}
	return all
}

// note finds those where a configuration has something.
func (f forcedPaths) note(config document.Value) {
	for _, p := range f {
		p.applied = p.applied || p.written.IsIn(config)
	}
}

// left are those of an object's conflicts that may not be forced.
func (f forcedPaths) left(live apply.Object, all []conflict) []conflict {
	if len(all) == 0 {
		return nil
	}
	left := all
	for _, p := range f {
		isThere := p.in(live)
		p.forced = p.forced || slices.ContainsFunc(all, isThere)
		left = slices.DeleteFunc(slices.Clone(left), isThere)
	}
	for _, p := range f {
		p.missed = p.missed || len(left) > 0
	}
	return left
}

// in tells which conflicts of an object are at the path: none if it means nothing there.
func (p *forcedPath) in(live apply.Object) func(conflict) bool {
	path, err := p.written.Resolve(live)
	if err != nil {
		p.problem = err
		return func(conflict) bool { return false }
	}
	return func(c conflict) bool { return c.isIn(path) }
}

// tell tells of those that are of no use, and why.
func (f forcedPaths) tell(w io.Writer) {
	for _, p := range f {
		switch {
		case p.forced:
		case !p.applied:
			fmt.Fprintf(w, "--force-path %s: nothing that is applied is there, so that there is nothing to take over\n", p.written)
		case p.problem != nil:
			fmt.Fprintf(w, "--force-path: %v\n", p.problem)
		case p.missed:
			fmt.Fprintf(w, "--force-path %s: no conflict is there\n", p.written)
		}
	}
}
