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
	expression ownership.PathExpression
	// applied says that a configuration has something there, forced that a conflict was there, and missed that
	// others were in the way.
	inConfiguration, forced, conflictsRemained bool
	// problem is why it means nothing in an object with conflicts.
	resolveErr error
}

func newForcedPaths(expression []ownership.PathExpression) forcedPaths {
	all := make(forcedPaths, len(expression))
	for i, w := range expression {
		all[i] = &forcedPath{expression: w}
	}
	return all
}

// note finds those where a configuration has something.
func (f forcedPaths) record(config document.Value) {
	for _, p := range f {
		p.inConfiguration = p.inConfiguration || p.expression.IsIn(config)
	}
}

// left are those of an object's conflicts that may not be forced.
func (f forcedPaths) unforced(live apply.Object, all []conflict) []conflict {
	if len(all) == 0 {
		return nil
	}
	unforced := all
	for _, p := range f {
		matches := p.matcher(live)
		p.forced = p.forced || slices.ContainsFunc(all, matches)
		unforced = slices.DeleteFunc(slices.Clone(unforced), matches)
	}
	for _, p := range f {
		p.conflictsRemained = p.conflictsRemained || len(unforced) > 0
	}
	return unforced
}

// in tells which conflicts of an object are at the path: none if it means nothing there.
func (p *forcedPath) matcher(live apply.Object) func(conflict) bool {
	path, err := p.expression.Resolve(live)
	if err != nil {
		p.resolveErr = err
		return func(conflict) bool { return false }
	}
	return func(c conflict) bool { return c.isWithin(path) }
}

// tell tells of those that are of no use, and why.
func (f forcedPaths) reportUnused(w io.Writer) {
	for _, p := range f {
		switch {
		case p.forced:
		case !p.inConfiguration:
			fmt.Fprintf(w, "--force-path %s: nothing that is applied is there, so that there is nothing to take over\n", p.expression)
		case p.resolveErr != nil:
			fmt.Fprintf(w, "--force-path: %v\n", p.resolveErr)
		case p.conflictsRemained:
			fmt.Fprintf(w, "--force-path %s: no conflict is there\n", p.expression)
		}
	}
}
