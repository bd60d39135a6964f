package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// confirmedObject returns the model of an object with confirmed writes up to sequence 3, at resourceVersion 30.
func confirmedObject(t *testing.T) *object {
	t.Helper()
	o := &object{namespace: "n", name: "o"}
	for revision := int64(10); revision <= 30; revision += 10 {
		a, _ := o.begin("apply", false)
		if err := o.confirm(a, revision); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func present(sequence, revision int64) state { return state{true, sequence, revision} }

// TestObserve checks which states of an object are violations, with and without a write whose result is unknown.
func TestObserve(t *testing.T) {
	none := func(*object) {}
	lost := func(deletes bool) func(*object) {
		return func(o *object) {
			a, _ := o.begin("write", deletes)
			o.lose(a, "connection closed")
		}
	}
	deleted := func(o *object) {
		a, _ := o.begin("delete", true)
		_ = o.confirm(a, 0) // a deletion has no resourceVersion to check
	}
	for _, test := range []struct {
		name     string
		before   func(*object)
		observed state
		want     string // part of the error; "" for none
	}{
		{"the confirmed state", none, present(3, 30), ""},
		{"a lost write", none, present(2, 20), "expected sequence 3"},
		{"a lost object", none, state{}, "expected sequence 3"},
		{"another revision of the same write", none, present(3, 31), "expected sequence 3"},
		{"a write that was not sent", none, present(4, 40), "expected sequence 3"},
		{"an unknown write without effect", lost(false), present(3, 30), ""},
		{"an unknown write with effect", lost(false), present(4, 40), ""},
		{"an unknown write with an old revision", lost(false), present(4, 25), "greater than 30"},
		{"a lost write before an unknown one", lost(false), present(2, 20), "or the result of the write with sequence 4"},
		{"an unknown deletion with effect", lost(true), state{}, ""},
		{"an unknown deletion without effect", lost(true), present(3, 30), ""},
		{"a deleted object", deleted, state{}, ""},
		{"a resurrected object", deleted, present(3, 30), "expected absent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := confirmedObject(t)
			test.before(o)
			expectError(t, o.observe(test.observed), test.want)
		})
	}
}

func expectError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("error = %v, want one with %q", err, want)
	}
}

// TestLateWrite checks that a write without effect at first may have it later, but not after the next confirmed write.
func TestLateWrite(t *testing.T) {
	o := confirmedObject(t)
	a, _ := o.begin("update", false)
	o.lose(a, "connection closed")
	expectError(t, o.observe(present(3, 30)), "")
	if !o.mayConflict() {
		t.Error("mayConflict() = false, want true")
	}
	expectError(t, o.observe(present(4, 40)), "")
	next, _ := o.begin("update", false)
	expectError(t, o.confirm(next, 50), "")
	expectError(t, o.observe(present(4, 40)), "expected sequence 5")
}

// TestConfirm checks that the resourceVersion of a confirmed write must be a new one, also after a deletion.
func TestConfirm(t *testing.T) {
	o := confirmedObject(t)
	a, _ := o.begin("delete", true)
	expectError(t, o.confirm(a, 0), "")
	a, _ = o.begin("create", false)
	expectError(t, o.confirm(a, 30), "greater than 30")
}

// TestCompareRead checks which results of a read beside writes are violations.
func TestCompareRead(t *testing.T) {
	o := confirmedObject(t)
	before := o.snapshot()
	expectError(t, o.compareRead(before, present(3, 30)), "")
	expectError(t, o.compareRead(before, present(2, 20)), "a read that began after")
	expectError(t, o.compareRead(before, state{}), "a read that began after")
	expectError(t, o.compareRead(before, present(4, 40)), "a read that began after") // was not sent
	o.begin("delete", true)
	expectError(t, o.compareRead(before, state{}), "")
	o.begin("create", false)
	expectError(t, o.compareRead(before, present(5, 50)), "")
}

// TestRefusedWriteInEvent checks that an event of a write that was refused is a violation, and one of a write with an unknown result is not.
func TestRefusedWriteInEvent(t *testing.T) {
	o := confirmedObject(t)
	refused, _ := o.begin("update", false)
	lost, _ := o.begin("update", false)
	o.lose(lost, "connection closed")
	expectError(t, o.checkEvents([]int64{lost.sequence}), "")
	expectError(t, o.checkEvents([]int64{refused.sequence}), "refused or not sent")
}

// event returns a watch event.
func event(kind, name string, sequence, revision int64) watchEvent {
	return watchEvent{kind, json.RawMessage(fmt.Sprintf(`{"metadata":{"name":%q,"resourceVersion":"%d"},"data":{"sequence":"%d"}}`, name, revision, sequence))}
}

