package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// outcome is the outcome of the migration of one object, as printed and in -o json.
type outcome string

const (
	migrated        outcome = "migrated"
	wouldMigrate    outcome = "would migrate"
	nothingToDo     outcome = "unchanged"
	failedMigration outcome = "failed"
	// Only a run that was stopped has these outcomes.
	notAttempted   outcome = "not attempted"
	outcomeUnknown outcome = "outcome unknown"
)

var outcomes = []outcome{migrated, wouldMigrate, nothingToDo, failedMigration, outcomeUnknown, notAttempted}

// result is the result of the migration of one object.
type result struct {
	target          target
	outcome         outcome
	moves           []ownership.Move
	annotationEntry *apply.Entry
	err             error
}

// migrationReport collects the results of a run. add is safe for concurrent use; the other methods require that the run
// has ended.
type migrationReport struct {
	to string
	// stopped is the reason why the run ended early; nil if it did not. listIncomplete reports that there may be further
	// objects that were not listed.
	stopped        error
	listIncomplete bool

	mu        sync.Mutex
	results   []result // without unchanged objects, which are only counted
	unchanged int
	// unprinted are the results that could not be printed.
	unprinted []result
	// pending contains the results that wait until all results before them are printed, keyed by index. next is the index of
	// the next result to print.
	pending map[int]result
	next    int
}

// add records r, the result of the object at index, and prints the results before the first index whose result is still
// missing. It does not print the results of objects that are unchanged or not attempted.
func (m *migrationReport) add(index int, r result, printResult func(result) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pending == nil {
		m.pending = map[int]result{}
	}
	m.pending[index] = r
	var err error
	for r, ok := m.pending[m.next]; ok; r, ok = m.pending[m.next] {
		delete(m.pending, m.next)
		m.next++
		if r.outcome == nothingToDo {
			m.unchanged++
			continue
		}
		m.results = append(m.results, r)
		if printResult == nil || r.outcome == notAttempted {
			continue
		}
		if failed := printResult(r); failed != nil {
			m.unprinted, err = append(m.unprinted, r), outputError(failed)
		}
	}
	return err
}

func (m *migrationReport) sort() {
	slices.SortStableFunc(m.results, func(a, b result) int {
		return strings.Compare(a.target.namespace+"/"+a.target.String(), b.target.namespace+"/"+b.target.String())
	})
}

func (m *migrationReport) count(o outcome) int {
	if o == nothingToDo {
		return m.unchanged
	}
	n := 0
	for _, r := range m.results {
		if r.outcome == o {
			n++
		}
	}
	return n
}

// err returns the error of the run; nil if no object failed and the run was not stopped.
func (m *migrationReport) err() error {
	if m.stopped != nil {
		return fmt.Errorf("migrate: stopped: %w; run the command again to migrate the remaining objects", m.stopped)
	}
	if n := m.count(failedMigration); n > 0 {
		return fmt.Errorf("migrate: %d of %d objects failed; run the command again to retry them", n, len(m.results)+m.unchanged)
	}
	return nil
}

// resultPrinter returns a function that prints the result of one object; nil for the formats json and yaml, which print one
// document at the end. manager is the field manager that receives the fields. With -o name, the function prints the results
// of objects that were not migrated to stderr.
func (o output) resultPrinter(stdout, stderr io.Writer, manager string) func(result) error {
	switch o.format {
	case "text":
		return func(r result) error {
			_, err := io.WriteString(stdout, r.text(manager))
			return err
		}
	case "name":
		return func(r result) error {
			if r.outcome != migrated && r.outcome != wouldMigrate {
				_, err := io.WriteString(stderr, r.text(manager))
				return err
			}
			_, err := fmt.Fprintln(stdout, r.target)
			return err
		}
	}
	return nil
}

// finish prints the end of the output. For json and yaml that is the whole document; for name it is the objects that were
// not attempted, and for text these objects and the summary.
func (m *migrationReport) finish(stdout, stderr io.Writer, o output) error {
	switch o.format {
	case "json", "yaml":
		return o.print(stdout, m.value())
	case "name":
		_, err := io.WriteString(stderr, m.notAttempted())
		return err
	}
	_, err := fmt.Fprintln(stdout, m.notAttempted()+m.summary())
	return err
}

