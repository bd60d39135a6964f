package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/ownership"
)

// forcedPaths are the paths of --force-path, with a record of their use across all objects of the run.
type forcedPaths []*forcedPath

type forcedPath struct {
	expression ownership.PathExpression
	// inConfiguration means that a configuration of the run contains a field at the path. forced means that a conflict at the
	// path was forced. conflictsRemained means that an object had conflicts that no path of --force-path covers.
	inConfiguration, forced, conflictsRemained bool
	// resolveErr is the error of resolving the path, which is done only if the apply has conflicts; nil if there was none.
	resolveErr error
}

func newForcedPaths(expressions []ownership.PathExpression) forcedPaths {
	all := make(forcedPaths, len(expressions))
	for i, e := range expressions {
		all[i] = &forcedPath{expression: e}
	}
	return all
}

// record sets inConfiguration for the paths that occur in config.
func (f forcedPaths) record(config document.Value) {
	for _, p := range f {
		p.inConfiguration = p.inConfiguration || p.expression.IsIn(config)
	}
}

// unforced returns those of conflicts, the conflicts of the object live, that no path of --force-path covers. It also
// records which paths cover a conflict.
func (f forcedPaths) unforced(live apply.Object, conflicts []conflict) []conflict {
	if len(conflicts) == 0 {
		return nil
	}
	unforced := conflicts
	for _, p := range f {
		matches := p.matcher(live)
		p.forced = p.forced || slices.ContainsFunc(conflicts, matches)
		unforced = slices.DeleteFunc(slices.Clone(unforced), matches)
	}
	for _, p := range f {
		p.conflictsRemained = p.conflictsRemained || len(unforced) > 0
	}
	return unforced
}

// matcher returns a function that reports whether a conflict is at or below the path. The function always returns false if
// the path cannot be resolved in the object.
func (p *forcedPath) matcher(live apply.Object) func(conflict) bool {
	path, err := p.expression.Resolve(live)
	if err != nil {
		p.resolveErr = err
		return func(conflict) bool { return false }
	}
	return func(c conflict) bool { return c.isWithin(path) }
}

// reportUnused prints the paths of --force-path that had no effect, and the reason.
func (f forcedPaths) reportUnused(w io.Writer) {
	for _, p := range f {
		switch {
		case p.forced:
		case !p.inConfiguration:
			fmt.Fprintf(w, "--force-path %s: no applied configuration has this field, so the flag has no effect\n", p.expression)
		case p.resolveErr != nil:
			fmt.Fprintf(w, "--force-path: %v\n", p.resolveErr)
		case p.conflictsRemained:
			fmt.Fprintf(w, "--force-path %s: no conflict at this path, so the flag has no effect\n", p.expression)
		}
	}
}
