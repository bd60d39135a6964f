package cli

import (
	"fmt"
	"io"

	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// warnings prints what servers warn of, as kubectl does: each once.
type warnings struct {
	w    io.Writer
	told map[string]bool
}

// tellWarnings has what a server warns of printed.
func tellWarnings(c *cluster.Cluster, w io.Writer) *warnings {
	all := &warnings{w: w}
	c.OnWarning(all.tell)
	return all
}

func (w *warnings) tell(text string) {
	if w.told[text] {
		return
	}
	if w.told == nil {
		w.told = map[string]bool{}
	}
	w.told[text] = true
	fmt.Fprintf(w.w, "Warning: %s\n", printable(text))
}
