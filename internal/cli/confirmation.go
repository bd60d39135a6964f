package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// confirm asks a question, and reads whether the answer is yes; no answer is no. It does not wait any longer than the
// context lasts.
func confirm(ctx context.Context, question string, stdin io.Reader, stderr io.Writer) (bool, error) {
	fmt.Fprintf(stderr, "%s [y/N] ", question)
	answer := make(chan string, 1) // who reads it may be gone
	go func() {
		line, _ := bufio.NewReader(stdin).ReadString('\n') // the end is an answer, too
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