// notAttempted returns one line for each object that was not attempted.
func (m *migrationReport) notAttempted() string {
	var text strings.Builder
	for _, r := range m.results {
		if r.outcome == notAttempted {
			text.WriteString(r.text(m.to))
		}
	}
	return text.String()
}

// printToStderr prints the results that could not be written to standard output, and the summary.
func (m *migrationReport) printToStderr(stderr io.Writer, o output) {
	unprinted := m.unprinted
	if o.format == "json" || o.format == "yaml" {
		unprinted = slices.DeleteFunc(slices.Clone(m.results), func(r result) bool { return r.outcome == notAttempted })
	}
	for _, r := range unprinted {
		fmt.Fprint(stderr, r.text(m.to))
	}
	_ = m.finish(stderr, stderr, output{format: "text"}) // a failure to write to standard error cannot be reported
}

func (m *migrationReport) summary() string {
	var parts []string
	for _, o := range outcomes {
		if n := m.count(o); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	switch {
	case m.listIncomplete:
		parts = append(parts, "and possibly others that were not listed")
	case len(parts) == 0:
		return "found no objects"
	}
	return strings.Join(parts, ", ")
}

// text formats the result for -o text. In a dry run, it lists the fields that would move.
func (r result) text(manager string) string {
	var w strings.Builder
	index := r.target.String()
	if r.target.kind.Namespaced && r.target.namespace != "" { // the result of a kind that could not be listed has no namespace
		index += " in " + r.target.namespace
	}
	if r.err != nil {
		return fmt.Sprintf("%s: failed: %s\n", index, plainError(r.err))
	}
	if len(r.moves) == 0 {
		fmt.Fprintf(&w, "%s: %s\n", index, r.outcome)
	}
	for _, m := range r.moves {
		fmt.Fprintf(&w, "%s: %s: %s -> %s Apply: %d %s, %d newly owned\n", index, r.outcome, entryName(m.From), manager,
			m.Fields.Size(), plural(m.Fields.Size(), "field", "fields"), m.Gained.Size())
		if r.outcome == wouldMigrate {
			for path := range m.Fields.All() {
				fmt.Fprintf(&w, "  %s\n", formatPath(path))
			}
		}
		for path := range m.Lost.All() {
			fmt.Fprintf(&w, "  %s is not migrated: the object does not have the field at the API version of %s\n", formatPath(path), manager)
		}
	}
	if r.annotationEntry != nil && r.outcome == wouldMigrate {
		fmt.Fprintf(&w, "  %s also becomes an owner of metadata.annotations[%q], which a return to client-side apply requires\n", entryName(*r.annotationEntry), ownership.LastAppliedAnnotation)
	}
	return w.String()
}

// value returns the report as a document for -o json and -o yaml.
func (m *migrationReport) value() document.Value {
	var items []document.Value
	for _, r := range m.results {
		items = append(items, r.value())
	}
	return document.NewMap(
		document.Field{Name: "to", Value: document.NewString(m.to)},
		document.Field{Name: "migrated", Value: document.NewInt(int64(m.count(migrated)))},
		document.Field{Name: "wouldMigrate", Value: document.NewInt(int64(m.count(wouldMigrate)))},
		document.Field{Name: "nothingToDo", Value: document.NewInt(int64(m.count(nothingToDo)))},
		document.Field{Name: "failed", Value: document.NewInt(int64(m.count(failedMigration)))},
		document.Field{Name: "notDone", Value: document.NewInt(int64(m.count(notAttempted) + m.count(outcomeUnknown)))},
		document.Field{Name: "moreNotListed", Value: document.NewBool(m.listIncomplete)},
		document.Field{Name: "objects", Value: document.NewList(items...)},
	)
}

func (r result) value() document.Value {
	fields := append(r.target.fields(), document.Field{Name: "outcome", Value: document.NewString(string(r.outcome))})
	if r.err != nil {
		fields = append(fields, document.Field{Name: "error", Value: document.NewString(plainError(r.err))})
	}
	if r.annotationEntry != nil {
		fields = append(fields, document.Field{Name: "annotationOwner", Value: entryValue(*r.annotationEntry)})
	}
	return document.NewMap(append(fields, document.Field{Name: "moves", Value: moveValues(r.moves)})...)
}

func plainError(err error) string {
	var refused *cluster.Error
	if errors.As(err, &refused) {
		return refused.Error()
	}
	return err.Error()
}
