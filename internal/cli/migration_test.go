package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// fixture is a server with the ConfigMaps c0, c1, … that the field manager old has applied.
type fixture struct {
	config  *rest.Config
	cluster *cluster.Cluster
	kind    cluster.Kind
}

func newFixture(t *testing.T, config *rest.Config, objects int) fixture {
	t.Helper()
	c, err := cluster.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{config: config, cluster: c}
	if f.kind, err = c.FindKind(t.Context(), "configmaps"); err != nil {
		t.Fatal(err)
	}
	for i := range objects {
		f.apply(t, fmt.Sprint("c", i), "old", "a")
	}
	return f
}

func configOf(t *testing.T, name, field, value string) document.Value {
	t.Helper()
	config, err := document.ParseYAML([]byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}, data: {" + field + ": " + value + "}}"))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func (f fixture) apply(t *testing.T, name, manager, field string) {
	t.Helper()
	f.send(t, name, field, cluster.ApplyOptions{Manager: manager})
}

func (f fixture) force(t *testing.T, name, manager, field string) {
	t.Helper()
	f.send(t, name, field, cluster.ApplyOptions{Manager: manager, Force: true})
}

func (f fixture) send(t *testing.T, name, field string, options cluster.ApplyOptions) {
	t.Helper()
	if _, err := f.cluster.Apply(t.Context(), f.kind, "default", name, configOf(t, name, field, "x"), options); err != nil {
		t.Fatal(err)
	}
}

func (f fixture) run() migrationRun {
	m := ownership.Migration{From: []ownership.Selector{{Manager: "old"}}, To: "new"}
	return migrationRun{
		cluster: f.cluster, parallel: 4, write: true, progress: newProgress(io.Discard, false), stop: func(error) {},
		to: m.To, move: func(o apply.Object) (ownership.Result, error) { return ownership.Migrate(o, m) },
	}
}

// TestMigrationRetriesAfterConflict checks that a migration is retried if the object has changed after it was read.
func TestMigrationRetriesAfterConflict(t *testing.T) {
	f := newFixture(t, cadastretest.Start(t), 1)
	stale, err := f.cluster.Get(t.Context(), f.kind, "default", "c0")
	if err != nil {
		t.Fatal(err)
	}
	f.apply(t, "c0", "other", "b")
	if done := f.run().migrateOne(t.Context(), foundObject{target{f.kind, "default", "c0"}, stale}); done.err != nil || done.outcome != migrated {
		t.Fatalf("migrateOne() = %s, %v, want migrated", done.outcome, done.err)
	}
	now, err := f.cluster.Get(t.Context(), f.kind, "default", "c0")
	if err != nil {
		t.Fatal(err)
	}
	if got := entryNames(now.Entries); got != "new Apply, other Apply" && got != "other Apply, new Apply" {
		t.Errorf("field managers = %s, want new and other", got)
	}
}

// TestMigrationRetryLimit checks that a migration is retried after 40 conflicts, and fails after maxRetries conflicts.
func TestMigrationRetryLimit(t *testing.T) {
	conflicts, attempts := 40, 0
	f := newFixture(t, cadastretest.Start(t), 2)
	conflicting := rest.CopyConfig(f.config)
	conflicting.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		return failingTransport{rt, func() (*http.Response, error) {
			if attempts++; attempts > conflicts {
				return nil, errors.New("connection refused")
			}
			body := `{"kind":"Status","apiVersion":"v1","code":409,"reason":"Conflict","message":"the object has been modified"}`
			return &http.Response{StatusCode: http.StatusConflict, Body: io.NopCloser(strings.NewReader(body))}, nil
		}}
	})
	c, err := cluster.Open(conflicting)
	if err != nil {
		t.Fatal(err)
	}
	run := f.run()
	run.cluster = c
	one := target{f.kind, "default", "c1"}
	o, err := one.get(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if done := run.migrateOne(t.Context(), foundObject{one, o}); done.outcome != outcomeUnknown || attempts != conflicts+1 {
		t.Errorf("migrateOne() = %s after %d attempts: %v, want outcome unknown after %d", done.outcome, attempts, done.err, conflicts+1)
	}
	attempts, conflicts = 0, math.MaxInt
	if done := run.migrateOne(t.Context(), foundObject{one, o}); done.outcome != failedMigration || attempts != maxRetries+1 {
		t.Errorf("migrateOne() = %s after %d attempts: %v, want failed after %d", done.outcome, attempts, done.err, maxRetries+1)
	}
}

