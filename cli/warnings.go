package cli

import (
	"fmt"
	"io"
)

// warnings prints what servers warn of, as kubectl does: each once.
type warnings struct {
	w    io.Writer
	told map[string]bool
}

func (w *warnings) tell(text string) {
	if w.w == nil || w.told[text] {
		return
	}
	if w.told == nil {
		w.told = map[string]bool{}
	}
	w.told[text] = true
	fmt.Fprintf(w.w, "Warning: %s\n", printable(text))
}
