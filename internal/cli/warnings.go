package cli

import (
	"fmt"
	"io"

	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// warnings prints the warnings in API responses, each text once, like kubectl.
type warnings struct {
	w       io.Writer
	printed map[string]bool
}

// printWarnings makes c print the server's warnings to w. The caller may replace w later by setting the writer of
// the result.
func printWarnings(c *cluster.Cluster, w io.Writer) *warnings {
	all := &warnings{w: w}
	c.SetWarningHandler(all.print)
	return all
}

func (w *warnings) print(text string) {
	if w.printed[text] {
		return
	}
	if w.printed == nil {
		w.printed = map[string]bool{}
	}
	w.printed[text] = true
	fmt.Fprintf(w.w, "Warning: %s\n", escapeUnprintable(text))
}