// TestWatcher checks which sequences of events are violations.
func TestWatcher(t *testing.T) {
	added, modified := event("ADDED", "o", 1, 10), event("MODIFIED", "o", 2, 20)
	for _, test := range []struct {
		name   string
		events []watchEvent
		want   string
	}{
		{"a life", []watchEvent{added, modified, event("DELETED", "o", 2, 30), event("ADDED", "o", 4, 40)}, ""},
		{"a duplicate", []watchEvent{added, modified, modified}, "after 20"},
		{"an older event", []watchEvent{added, event("MODIFIED", "o", 2, 9)}, "after 10"},
		{"an older state", []watchEvent{added, modified, event("MODIFIED", "o", 1, 30)}, "sequence 1 after 2"},
		{"a missing ADDED", []watchEvent{modified}, "an event is missing"},
		{"a missing DELETED", []watchEvent{added, event("ADDED", "o", 3, 30)}, "an event is missing"},
		{"a deletion of another state", []watchEvent{added, event("DELETED", "o", 2, 30)}, "expected that of the object"},
		{"bookmarks", []watchEvent{added, event("BOOKMARK", "", 0, 10), event("BOOKMARK", "", 0, 15), modified}, ""},
		{"a bookmark backwards", []watchEvent{added, event("BOOKMARK", "", 0, 9)}, "bookmark"},
		{"an event before a bookmark", []watchEvent{added, event("BOOKMARK", "", 0, 25), modified}, "after 25"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWatcher("n")
			var err error
			for _, e := range test.events {
				if err == nil {
					err = w.accept(e)
				}
			}
			expectError(t, err, test.want)
		})
	}
}

// TestMissingEvent checks that a confirmed write without an event is a difference, before and after its event.
func TestMissingEvent(t *testing.T) {
	w, o := newWatcher("n"), confirmedObject(t)
	if err := w.accept(event("ADDED", "o", 1, 10)); err != nil {
		t.Fatal(err)
	}
	w.expect(o, &attempt{"apply", 1, false}, 10)
	listed := map[string]state{"o": present(1, 10)}
	if got := w.difference(listed); got != "" {
		t.Errorf("difference() = %q, want none", got)
	}
	w.expect(o, &attempt{"apply", 2, false}, 20)
	if got := w.difference(listed); !strings.Contains(got, "no event for the confirmed write of o with sequence 2") {
		t.Errorf("difference() = %q, want the missing event", got)
	}
	listed["o"] = present(2, 20)
	if err := w.accept(event("MODIFIED", "o", 2, 20)); err != nil {
		t.Fatal(err)
	}
	if got := w.difference(listed); got != "" {
		t.Errorf("difference() = %q, want none", got)
	}
	if got := w.takeUnconfirmed(); len(got) > 0 {
		t.Errorf("takeUnconfirmed() = %v, want none", got)
	}
}

// TestHotObject checks the bounds of the fields of the hot object.
func TestHotObject(t *testing.T) {
	h := &hotObject{namespace: "n"}
	before, value := h.snapshot(), h.begin(0)
	expectError(t, h.confirm(0, value, before, map[string]string{"field-0": "1"}), "")
	expectError(t, h.confirm(0, value, before, map[string]string{}), "field-0: expected a number from 1 to 1, received 0")
	h.begin(0)
	expectError(t, h.compare(map[string]string{"field-0": "2"}), "")
	expectError(t, h.compare(map[string]string{"field-0": "1"}), "expected a number from 2 to 2")
	expectError(t, h.compare(map[string]string{"field-0": "3"}), "expected a number from 2 to 2")
}

// TestMoveNow checks the change of time.go: the source of this release has the text, another source is an error.
func TestMoveNow(t *testing.T) {
	overlay, err := writeOverlay("../..", t.TempDir())
	if err != nil || overlay == "" {
		t.Errorf("writeOverlay() = %q, %v, want a file", overlay, err)
	}
	_, err = moveNow("func Now() Time { return Time{} }")
	expectError(t, err, "this release of Go reads the clock in another way")
}

// TestDisturbance checks that a time with a disturbance is not calm, however short it was.
func TestDisturbance(t *testing.T) {
	var d disturbance
	calm := d.now()
	if !calm.lasted() {
		t.Error("lasted() = false without a disturbance, want true")
	}
	d.begin()
	during := d.now()
	d.end()
	if calm.lasted() || during.lasted() {
		t.Errorf("lasted() = %v, %v, want false before and during the disturbance", calm.lasted(), during.lasted())
	}
	if !d.now().lasted() {
		t.Error("lasted() = false after the disturbance, want true")
	}
}
