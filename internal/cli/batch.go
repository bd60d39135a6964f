package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// batch runs a verb, such as apply, on several objects in order. An object that fails does not stop the run. If the
// server does not respond or the output cannot be written, the run stops and lists the objects that were not processed.
type batch struct {
	verb string
	// participle is the past participle of the verb in messages about processed objects, such as "not applied".
	participle     string
	progress       *progress
	stdout, stderr io.Writer
}

// run calls process for each manifest, and prints its output and its error. The error that run returns states how many
// objects failed.
func (b batch) run(manifests []manifest, process func(m manifest, stdout, stderr io.Writer) error) error {
	b.progress.addTotal(len(manifests))
	defer b.progress.clearBar()
	failed := 0
	for i, m := range manifests {
		var out, errOut bytes.Buffer
		err := process(m, &out, &errOut)
		if noResponse := (*cluster.NoResponseError)(nil); errors.As(err, &noResponse) {
			b.progress.clearBar()
			return errors.Join(write(b.stderr, &errOut), b.reportServerLoss(manifests, i, failed, noResponse))
		}
		if err != nil {
			failed++
			fmt.Fprintf(&errOut, "%s\n", escapeLines(err.Error()))
		}
		var writeErr error
		b.progress.withoutBar(func() {
			writeErr = write(b.stdout, &out)
			_ = write(b.stderr, &errOut) // a failure to write to standard error cannot be reported
		})
		if writeErr != nil {
			b.progress.clearBar()
			return b.reportOutputLoss(manifests, i, failed, err == nil, writeErr)
		}
		b.progress.step()
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d of %d objects failed", b.verb, failed, len(manifests))
	}
	return nil
}

func write(w io.Writer, text *bytes.Buffer) error {
	_, err := text.WriteTo(w)
	return err
}

// reportServerLoss ends the run because the server did not respond to a request about manifests[index]. It prints that
// manifests[index] and all later objects were not processed, and returns the error of the run. The results of earlier
// objects have been printed already.
func (b batch) reportServerLoss(manifests []manifest, index, failed int, noResponse *cluster.NoResponseError) error {
	if noResponse.OutcomeUnknown {
		fmt.Fprintf(b.stderr, "%s: may have been %s; the server did not respond\n", manifests[index].name(), b.participle)
	} else {
		b.reportSkipped(manifests[index : index+1])
	}
	b.reportSkipped(manifests[index+1:])
	return fmt.Errorf("%s: stopped after %d of %d objects, %d failed: %w", b.verb, index, len(manifests), failed, noResponse)
}

// reportOutputLoss ends the run because the result of manifests[index] cannot be written. It prints that all later
// objects were not processed, and returns the error of the run. done means that manifests[index] itself was processed,
// which is printed too.
func (b batch) reportOutputLoss(manifests []manifest, index, failed int, done bool, writeErr error) error {
	if done {
		fmt.Fprintf(b.stderr, "%s: %s, but the result could not be printed\n", manifests[index].name(), b.participle)
	}
	b.reportSkipped(manifests[index+1:])
	return fmt.Errorf("%s: stopped after %d of %d objects, %d failed: %w", b.verb, index+1, len(manifests), failed, outputError(writeErr))
}

func (b batch) reportSkipped(manifests []manifest) {
	for _, m := range manifests {
		fmt.Fprintf(b.stderr, "%s: not %s\n", m.name(), b.participle)
	}
}

// withNothingDone returns err with the addition that no object was processed. It returns usage errors unchanged.
func withNothingDone(err error, participle string) error {
	if usage := (*usageError)(nil); errors.As(err, &usage) {
		return err
	}
	return fmt.Errorf("%w; nothing was %s", err, participle)
}

// isServerLost reports whether err means that a request got no response. Later requests would then fail as well.
func isServerLost(err error) bool {
	var noResponse *cluster.NoResponseError
	return errors.As(err, &noResponse)
}
