package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// writer is a polite user that writes its own objects, one request at a time.
type writer struct {
	*world
	user    *user
	manager string
	objects []*object
	random  *rand.Rand
}

// maxPause is the maximum time between two requests of a writer or reader.
const maxPause = 40 * time.Millisecond

// run writes until the context ends.
func (w *writer) run(ctx context.Context) {
	for pause(ctx, w.random) {
		o := w.objects[w.random.IntN(len(w.objects))]
		if o.mustRead() {
			w.readAgain(ctx, o)
			continue
		}
		w.write(ctx, o)
	}
}

// pause waits for a random time, and reports whether the context goes on.
func pause(ctx context.Context, random *rand.Rand) bool {
	return wait(ctx, time.Duration(random.Int64N(int64(maxPause))))
}

// wait waits for a time, and reports whether the context goes on.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// readAgain reads an object after a write with an unknown result.
func (w *writer) readAgain(ctx context.Context, o *object) {
	calm := w.restarts.now()
	observed, err := w.user.read(ctx, o)
	if err != nil {
		w.judgeRead(ctx, calm, err)
		return
	}
	w.counts.Reads.Add(1)
	if err := o.observe(observed); err != nil {
		w.judge.violation(o.lines(), "%v", err)
	}
}

// judgeRead reports a failed read, unless the server was restarted meanwhile.
func (w *world) judgeRead(ctx context.Context, calm calm, err error) {
	switch status := statusOf(err); {
	case ctx.Err() != nil || !calm.lasted():
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		w.counts.Overloaded.Add(1)
		w.judge.violation(nil, "a polite read was rejected: %v", err)
	default:
		w.judge.violation(nil, "a polite read failed: %v", err)
	}
}

// write sends one random write and records its result.
func (w *writer) write(ctx context.Context, o *object) {
	verb := verbs[w.random.IntN(len(verbs))]
	if !o.snapshot().present {
		verb = creations[w.random.IntN(len(creations))]
	}
	a, known := o.begin(verb.name, verb.deletes)
	data := strings.Repeat("x", w.random.IntN(2000))
	r := verb.request(o, a.sequence, known.revision, w.manager, data)
	restarts, faults, clock := w.restarts.now(), w.faults.now(), w.clock.now()
	text, err := w.user.do(ctx, r)
	if err != nil {
		w.failed(ctx, o, a, err, restarts, faults)
		return
	}
	w.counts.Confirmed.Add(1)
	if a.deletes {
		if err := o.confirm(a, 0); err != nil {
			w.judge.violation(o.lines(), "%v", err)
		}
		return
	}
	c, ok := w.confirmed(o, a, text)
	if !ok {
		return
	}
	w.watchers[o.namespace].expect(o, a, c.revision())
	if !known.present {
		if err := w.clock.check(clock, c.Metadata.CreationTimestamp); err != nil {
			w.judge.violation(o.lines(), "%s/%s: %v", o.namespace, o.name, err)
		}
	}
	if verb.name == "apply" && w.random.IntN(8) == 0 {
		w.repeat(ctx, o, verb.request(o, a.sequence, c.revision(), w.manager, data), c)
	}
}

// confirmed records the response of a write that creates or changes an object.
func (w *writer) confirmed(o *object, a *attempt, text []byte) (c configMap, ok bool) {
	if err := json.Unmarshal(text, &c); err != nil {
		w.judge.violation(o.lines(), "%s of %s/%s: decoding the response: %v", a.verb, o.namespace, o.name, err)
		return c, false
	}
	if s := c.state(); s.sequence != a.sequence {
		w.judge.violation(o.lines(), "%s of %s/%s: expected a response with sequence %d, received %v", a.verb, o.namespace, o.name, a.sequence, s)
		return c, false
	}
	if err := o.confirm(a, c.revision()); err != nil {
		w.judge.violation(o.lines(), "%v", err)
		return c, false
	}
	return c, true
}

// repeat sends the apply of the current state c again, which must change nothing.
func (w *writer) repeat(ctx context.Context, o *object, r request, c configMap) {
	restarts, faults := w.restarts.now(), w.faults.now()
	text, err := w.user.do(ctx, r)
	if err != nil {
		if ctx.Err() == nil && restarts.lasted() && faults.lasted() {
			w.judge.violation(o.lines(), "repeated apply: %v", err)
		}
		return
	}
	var again configMap
	if err := json.Unmarshal(text, &again); err != nil || again.revision() != c.revision() {
		w.judge.violation(o.lines(), "repeated apply of %s/%s: expected resourceVersion %d, received %d (%v)", o.namespace, o.name, c.revision(), again.revision(), err)
		return
	}
	w.counts.Noops.Add(1)
}

