package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// batch runs a verb on one object after the other. An object that fails does not stop the run. If the server does not
// respond or the output cannot be written, the run stops and lists the objects that were not processed.
type batch struct {
	verb string
	// participle is the past participle of the verb in messages about processed objects, such as "not applied".
	participle     string
	progress       *progress
	stdout, stderr io.Writer
}

// run processes the objects and prints each error. The returned error states how many objects failed.
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
			_ = write(b.stderr, &errOut) // a failure to write to standard error cannot be reported
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

// stoppedByServer prints the objects that were not processed because the server does not respond, which are all[at] and
// those after it, and returns the error of the run. The results of earlier objects have been printed.
func (b batch) stoppedByServer(all []manifest, at, failed int, noResponse *cluster.NoResponseError) error {
	if noResponse.OutcomeUnknown {
		fmt.Fprintf(b.stderr, "%s: may have been %s; the server did not respond\n", all[at].name(), b.participle)
	} else {
		b.reportSkipped(all[at : at+1])
	}
	b.reportSkipped(all[at+1:])
	return fmt.Errorf("%s: stopped after %d of %d objects, %d failed: %w", b.verb, at, len(all), failed, noResponse)
}

// stoppedByOutput prints the objects that were not processed because the output cannot be written, which are those after
// all[at], and returns the error of the run. all[at] itself is printed if it was processed (done).
func (b batch) stoppedByOutput(all []manifest, at, failed int, done bool, writeErr error) error {
	if done {
		fmt.Fprintf(b.stderr, "%s: %s, but the result could not be printed\n", all[at].name(), b.participle)
	}
	b.reportSkipped(all[at+1:])
	return fmt.Errorf("%s: stopped after %d of %d objects, %d failed: %w", b.verb, at+1, len(all), failed, outputError(writeErr))
}

func (b batch) reportSkipped(manifests []manifest) {
	for _, m := range manifests {
		fmt.Fprintf(b.stderr, "%s: not %s\n", m.name(), b.participle)
	}
}

// nothingDone adds to an error that no object was processed. It returns usage errors unchanged.
func nothingDone(err error, participle string) error {
	if usage := (*usageError)(nil); errors.As(err, &usage) {
		return err
	}
	return fmt.Errorf("%w; nothing was %s", err, participle)
}

// isServerLost reports whether a request got no response, in which case later requests would fail as well.
func isServerLost(err error) bool {
	var noResponse *cluster.NoResponseError
	return errors.As(err, &noResponse)
}
