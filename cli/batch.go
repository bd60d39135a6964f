package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cadastre/cadastre/internal/cluster"
)

// batch is a verb that goes through objects, one after the other. What fails does not keep the others from it; when
// the server is gone, it stops, and lists what was not done.
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
		b.progress.aside(func() { err = errors.Join(write(b.stdout, &said), write(b.stderr, &complained)) })
		if err != nil {
			return err
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
	for i, m := range all[at:] {
		what := "not " + b.did
		if i == 0 && lost.MayBeDone {
			what = "may or may not have been " + b.did
		}
		fmt.Fprintf(b.stderr, "%s: %s\n", m.name(), what)
	}
	return fmt.Errorf("%s: stopped after %d of %d objects, of which %d failed: %w", b.verb, at, len(all), failed, lost)
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