// TestMigrationResumes checks that, after a migration was stopped halfway, a second run migrates only the remaining objects.
func TestMigrationResumes(t *testing.T) {
	const count = 40
	f := newFixture(t, cadastretest.Start(t), count)
	ctx, cancel := context.WithCancel(t.Context())
	listed := listObjects(ctx, f.cluster, []cluster.Kind{f.kind}, "default", "")
	seen := 0
	first := f.run().migrateAll(ctx, func(yield func(foundObject, error) bool) {
		for o, err := range listed {
			if seen++; seen == count/2 {
				cancel()
			}
			if !yield(o, err) {
				return
			}
		}
	})
	if first.err() == nil || first.count(migrated) > count/2 {
		t.Errorf("stopped run: %s, error = %v, want an error and at most half of the objects migrated", first.summary(), first.err())
	}
	second := f.run().migrateAll(t.Context(), listObjects(t.Context(), f.cluster, []cluster.Kind{f.kind}, "default", ""))
	if second.err() != nil || second.count(migrated)+second.count(nothingToDo) != count || second.count(migrated) < count/2 {
		t.Errorf("second run: %s, error = %v, want all objects migrated or unchanged", second.summary(), second.err())
	}
	third := f.run().migrateAll(t.Context(), listObjects(t.Context(), f.cluster, []cluster.Kind{f.kind}, "default", ""))
	if third.count(nothingToDo) != count {
		t.Errorf("third run: %s, want all unchanged", third.summary())
	}
}

// failingTransport replaces the response to writes of the managedFields of c1 with the result of answer.
type failingTransport struct {
	http.RoundTripper
	answer func() (*http.Response, error)
}

func (f failingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/c1") && r.URL.Query().Get("fieldManager") == managedFieldsWriter {
		return f.answer()
	}
	return f.RoundTripper.RoundTrip(r)
}

// failingFixture returns a fixture in which writes of the managedFields of c1 receive the result of answer instead of a
// response of the server.
func failingFixture(t *testing.T, objects int, answer func() (*http.Response, error)) fixture {
	t.Helper()
	config := rest.CopyConfig(cadastretest.Start(t))
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return failingTransport{rt, answer} })
	return newFixture(t, config, objects)
}

// TestMigrationReport checks the report of a run in which one object failed.
func TestMigrationReport(t *testing.T) {
	f := failingFixture(t, 3, func() (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusInternalServerError, Body: io.NopCloser(strings.NewReader("the disk is full"))}, nil
	})
	var text strings.Builder
	run := f.run()
	run.printResult = output{format: "text"}.resultPrinter(&text, io.Discard, run.to)
	report := run.migrateAll(t.Context(), listObjects(t.Context(), f.cluster, []cluster.Kind{f.kind}, "default", ""))
	if report.summary() != "2 migrated, 1 failed" || report.err() == nil {
		t.Errorf("summary = %s, error = %v, want 2 migrated, 1 failed, and an error", report.summary(), report.err())
	}
	var names []string
	for _, item := range report.value().Get("objects").Items() {
		names = append(names, item.Get("name").Text()+" "+item.Get("outcome").Text())
	}
	if want := []string{"c0 migrated", "c1 failed", "c2 migrated"}; !slices.Equal(names, want) {
		t.Errorf("objects = %q, want %q", names, want)
	}
	if err := report.finish(&text, io.Discard, output{format: "text"}); err != nil || !strings.Contains(text.String(), "configmap/c1 in default: failed: ") || !strings.Contains(text.String(), "the disk is full") {
		t.Errorf("finish() = %v, printed %s, want the failure of c1", err, text.String())
	}
}

// TestMigrationServerLoss checks that the run stops if the server does not respond, and reports each object.
func TestMigrationServerLoss(t *testing.T) {
	f := failingFixture(t, 4, func() (*http.Response, error) { return nil, errors.New("connection reset by peer") })
	ctx, stop := context.WithCancelCause(t.Context())
	run := f.run()
	var text strings.Builder
	run.parallel, run.stop, run.printResult = 1, stop, output{format: "text"}.resultPrinter(&text, io.Discard, run.to)
	report := run.migrateAll(ctx, listObjects(ctx, f.cluster, []cluster.Kind{f.kind}, "default", ""))
	if err := report.finish(&text, io.Discard, output{format: "text"}); err != nil {
		t.Fatal(err)
	}
	// With --parallel 1, one more object may already be queued when c1 fails, so the outcome of c2 varies.
	want := regexp.MustCompile("^configmap/c0 in default: migrated: .*\nconfigmap/c1 in default: outcome unknown\n" +
		"configmap/c2 in default: .*\nconfigmap/c3 in default: not attempted\n1 migrated, 1 outcome unknown, 2 not attempted\n$")
	if !want.MatchString(text.String()) {
		t.Errorf("printed %s, want a match of %s", text.String(), want)
	}
	if err := report.err(); err == nil || !strings.HasPrefix(err.Error(), "migrate: stopped: ") || !strings.Contains(err.Error(), "connection reset by peer") {
		t.Errorf("err() = %v, want a stopped run with the cause", err)
	}
}

