package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// batch is a verb that goes through objects, one after the other. What fails does not keep the others from it; when
// the server is gone, or what is done can't be printed, it stops, and lists what was not done.
type batch struct {
	verb string
	// did is what is done to an object, as in "not applied".
	participle     string
	progress       *progress
	stdout, stderr io.Writer
}

// run does it to each object, and tells what failed; how many is the error.
func (b batch) run(all []manifest, one func(m manifest, stdout, stderr io.Writer) error) error {
	b.progress.addTotal(len(all))
	defer b.progress.clearBar()
	failed := 0
	for i, m := range all {
		var out, errOut bytes.Buffer
		err := one(m, &out, &errOut)
		if noResponse := (*cluster.NoResponseError)(nil); errors.As(err, &noResponse) {
			b.progress.clearBar()
			return errors.Join(write(b.stderr, &errOut), b.stoppedByServer(all, i, failed, noResponse))
		}
		if err != nil {
			failed++
			fmt.Fprintf(&errOut, "%v\n", err)
		}
		var writeErr error
		b.progress.withoutBar(func() {
			writeErr = write(b.stdout, &out)
			_ = write(b.stderr, &errOut) // nobody could be told that
		})
		if writeErr != nil {
			b.progress.clearBar()
			return b.stoppedByOutput(all, i, failed, err == nil, writeErr)
		}
		b.progress.step()
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d of %d objects failed", b.verb, failed, len(all))
	}
	return nil
}

func write(w io.Writer, text *bytes.Buffer) error {
	_, err := text.WriteTo(w)
	return err
}

// stopped tells what was not done because the server is gone: the object at a place, and all after it. What was
// done has been told.
func (b batch) stoppedByServer(all []manifest, at, failed int, noResponse *cluster.NoResponseError) error {
	if noResponse.OutcomeUnknown {
		fmt.Fprintf(b.stderr, "%s: may or may not have been %s\n", all[at].name(), b.participle)
	} else {
		b.reportSkipped(all[at : at+1])
	}
	b.reportSkipped(all[at+1:])
	return fmt.Errorf("%s: stopped after %d of %d objects, of which %d failed: %w", b.verb, at, len(all), failed, noResponse)
}

// unheard tells what was not done because what is done can't be printed: all after the object at a place. That one is
// told, too, if it was done.
func (b batch) stoppedByOutput(all []manifest, at, failed int, done bool, writeErr error) error {
	if done {
		fmt.Fprintf(b.stderr, "%s: %s, but that could not be printed\n", all[at].name(), b.participle)
	}
	b.reportSkipped(all[at+1:])
	return fmt.Errorf("%s: stopped after %d of %d objects, of which %d failed: %w", b.verb, at+1, len(all), failed, outputError(writeErr))
}

func (b batch) reportSkipped(some []manifest) {
	for _, m := range some {
		fmt.Fprintf(b.stderr, "%s: not %s\n", m.name(), b.participle)
	}
}

// beforeAnything is why nothing was done at all. What can't be understood says so by itself.
func nothingDone(err error, participle string) error {
	if usage := (*usageError)(nil); errors.As(err, &usage) {
		return err
	}
	return fmt.Errorf("%w; nothing was %s", err, participle)
}

// isLost reports whether something failed because the server does not answer: then it would not do anything else, either.
func isServerLost(err error) bool {
	var noResponse *cluster.NoResponseError
	return errors.As(err, &noResponse)
}
