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
	did            string
	progress       *progress
	stdout, stderr io.Writer
}

// run does it to each object, and tells what failed; how many is the error.
func (b batch) run(all []manifest, one func(m manifest, stdout, stderr io.Writer) error) error {
	b.progress.expect(len(all))
	defer b.progress.end()
	failed := 0
	for i, m := range all {
		var said, complained bytes.Buffer
		err := one(m, &said, &complained)
		if lost := (*cluster.NoAnswerError)(nil); errors.As(err, &lost) {
			b.progress.end()
			return errors.Join(write(b.stderr, &complained), b.stopped(all, i, failed, lost))
		}
		if err != nil {
			failed++
			fmt.Fprintf(&complained, "%v\n", err)
		}
		var unsaid error
		b.progress.aside(func() {
			unsaid = write(b.stdout, &said)
			_ = write(b.stderr, &complained) // nobody could be told that
		})
		if unsaid != nil {
			b.progress.end()
			return b.unheard(all, i, failed, err == nil, unsaid)
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
func (b batch) stopped(all []manifest, at, failed int, lost *cluster.NoAnswerError) error {
	if lost.MayBeDone {
		fmt.Fprintf(b.stderr, "%s: may or may not have been %s\n", all[at].name(), b.did)
	} else {
		b.tellNotDone(all[at : at+1])
	}
	b.tellNotDone(all[at+1:])
	return fmt.Errorf("%s: stopped after %d of %d objects, of which %d failed: %w", b.verb, at, len(all), failed, lost)
}

// unheard tells what was not done because what is done can't be printed: all after the object at a place. That one is
// told, too, if it was done.
func (b batch) unheard(all []manifest, at, failed int, done bool, unsaid error) error {
	if done {
		fmt.Fprintf(b.stderr, "%s: %s, but that could not be printed\n", all[at].name(), b.did)
	}
	b.tellNotDone(all[at+1:])
	return fmt.Errorf("%s: stopped after %d of %d objects, of which %d failed: %w", b.verb, at+1, len(all), failed, lostOutput(unsaid))
}

func (b batch) tellNotDone(some []manifest) {
	for _, m := range some {
		fmt.Fprintf(b.stderr, "%s: not %s\n", m.name(), b.did)
	}
}

// beforeAnything is why nothing was done at all. What can't be understood says so by itself.
func beforeAnything(err error, did string) error {
	if usage := (*usageError)(nil); errors.As(err, &usage) {
		return err
	}
	return fmt.Errorf("%w; nothing was %s", err, did)
}

// isLost reports whether something failed because the server does not answer: then it would not do anything else, either.
func isLost(err error) bool {
	var lost *cluster.NoAnswerError
	return errors.As(err, &lost)
}
