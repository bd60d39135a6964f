package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// confirm prints a question and reports whether the user answered y or yes. Any other input, and the end of input, is a
// no. It returns the cause of the context when that ends first.
func confirm(ctx context.Context, question string, stdin io.Reader, stderr io.Writer) (bool, error) {
	fmt.Fprintf(stderr, "%s [y/N] ", question)
	answer := make(chan string, 1) // buffered: the goroutine must not block if the context ends first
	go func() {
		line, _ := bufio.NewReader(stdin).ReadString('\n') // at the end of input, the text read so far is the answer
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(stderr)
		return false, context.Cause(ctx)
	case text := <-answer:
		return slices.Contains([]string{"y", "yes"}, text), nil
	}
}
