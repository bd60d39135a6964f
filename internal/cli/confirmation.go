package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// confirm prints a question and reports whether the user answered y or yes. Any other input, including the end of input,
// counts as no. If the context is cancelled first, confirm returns the cause.
func confirm(ctx context.Context, question string, stdin io.Reader, stderr io.Writer) (bool, error) {
	fmt.Fprintf(stderr, "%s [y/N] ", question)
	answer := make(chan string, 1) // buffered, so that the goroutine does not block if the context is cancelled first
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
