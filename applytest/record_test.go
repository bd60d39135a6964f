package applytest

import (
	"strings"
	"testing"
)

// TestRecordEmpty checks that recording fills in empty expectations.
func TestRecordEmpty(t *testing.T) {
	const script = `It works.

-- step --
GET configmaps/shared
-- answer --
-- object --
-- owners --
-- owners in order --
-- times --
-- warnings --
-- headers --
-- conflict --
GET configmaps/shared
-- answer --
-- error --
`
	const want = `It works.

-- step --
GET configmaps/shared
-- answer --
200
-- object --
apiVersion: v1
kind: ConfigMap
metadata:
  name: shared
  namespace: $NAMESPACE
data:
  a: "1"
  b: "2"
list:
- 1
- 2
-- owners --
alice Apply v1: .data.a
bob Update v1 status: .data .data.b
-- owners in order --
bob Update v1 status: .data .data.b
alice Apply v1: .data.a
-- times --
alice Apply v1: new
bob Update v1 status: new
-- warnings --
none
-- headers --
Content-Type: application/json

-- conflict --
GET configmaps/shared
-- answer --
409
-- error --
reason: Conflict
message: 'Apply failed: it is alice''s since <time>'
causes:
- field: .data.a
  message: conflict with "alice"<any>
  reason: FieldManagerConflict
- field: .data.b
  message: conflict with "zoe"<any>
  reason: FieldManagerConflict
`
	recorded := startFakeServer(t, shared, conflict).record(t, script)
	if recorded != want {
		t.Errorf("the recorder wrote\n%s\nwant\n%s", recorded, want)
	}
	if again := startFakeServer(t, shared, conflict).record(t, recorded); again != recorded {
		t.Errorf("recording the recorded script changed it to\n%s, want no change", again)
	}
}

// TestRecordKeepsForms checks that recording does not change matching expectations, and writes new values of
// mismatching expectations in the syntax of the script.
func TestRecordKeepsForms(t *testing.T) {
	const head = "It works.\n-- step --\nGET configmaps/shared\n"
	for _, test := range []struct{ name, before, after string }{
		{"comments and flow style", "-- object has --\n# mine\ndata: {a: \"1\"}\n", "-- object has --\n# mine\ndata: {a: \"1\"}\n"},
		{"placeholders", "-- object has --\nmetadata: {name: sh<any>, uid: <uid>}\n", "-- object has --\nmetadata: {name: sh<any>, uid: <uid>}\n"},
		{"only the named fields", "-- object has --\ndata: {a: \"9\"}\nmetadata: {name: sh<any>}\n", "-- object has --\nmetadata:\n  name: sh<any>\ndata:\n  a: \"1\"\n"},
		{"a field that is gone", "-- object has --\ndata: {c: \"9\"}\n", "-- object has --\ndata:\n  c: <absent>\n"},
		{"absent deletionTimestamp", "-- object has --\nmetadata: {name: x, deletionTimestamp: <absent>}\n", "-- object has --\nmetadata:\n  deletionTimestamp: <absent>\n  name: shared\n"},
		{"status alone", "-- answer --\n201\n", "-- answer --\n200\n"},
		{"only the headers that are named", "-- headers --\nContent-Type: x\nWarning: y\n", "-- headers --\nContent-Type: application/json\nWarning: <absent>\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := startFakeServer(t, shared).record(t, head+test.before); got != head+test.after {
				t.Errorf("the recorder wrote\n%s\nwant\n%s", strings.TrimPrefix(got, head), test.after)
			}
		})
	}
}

// TestRecordDoesNotModifyText checks that recording does not modify the slice that was passed to Parse.
func TestRecordDoesNotModifyText(t *testing.T) {
	const head = "It works.\n-- step --\nGET configmaps/shared\n-- answer --\n"
	text := []byte(head + "200\n-- other --\nGET configmaps/shared\n")
	script, err := Parse("area/behaviour", text)
	if err != nil {
		t.Fatal(err)
	}
	before := string(text)
	if got, want := string(script.withRecorded(map[int]string{})), head+"200\n\n-- other --\nGET configmaps/shared\n"; got != want || string(text) != before {
		t.Errorf("the recorder wrote\n%s\nwant\n%s; the text is now\n%s", got, want, text)
	}
}

// TestRecordMasks checks that recording replaces text that differs from run to run with variables and placeholders.
func TestRecordMasks(t *testing.T) {
	const generated = `201 {"metadata":{"generateName":"web-","name":"web-x7k2p","deletionTimestamp":"2026-01-02T03:04:05Z"},"link":"/namespaces/$NAMESPACE/web"}`
	const want = "metadata:\n  deletionTimestamp: <time>\n  generateName: web-\n  name: web-<any>\nlink: /namespaces/$NAMESPACE/web\n"
	recorded := startFakeServer(t, generated).record(t, "It works.\n-- step --\nGET configmaps/shared\n-- object --\n")
	if _, got, _ := strings.Cut(recorded, "-- object --\n"); got != want {
		t.Errorf("the recorder wrote\n%s\nwant\n%s", got, want)
	}
	if result := startFakeServer(t, generated).run(t, recorded); result.Outcome != Pass {
		t.Errorf("the recorded script fails: %v, want a pass", result.Failure)
	}
	// The apiVersion of a custom resource whose CRD the script creates contains the namespace.
	own := strings.ReplaceAll(shared, `"apiVersion":"v1","time"`, `"apiVersion":"$NAMESPACE.example.com/v1","time"`)
	recorded = startFakeServer(t, own).record(t, "It works.\n-- step --\nGET configmaps/shared\n-- owners --\n-- times --\n")
	for _, line := range []string{"alice Apply $NAMESPACE.example.com/v1: .data.a\n", "alice Apply $NAMESPACE.example.com/v1: new\n"} {
		if !strings.Contains(recorded, line) {
			t.Errorf("the recorder wrote\n%s\nwant %s", recorded, line)
		}
	}
	if result := startFakeServer(t, own).run(t, recorded); result.Outcome != Pass {
		t.Errorf("the recorded script fails: %v, want a pass", result.Failure)
	}
}

