package applytest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// shared is a response of the fake server that contains the ConfigMap shared.
const shared = `200 {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"shared","namespace":"$NAMESPACE",` +
	`"uid":"4a1b2c3d-0000-4000-8000-000000000000","resourceVersion":"7","creationTimestamp":"2026-01-02T03:04:05Z",` +
	`"managedFields":[` +
	`{"manager":"bob","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:b":{}}},"subresource":"status"},` +
	`{"manager":"alice","operation":"Apply","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}]},` +
	`"data":{"a":"1","b":"2"},"list":[1,2]}`

const conflict = `409 {"kind":"Status","apiVersion":"v1","reason":"Conflict","message":"Apply failed: it is alice's since 2026-01-02T03:04:05Z",` +
	`"details":{"causes":[{"field":".data.b","reason":"FieldManagerConflict","message":"conflict with \"zoe\": and more"},` +
	`{"field":".data.a","reason":"FieldManagerConflict","message":"conflict with \"alice\""}]}}`

// TestExpectations checks a matching and a mismatching response for each kind of expectation. In a test case, an empty
// complaint means that the response matches.
func TestExpectations(t *testing.T) {
	for _, test := range []struct {
		name, serverResponse, expectation, text, complaint string
	}{
		{"status", shared, "answer", "200", ""},
		{"other status", shared, "answer", "201", "answer: expected status 201, received 200 {"},
		{"change without a state before", shared, "answer", "200 changed", "answer: expected the object to be changed, but no earlier response has the object"},
		{"not recorded", shared, "answer", "", "answer: the expectation is empty; record it"},

		{"object", shared, "object", "{apiVersion: v1, kind: ConfigMap, metadata: {name: shared, namespace: $NAMESPACE}, data: {a: '1', b: '2'}, list: [1, 2]}", ""},
		{"object with an extra field", shared, "object", "{apiVersion: v1, kind: ConfigMap, metadata: {name: shared, namespace: $NAMESPACE}, data: {a: '1'}, list: [1, 2]}", `object: .data.b: expected nothing, received "2"`},
		{"object with another value", shared, "object", "{apiVersion: v1, kind: ConfigMap, metadata: {name: shared, namespace: other}, data: {a: '1', b: '2'}, list: [1, 2]}", `object: .metadata.namespace: expected "other", received "applytest-`},
		{"object with a volatile field", shared, "object", "{apiVersion: v1, kind: ConfigMap, metadata: {name: shared, namespace: $NAMESPACE, resourceVersion: '8'}, data: {a: '1', b: '2'}, list: [1, 2]}", `object: .metadata.resourceVersion: expected "8", received "7"`},

		{"part", shared, "object has", "data: {a: '1'}", ""},
		{"part with another type", shared, "object has", "data: {a: 1}", `object has: .data.a: expected 1, received "1"`},
		{"part that is absent", shared, "object has", "data: {c: <any>}", `object has: .data.c: expected "<any>", received nothing`},
		{"absent", shared, "object has", "data: {c: <absent>}", ""},
		{"not absent", shared, "object has", "data: {a: <absent>}", `object has: .data.a: expected nothing, received "1"`},
		{"short list", shared, "object has", "list: [1]", "object has: .list[1]: expected no more items, received 2"},
		{"long list", shared, "object has", "list: [1, 2, 3]", "object has: .list[2]: expected 3, received no more items"},
		{"open list", shared, "object has", "list: [1, <more>]", ""},
		{"open list of others", shared, "object has", "list: [2, <more>]", "object has: .list[0]: expected 2, received 1"},
		{"placeholders", shared, "object has", "metadata: {uid: <uid>, resourceVersion: <version>, creationTimestamp: <time>, name: sh<any>d}", ""},
		{"no uid", shared, "object has", "metadata: {name: <uid>}", `object has: .metadata.name: expected "<uid>", received "shared"`},
		{"no version", shared, "object has", "metadata: {name: <version>}", `expected "<version>"`},
		{"no time", shared, "object has", "metadata: {name: <time>}", `expected "<time>"`},
		{"not now", shared, "object has", "metadata: {creationTimestamp: <now>}", `.metadata.creationTimestamp: expected the current time, received "2026-01-02T03:04:05Z"`},
		{"now", strings.ReplaceAll(shared, "2026-01-02T03:04:05Z", time.Now().UTC().Format(time.RFC3339)), "object has", "metadata: {creationTimestamp: <now>}", ""},
		{"not yet", strings.ReplaceAll(shared, "2026-01-02T03:04:05Z", "2999-01-02T03:04:05Z"), "object has", "metadata: {creationTimestamp: <now>}", "expected the current time"},
		{"other text around a placeholder", shared, "object has", "metadata: {name: x<any>}", `expected "x<any>"`},
		{"unknown step in a variable", shared, "object has", "metadata: {name: '${nowhere .metadata.name}'}", "expected an earlier response with this value, found none"},

		{"owners", shared, "owners", "alice Apply v1: .data.a\nbob Update v1 status: .data .data.b", ""},
		{"owners in any order", shared, "owners", "bob Update v1 status:\n  .data\n  .data.b\nalice Apply v1: .data.a", ""},
		{"owner lacks a field", shared, "owners", "alice Apply v1: .data.a .data.c\nbob Update v1 status: .data .data.b", "owners: alice Apply v1: expected to own .data.c, received an entry without"},
		{"owner has a field more", shared, "owners", "alice Apply v1: .data.a\nbob Update v1 status: .data.b", "owners: bob Update v1 status: expected not to own .data, received an entry with these fields"},
		{"owner of another subresource", shared, "owners", "alice Apply v1: .data.a\nbob Update v1: .data .data.b", "owners: bob Update v1: expected to own .data .data.b, received no such entry"},
		{"owner too many", shared, "owners", "alice Apply v1: .data.a", "owners: bob Update v1 status: expected no such entry, received an entry with .data .data.b"},
		{"no owners", shared, "owners", "none", "alice Apply v1: expected no such entry, received an entry with .data.a"},
		{"owners in order", shared, "owners in order", "bob Update v1 status: .data .data.b\nalice Apply v1: .data.a", ""},
		{"owners in another order", shared, "owners in order", "alice Apply v1: .data.a\nbob Update v1 status: .data .data.b", "owners in order: expected the order alice Apply v1, bob Update v1 status, received bob"},

		{"times", shared, "times", "alice Apply v1: new\nbob Update v1 status: new", ""},
		{"other times", shared, "times", "alice Apply v1: unchanged\nbob Update v1 status: new", "times: time of the entry alice Apply v1: expected unchanged, received new"},
		{"times of too few", shared, "times", "alice Apply v1: new", "times: time of the entry bob Update v1 status: expected no such entry, received an entry whose time is new"},
		{"times of too many", shared, "times", "alice Apply v1: new\nbob Update v1 status: new\nzoe Apply v1: new", "times: time of the entry zoe Apply v1: expected new, received nothing"},

		{"error", conflict, "error", "reason: Conflict\nmessage: 'Apply failed: <any>'", ""},
		{"causes in any order", conflict, "error", "causes:\n- {field: .data.b, message: 'conflict with \"zoe\"<any>'}\n- {field: .data.a, message: 'conflict with \"alice\"'}", ""},
		{"other message", conflict, "error", "message: 'Apply failed'", `error: .message: expected "Apply failed", received "Apply failed: it is alice's since`},
		{"a cause less", conflict, "error", "causes: [{field: .data.a}]", "error: .causes[1]: expected no more items"},
		{"no error", shared, "error", "reason: Conflict", "error: expected a Status, received 200"},

		{"warning", "Warning: 299 - \"unknown field \\\"x\\\"\"\n" + shared, "warnings", `unknown field "x"`, ""},
		{"no warning", shared, "warnings", "none", ""},
		{"missing warning", shared, "warnings", "beware", `warnings: expected ["beware"], received []`},
		{"unexpected warning", "Warning: 299 - \"beware\"\n" + shared, "warnings", "none", `warnings: expected [], received ["beware"]`},

		{"header", shared, "headers", "Content-Type: application/json", ""},
		{"other header", shared, "headers", "Content-Type: application/yaml", `headers: Content-Type: expected "application/yaml", received "application/json"`},
		{"absent header", shared, "headers", "Warning: <absent>", ""},
		{"header that is not absent", shared, "headers", "Content-Type: <absent>", `headers: Content-Type: expected nothing`},

		{"body", "Content-Type: text/plain\n404 page not found", "body", "page <any>", ""},
		{"other body", "Content-Type: text/plain\n404 page not found", "body", "page", `body: expected "page", received "page not found"`},

		{"events without a watch", shared, "events", "- ADDED: {}", "events: expected an earlier WATCH step"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			script := "It works.\n-- step --\nGET configmaps/shared\n-- " + test.expectation + " --\n" + test.text + "\n"
			result := startFakeServer(t, test.serverResponse).run(t, script)
			if test.complaint == "" {
				if result.Outcome != Pass {
					t.Errorf("outcome = %s %s, want pass", result.Outcome, result.Failure)
				}
				return
			}
			if result.Outcome != Fail || !strings.Contains(strings.Join(result.Failure.Complaints, "\n"), test.complaint) {
				t.Errorf("outcome = %v %v, want %s", result.Outcome, result.Failure, test.complaint)
			}
		})
	}
}