// TestMigrationReportOfKind checks that the error for a kind that cannot be listed contains no namespace.
func TestMigrationReportOfKind(t *testing.T) {
	kind := cluster.Kind{Version: "v1", Name: "ConfigMap", Resource: "configmaps", Singular: "configmap", Namespaced: true}
	one := result{target: target{kind: kind}, err: errors.New("forbidden")}
	if got, want := one.text("ci"), "configmap: failed: forbidden\n"; got != want {
		t.Errorf("text() = %q, want %q", got, want)
	}
}

// TestMigrationPrintsIncrementally checks that results are printed as soon as they are available, in the order of the list.
func TestMigrationPrintsIncrementally(t *testing.T) {
	f := newFixture(t, cadastretest.Start(t), 5)
	var printed []string
	var count atomic.Int32 // number of printed results, for the listing goroutine
	run := f.run()
	run.parallel = 1
	run.printResult = func(r result) error {
		printed = append(printed, r.target.name)
		count.Add(1)
		return nil
	}
	before := -1
	listed := listObjects(t.Context(), f.cluster, []cluster.Kind{f.kind}, "default", "")
	report := run.migrateAll(t.Context(), func(yield func(foundObject, error) bool) {
		for o, err := range listed {
			if o.target.name == "c4" {
				before = int(count.Load()) // the migration of c3 may still be in progress
			}
			if !yield(o, err) {
				return
			}
		}
	})
	if before < 3 || before > 4 {
		t.Errorf("%d results were printed before the last object was listed, want 3 or 4", before)
	}
	if want := []string{"c0", "c1", "c2", "c3", "c4"}; !slices.Equal(printed, want) || report.count(migrated) != 5 {
		t.Errorf("printed %q, want %q; summary %s", printed, want, report.summary())
	}
}

// TestMigrationReportOrder checks that results are printed in the order of their indexes, even if they are added in another
// order.
func TestMigrationReportOrder(t *testing.T) {
	var report migrationReport
	var printed []string
	printResult := func(r result) error {
		printed = append(printed, r.target.name)
		return nil
	}
	for _, r := range []struct {
		index   int
		name    string
		outcome outcome
	}{{2, "c", migrated}, {1, "b", nothingToDo}, {0, "a", migrated}, {4, "e", notAttempted}, {3, "d", failedMigration}} {
		if err := report.add(r.index, result{target: target{name: r.name}, outcome: r.outcome}, printResult); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"a", "c", "d"}; !slices.Equal(printed, want) || report.summary() != "2 migrated, 1 unchanged, 1 failed, 1 not attempted" {
		t.Errorf("printed %q, want %q; summary %s", printed, want, report.summary())
	}
}

// TestMigrationIncompleteList checks that, if listing fails, the report states that further objects may exist.
func TestMigrationIncompleteList(t *testing.T) {
	f := newFixture(t, cadastretest.Start(t), 2)
	ctx, stop := context.WithCancelCause(t.Context())
	run := f.run()
	run.stop = stop
	listed := listObjects(ctx, f.cluster, []cluster.Kind{f.kind}, "default", "c=d")
	report := run.migrateAll(ctx, func(yield func(foundObject, error) bool) {
		for range listed {
			t.Error("listObjects() with the label selector c=d returned an object, want none")
		}
		yield(foundObject{target: target{kind: f.kind}}, &cluster.NoResponseError{Err: errors.New("connection reset by peer")})
	})
	if got, want := report.summary(), "and possibly others that were not listed"; got != want {
		t.Errorf("summary() = %q, want %q", got, want)
	}
	if !report.value().Get("moreNotListed").Bool() {
		t.Errorf("value() = %s, want moreNotListed", report.value().JSON())
	}
	if err := report.err(); err == nil || !strings.Contains(err.Error(), "connection reset by peer") {
		t.Errorf("err() = %v, want the cause of the failed list", err)
	}
}

// TestMigrationStopsOnOutputError checks that no further object is migrated if results cannot be printed.
func TestMigrationStopsOnOutputError(t *testing.T) {
	f := newFixture(t, cadastretest.Start(t), 4)
	ctx, stop := context.WithCancelCause(t.Context())
	run := f.run()
	run.parallel, run.stop = 1, stop
	run.printResult = func(result) error { return errors.New("no space left") }
	report := run.migrateAll(ctx, listObjects(ctx, f.cluster, []cluster.Kind{f.kind}, "default", ""))
	if err := report.err(); err == nil || !strings.Contains(err.Error(), "no space left") || report.count(migrated) == 4 {
		t.Errorf("err() = %v, summary %s, want a stopped run", err, report.summary())
	}
}
