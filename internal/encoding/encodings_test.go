package encoding

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
)

// decodeAny decodes a response in any encoding.
func decodeAny(t *testing.T, e *Encoding, response []byte) document.Value {
	t.Helper()
	text, err := e.DecodeBody(string(response), schema.GroupVersionKind{})
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	v, err := document.ParseJSON(text)
	if err != nil && e.YAML {
		v, err = document.ParseYAML([]byte(text))
	}
	if err != nil {
		t.Fatalf("%s: %s: %v", e, text, err)
	}
	return v
}

// TestEncodings checks the contract of Encoding and Serializer for every encoding: it decodes its own output, written
// as a whole or in chunks, and its media types are unique.
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
			t.Errorf("%s: lookup by media type failed", e)
		}
		view := View{Format: Format{Encoding: e}}
		object, err := AppendObject([]byte("before"), view, Text(config))
		if err != nil || !strings.HasPrefix(string(object), "before") {
			t.Fatalf("%s: %q: %v", e, object, err)
		}
		if got := decodeAny(t, e, object[len("before"):]); !document.Equal(got, parseText(t, []byte(config))) {
			t.Errorf("%s: received %s, want %s", e, got.JSON(), config)
		}
		status := metav1.Status{Status: metav1.StatusFailure, Code: 404, Reason: metav1.StatusReasonNotFound, Message: "a\nb"}
		text, err := AppendStatus(nil, view.Format, &status)
		if err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		if got := decodeAny(t, e, text); got.Get("kind").Text() != "Status" || got.Get("message").Text() != status.Message {
			t.Errorf("%s: received %s", e, got.JSON())
		}
		checkListOf(t, e)
		checkEventOf(t, e)
	}
}

// checkListOf encodes a list as a whole and in chunks.
func checkListOf(t *testing.T, e *Encoding) {
	t.Helper()
	view, list := View{Format: Format{Encoding: e}}, List{Kind: "ConfigMapList", APIVersion: "v1", ResourceVersion: 7}
	whole, err := AppendList(nil, view, list, objects(config, config), nil)
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	if got := decodeAny(t, e, whole); got.Get("kind").Text() != list.Kind || got.Get("items").Len() != 2 {
		t.Errorf("%s: received %s", e, got.JSON())
	}
	var sent []byte
	rest, err := AppendList(nil, view, list, objects(config, config), func(b []byte) ([]byte, bool) {
		sent = append(sent, b...)
		return b[:0], true
	})
	if err != nil || string(append(sent, rest...)) != string(whole) {
		t.Errorf("%s: the list in chunks is %q, want %q: %v", e, append(sent, rest...), whole, err)
	}
	calls := 0
	if _, err := AppendList(nil, view, list, objects(config, config), func(b []byte) ([]byte, bool) { calls++; return b[:0], false }); err != nil || calls > 1 {
		t.Errorf("%s: AppendList called the sink %d times after it returned false, error %v", e, calls, err)
	}
}

// checkEventOf encodes a watch event, if the encoding supports watches.
func checkEventOf(t *testing.T, e *Encoding) {
	t.Helper()
	events, err := NewWatchEncoder(View{Format: Format{Encoding: e}})
	if err != nil {
		t.Fatal(err)
	}
	event, err := events.Append(nil, "ADDED", Text(config))
	if hasWatches := e.StreamType != ""; hasWatches != (err == nil) {
		t.Errorf("%s: supports watches: %v, but AppendEvent returned %v", e, hasWatches, err)
	}
	if err == nil && !strings.Contains(string(event), "ADDED") {
		t.Errorf("%s: received %q", e, event)
	}
}