// TestWithoutExpectation checks that the request of a step without expectations must succeed.
func TestWithoutExpectation(t *testing.T) {
	const script = "It works.\n-- step --\nGET configmaps/shared\n"
	if result := startFakeServer(t, shared).run(t, script); result.Outcome != Pass {
		t.Errorf("outcome = %s %v, want pass", result.Outcome, result.Failure)
	}
	if result := startFakeServer(t, conflict).run(t, script); result.Outcome != Fail {
		t.Error("a step with an unexpected conflict passed, want a failure")
	}
}

// TestChangedSinceLastResponse checks the expectations that compare the response with the previous response for the same
// object.
func TestChangedSinceLastResponse(t *testing.T) {
	later := strings.NewReplacer(`"resourceVersion":"7"`, `"resourceVersion":"8"`,
		`"operation":"Apply","apiVersion":"v1","time":"2026-01-02T03:04:05Z"`, `"operation":"Apply","apiVersion":"v1","time":"2026-01-02T03:04:06Z"`).Replace(shared)
	const script = "It works.\n-- one --\nGET configmaps/shared\n-- two --\nGET configmaps/shared\n"
	const changedTimes, sameTimes = "alice Apply v1: changed\nbob Update v1 status: unchanged\n", "alice Apply v1: unchanged\nbob Update v1 status: unchanged\n"
	for _, test := range []struct {
		name, second, expectation string
		want                      Outcome
	}{
		{"same", shared, "-- answer --\n200 unchanged\n-- times --\n" + sameTimes, Pass},
		{"not changed", shared, "-- answer --\n200 changed\n", Fail},
		{"changed", later, "-- answer --\n200 changed\n-- times --\n" + changedTimes, Pass},
		{"not unchanged", later, "-- answer --\n200 unchanged\n", Fail},
		{"time changed", later, "-- times --\n" + sameTimes, Fail},
		{"time not changed", shared, "-- times --\n" + changedTimes, Fail},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if result := startFakeServer(t, shared, test.second).run(t, script+test.expectation); result.Outcome != test.want {
				t.Errorf("outcome = %v %v, want %v", result.Outcome, result.Failure, test.want)
			}
		})
	}
}

