package encoding

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
)

// decodeAny decodes a response in any of the encodings to a document.
func decodeAny(t *testing.T, e *Encoding, response []byte) document.Value {
	t.Helper()
	text, err := e.DecodeBody(string(response), schema.GroupVersionKind{})
	if err != nil {
		t.Fatalf("%s: DecodeBody() = %v, want no error", e, err)
	}
	v, err := document.ParseJSON(text)
	if err != nil && e.YAML {
		v, err = document.ParseYAML([]byte(text))
	}
	if err != nil {
		t.Fatalf("%s: DecodeBody() = %s, which cannot be parsed: %v", e, text, err)
	}
	return v
}

// TestEncodings checks the contract of Encoding and Serializer for every encoding: it can decode its own output, whether that
// was written as a whole or in chunks, and no other encoding has its media types.
func TestEncodings(t *testing.T) {
	types := map[string]string{}
	claim := func(e *Encoding, mediaType string) {
		if owner := types[mediaType]; mediaType != "" && owner != "" {
			t.Errorf("%s: media type %s is already used by %s", e, mediaType, owner)
		}
		types[mediaType] = e.String()
	}
	for _, e := range Encodings {
		claim(e, e.MediaType)
		claim(e, e.StreamType)
		claim(e, string(e.ApplyType))
		if ForMediaType(e.MediaType) != e || e.ApplyType != "" && ForApply(e.ApplyType) != e {
			t.Errorf("ForMediaType(%q), ForApply(%q) = %v, %v, want %v", e.MediaType, e.ApplyType, ForMediaType(e.MediaType), ForApply(e.ApplyType), e)
		}
		view := View{Format: Format{Encoding: e}}
		object, err := AppendObject([]byte("before"), view, Text(config))
		if err != nil || !strings.HasPrefix(string(object), "before") {
			t.Fatalf("%s: AppendObject() = %q, %v, want it to start with \"before\"", e, object, err)
		}
		if got := decodeAny(t, e, object[len("before"):]); !document.Equal(got, parseText(t, []byte(config))) {
			t.Errorf("%s: decoded object = %s, want %s", e, got.JSON(), config)
		}
		status := metav1.Status{Status: metav1.StatusFailure, Code: 404, Reason: metav1.StatusReasonNotFound, Message: "a\nb"}
		text, err := AppendStatus(nil, view.Format, &status)
		if err != nil {
			t.Fatalf("%s: AppendStatus() = %v, want no error", e, err)
		}
		if got := decodeAny(t, e, text); got.Get("kind").Text() != "Status" || got.Get("message").Text() != status.Message {
			t.Errorf("%s: AppendStatus() = %s, want a Status with the message %q", e, got.JSON(), status.Message)
		}
		checkListOf(t, e)
		checkEventOf(t, e)
	}
}

// checkListOf checks that e can decode a list that it has encoded, and that a list encoded in chunks has the same bytes as the
// list encoded as a whole.
func checkListOf(t *testing.T, e *Encoding) {
	t.Helper()
	view, list := View{Format: Format{Encoding: e}}, List{Kind: "ConfigMapList", APIVersion: "v1", ResourceVersion: 7}
	whole, err := AppendList(nil, view, list, objects(config, config), nil)
	if err != nil {
		t.Fatalf("%s: AppendList() = %v, want no error", e, err)
	}
	if got := decodeAny(t, e, whole); got.Get("kind").Text() != list.Kind || got.Get("items").Len() != 2 {
		t.Errorf("%s: AppendList() = %s, want a %s with two items", e, got.JSON(), list.Kind)
	}
	var sent []byte
	rest, err := AppendList(nil, view, list, objects(config, config), func(b []byte) ([]byte, bool) {
		sent = append(sent, b...)
		return b[:0], true
	})
	if err != nil || string(append(sent, rest...)) != string(whole) {
		t.Errorf("%s: the list in chunks = %q, %v, want %q", e, append(sent, rest...), err, whole)
	}
	calls := 0
	if _, err := AppendList(nil, view, list, objects(config, config), func(b []byte) ([]byte, bool) { calls++; return b[:0], false }); err != nil || calls > 1 {
		t.Errorf("%s: AppendList() called a sink that returns false %d times, error %v, want one call and no error", e, calls, err)
	}
}

// checkEventOf checks that e can encode a watch event if, and only if, it supports watches.
func checkEventOf(t *testing.T, e *Encoding) {
	t.Helper()
	events, err := NewWatchEncoder(View{Format: Format{Encoding: e}})
	if err != nil {
		t.Fatal(err)
	}
	event, err := events.Append(nil, "ADDED", Text(config))
	if hasWatches := e.StreamType != ""; hasWatches != (err == nil) {
		t.Errorf("%s: AppendEvent(): error = %v, want an error if and only if the encoding does not support watches (hasWatches = %v)", e, err, hasWatches)
	}
	if err == nil && !strings.Contains(string(event), "ADDED") {
		t.Errorf("%s: AppendEvent() = %q, want an ADDED event", e, event)
	}
}
