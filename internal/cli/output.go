package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/cadastre/cadastre/document"
)

// output holds the flag -o and the formats that a verb supports.
type output struct {
	format  string
	formats []string
}

// bind adds the flag -o. The first format is the default.
func (o *output) bind(flags *pflag.FlagSet, formats ...string) {
	o.formats = formats
	flags.StringVarP(&o.format, "output", "o", formats[0], "The output format: `"+strings.Join(formats, "|")+"`.")
}

func (o *output) check() error {
	if !slices.Contains(o.formats, o.format) {
		return &usageError{fmt.Errorf("--output: expected %s, received %q", joinOr(o.formats), o.format)}
	}
	return nil
}

// print writes doc to w: as JSON if the format is json, and as YAML for all other formats.
func (o *output) print(w io.Writer, doc document.Value) error {
	text := doc.YAML()
	if o.format == "json" {
		text = doc.JSON() + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// colours holds the flag --color.
type colours struct{ mode string }

func (c *colours) bind(flags *pflag.FlagSet) {
	flags.StringVar(&c.mode, "color", "auto", "When to colour the output: `auto|always|never`. With auto, only on a terminal, and not if $NO_COLOR is set.")
}

// enabled reports whether text that is written to w is coloured.
func (c *colours) enabled(w io.Writer) (bool, error) {
	switch c.mode {
	case "always", "never":
		return c.mode == "always", nil
	case "auto":
		return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", nil
	}
	return false, &usageError{fmt.Errorf("--color: expected auto, always or never, received %q", c.mode)}
}

// checkedWriter is a writer that records the first write error. It is safe for concurrent use.
type checkedWriter struct {
	w   io.Writer
	mu  sync.Mutex
	err error
}

func (c *checkedWriter) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.w.Write(text)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

// firstError returns the first write error; nil if all writes succeeded.
func (c *checkedWriter) firstError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return nil
	}
	return outputError(c.err)
}

// isWriteError reports whether err is the recorded write error itself, as opposed to an error that wraps it.
func (c *checkedWriter) isWriteError(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return err == c.err
}

func outputError(err error) error { return fmt.Errorf("output could not be written: %w", err) }

func isTerminal(w any) bool {
	if checked, ok := w.(*checkedWriter); ok {
		w = checked.w
	}
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// palette assigns a colour to each name, such as the name of a field manager. The colours are readable on light and
// dark backgrounds.
type palette struct {
	enabled bool
	indexes map[string]int
}

var colourCodes = []int{36, 33, 35, 32, 34, 96, 93, 95, 92, 94}

// paint returns text in the colour of name; it returns text unchanged if colours are disabled or name is "".
func (p *palette) paint(name, text string) string {
	if !p.enabled || name == "" {
		return text
	}
	i, ok := p.indexes[name]
	if !ok {
		i = len(p.indexes)
		p.indexes[name] = i
	}
	return coloured(colourCodes[i%len(colourCodes)], text)
}

func coloured(code int, text string) string { return fmt.Sprintf("\x1b[%dm%s\x1b[0m", code, text) }

func newPalette(enabled bool) *palette { return &palette{enabled: enabled, indexes: map[string]int{}} }

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