// failed records a write that was not confirmed.
func (w *writer) failed(ctx context.Context, o *object, a *attempt, err error, restarts, faults calm) {
	status := statusOf(err)
	switch {
	case status == http.StatusInsufficientStorage || status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		w.counts.Refused.Add(1)
		o.noted("%s with sequence %d refused: %v", a.verb, a.sequence, err)
	case status == http.StatusConflict && o.mayConflict():
		w.counts.Refused.Add(1)
		o.lose(a, err) // reads the object again
		return
	case status/100 == 4:
		o.noted("%s with sequence %d refused: %v", a.verb, a.sequence, err)
		w.judge.violation(o.lines(), "a valid polite write was refused: %v", err)
		return
	default:
		w.counts.Unknown.Add(1)
		o.lose(a, err)
	}
	if ctx.Err() != nil || !restarts.lasted() {
		return
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.counts.Overloaded.Add(1)
	} else if status/100 == 5 && !faults.lasted() {
		return
	}
	w.judge.violation(o.lines(), "a polite write failed: %v", err)
}

// verb is a kind of write.
type verb struct {
	name    string
	deletes bool
	request func(o *object, sequence, revision int64, manager, text string) request
}

func path(o *object) string { return collection(o.namespace) + "/" + o.name }

// revisionField returns the member resourceVersion with a comma; "" for an object that does not exist.
func revisionField(revision int64) string {
	if revision == 0 {
		return ""
	}
	return fmt.Sprintf(`"resourceVersion":"%d",`, revision)
}

// body returns a ConfigMap. Its precondition is that the object has the revision.
func body(o *object, sequence, revision int64, text string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{%s"name":%q},"data":{%q:"%d","text":%q}}`,
		revisionField(revision), o.name, sequenceKey, sequence, text)
}

var (
	apply = verb{"apply", false, func(o *object, sequence, revision int64, manager, text string) request {
		return request{"PATCH", path(o) + "?force=true&fieldManager=" + manager, "application/apply-patch+yaml", body(o, sequence, revision, text)}
	}}
	create = verb{"create", false, func(o *object, sequence, revision int64, _, text string) request {
		return request{"POST", collection(o.namespace), "application/json", body(o, sequence, revision, text)}
	}}
	update = verb{"update", false, func(o *object, sequence, revision int64, _, text string) request {
		return request{"PUT", path(o), "application/json", body(o, sequence, revision, text)}
	}}
	mergePatch = verb{"merge patch", false, func(o *object, sequence, revision int64, _, text string) request {
		return request{"PATCH", path(o), "application/merge-patch+json", body(o, sequence, revision, text)}
	}}
	strategicPatch = verb{"strategic merge patch", false, func(o *object, sequence, revision int64, _, text string) request {
		return request{"PATCH", path(o), "application/strategic-merge-patch+json", body(o, sequence, revision, text)}
	}}
	jsonPatch = verb{"JSON patch", false, func(o *object, sequence, revision int64, _, text string) request {
		return request{"PATCH", path(o), "application/json-patch+json", fmt.Sprintf(
			`[{"op":"replace","path":"/metadata/resourceVersion","value":"%d"},{"op":"add","path":"/data/%s","value":"%d"},{"op":"add","path":"/data/text","value":%q}]`,
			revision, sequenceKey, sequence, text)}
	}}
	remove = verb{"delete", true, func(o *object, _, revision int64, _, _ string) request {
		return request{"DELETE", path(o), "application/json", fmt.Sprintf(`{"preconditions":{"resourceVersion":"%d"}}`, revision)}
	}}

	creations = []verb{apply, create}
	verbs     = []verb{apply, apply, update, mergePatch, strategicPatch, jsonPatch, remove}
)

// reader is a polite user that reads the objects of all writers.
type reader struct {
	*world
	user   *user
	random *rand.Rand
}

// run reads until the context ends.
func (r *reader) run(ctx context.Context) {
	for pause(ctx, r.random) {
		o := r.objects[r.random.IntN(len(r.objects))]
		before, calm := o.snapshot(), r.restarts.now()
		observed, err := r.user.read(ctx, o)
		if err != nil {
			r.judgeRead(ctx, calm, err)
			continue
		}
		r.counts.Reads.Add(1)
		if err := o.compareRead(before, observed); err != nil {
			r.judge.violation(o.lines(), "%v", err)
		}
	}
}