// TestEvents checks that an expectation of events consumes the events that it compares, and that missing and additional
// events fail the script.
func TestEvents(t *testing.T) {
	// Periodic bookmarks may arrive at any time, so scripts ignore them.
	const events = `200 {"type":"ADDED","object":{"metadata":{"name":"a"}}}{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}` +
		`{"type":"DELETED","object":{"metadata":{"name":"a"}}}`
	const script = "It works.\n-- watch --\nWATCH configmaps\n-- read --\nGET configmaps/shared\n"
	for _, test := range []struct {
		name, expectation string
		want              Outcome
	}{
		{"all", "-- events --\n- ADDED: {metadata: {name: a}}\n- DELETED: {}\n", Pass},
		{"of the step", "-- events from watch --\n- ADDED: {metadata: {name: a}}\n- DELETED: {}\n", Pass},
		{"of no step", "-- events from elsewhere --\nnone\n", Fail},
		{"once", "-- events --\n- ADDED: {}\n- DELETED: {}\n-- again --\nGET configmaps/shared\n-- events --\nnone\n", Pass},
		{"one too many", "-- events --\n- ADDED: {}\n", Fail},
		{"none", "-- events --\nnone\n", Fail},
		{"another type", "-- events --\n- ADDED: {}\n- MODIFIED: {}\n", Fail},
		{"another object", "-- events --\n- ADDED: {metadata: {name: b}}\n- DELETED: {}\n", Fail},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if result := startFakeServer(t, events, shared).run(t, script+test.expectation); result.Outcome != test.want {
				t.Errorf("outcome = %v %v, want %v", result.Outcome, result.Failure, test.want)
			}
		})
	}
}

// TestWatchEnds checks that the goroutine of a watch ends with the watch, even if its events are not consumed.
func TestWatchEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	w := &watch{events: make(chan event)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		events := strings.Repeat(`{"type":"ADDED","object":{"metadata":{"name":"a"}}}`, 3)
		w.read(ctx, &http.Response{Body: io.NopCloser(strings.NewReader(events))})
	}()
	<-w.events // waits until the goroutine reads events
	stop()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the goroutine of the watch is still running after the watch has ended: it is blocked on the channel of events")
	}
}
