package cli

import (
	"fmt"
	"io"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/ownership"
)

// usedPaths are the paths of --force-path, and which of them are of some use.
type usedPaths struct {
	all  []ownership.WrittenPath
	used map[int]bool
}

// note finds those where a configuration has something.
func (u *usedPaths) note(config document.Value) {
	if u == nil {
		return
	}
	for i, p := range u.all {
		path, err := p.In(apply.Object{Document: config})
		if err != nil || ownership.ValueAt(config, path).IsAbsent() {
			continue
		}
		if u.used == nil {
			u.used = map[int]bool{}
		}
		u.used[i] = true
	}
}

// tell tells of those that are of no use.
func (u *usedPaths) tell(w io.Writer) {
	for i, p := range u.all {
		if !u.used[i] {
			fmt.Fprintf(w, "--force-path %s: nothing that is applied is there, so that there is nothing to take over\n", p)
		}
	}
}