// TestRecordEvents checks that recording writes new and changed events with their type and name.
func TestRecordEvents(t *testing.T) {
	const events = `200 {"type":"ADDED","object":{"metadata":{"name":"a","uid":"1"}}}{"type":"DELETED","object":{"metadata":{"name":"a"}}}`
	const script = "It works.\n-- watch --\nWATCH configmaps\n-- read --\nGET configmaps/shared\n-- events --\n"
	const want = "- ADDED:\n    metadata:\n      name: a\n- DELETED:\n    metadata:\n      name: a\n"
	for _, before := range []string{"", "none\n", "- ADDED: {metadata: {name: a}}\n"} {
		if got := startFakeServer(t, events, shared).record(t, script+before); got != script+want {
			t.Errorf("the recorder wrote\n%s\nwant\n%s", got, script+want)
		}
	}
}

// TestRecordUIDs checks that recording replaces the uids of ownerReferences in owned field paths with variables,
// because uids differ from run to run.
func TestRecordUIDs(t *testing.T) {
	child := strings.NewReplacer(`"uid":"4a1b2c3d-0000-4000-8000-000000000000"`, `"uid":"5a1b2c3d-0000-4000-8000-000000000000"`,
		`{"f:data":{"f:a":{}}}`, `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"4a1b2c3d-0000-4000-8000-000000000000\"}":{}}}}`).Replace(shared)
	recorded := startFakeServer(t, shared, child).record(t, "It works.\n-- the parent --\nGET configmaps/shared\n-- child --\nGET configmaps/child\n-- owners --\n")
	if want := `alice Apply v1: .metadata.ownerReferences[uid="${the parent .metadata.uid}"]` + "\n"; !strings.Contains(recorded, want) {
		t.Errorf("the recorder wrote\n%s\nwant %s", recorded, want)
	}
	other := strings.NewReplacer("4a1b2c3d", "6a1b2c3d")
	if result := startFakeServer(t, other.Replace(shared), other.Replace(child)).run(t, recorded); result.Outcome != Pass {
		t.Errorf("the recorded script fails: %v, want a pass", result.Failure)
	}
}

// TestRecordKeepsKubernetes checks that recording does not replace responses of kube-apiserver with responses of
// another implementation.
func TestRecordKeepsKubernetes(t *testing.T) {
	const script = "It works.\ndifference: because\n-- step --\nGET configmaps/shared\n-- answer --\n201\n-- error of cadastre --\nreason: Other\n" +
		"-- other --\nGET configmaps/shared\n-- answer --\n201\n"
	f := startFakeServer(t, conflict)
	f.version = "v1.37.0+cadastre"
	want := strings.Replace(script, "Other", "Conflict", 1)
	if got := f.record(t, script); got != strings.Replace(want, "Conflict\n-- other", "Conflict\n\n-- other", 1) {
		t.Errorf("recorded\n%s", got)
	}
}

// TestRecordMissing checks that recording reports an error and does not change the script if the response does not
// contain the value that an expectation states.
func TestRecordMissing(t *testing.T) {
	const broken = `200 {"metadata":{"managedFields":[{"manager":"alice","operation":"Apply","apiVersion":"v1","fieldsV1":{"data":{}}}]}}`
	for _, test := range []struct{ expectation, serverResponse, complaint string }{
		{"owners", broken, ".metadata.managedFields[0].fieldsV1: "},
		{"times", broken, ".metadata.managedFields[0].fieldsV1: "},
		{"times", "200 {}", "the response does not contain the value to record"},
		{"error", shared, "expected a Status, received 200"},
		{"events", shared, "expected an earlier WATCH step"},
		{"object", "Content-Type: text/plain\n200 fine", "the response does not contain the value to record"},
		{"body", "Content-Type: text/plain\n200 ", "the response does not contain the value to record"},
	} {
		t.Run(test.expectation+" "+test.complaint, func(t *testing.T) {
			t.Parallel()
			options := startFakeServer(t, test.serverResponse).options("It works.\n-- step --\nGET configmaps/shared\n-- " + test.expectation + " --\n")
			options.Record = func(_ string, text []byte) error {
				t.Errorf("recorded\n%s", text)
				return nil
			}
			report, err := Run(t.Context(), options)
			if err != nil || report.Count(Fail) != 1 || !strings.Contains(report.Results[0].Failure.String(), test.expectation+": the response can't be recorded: "+test.complaint) {
				t.Errorf("Run() = %v, %+v, want one failed script that reports why the response cannot be recorded", err, report)
			}
		})
	}
}
