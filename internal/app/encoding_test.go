package app

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/encoding"
)

const (
	hexType   = "application/x-hex"
	hexSeq    = "application/x-hex-seq"
	hexApply  = "application/apply-patch+hex"
	startOnly = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
)

// registerHex adds an encoding that writes JSON as hexadecimal digits, for the duration of a test. It returns the counter of
// encoded documents.
func registerHex(t *testing.T) *atomic.Int64 {
	t.Helper()
	encoded := new(atomic.Int64)
	before := encoding.Encodings
	t.Cleanup(func() { encoding.Encodings = before })
	encoding.Encodings = append(slices.Clip(before), &encoding.Encoding{
		MediaType:  hexType,
		StreamType: hexSeq,
		ApplyType:  hexApply,
		Tables:     true,
		Serializer: encoding.NewSerializer(encoding.Codec{
			Decode: func(body string) (string, error) {
				text, err := hex.DecodeString(body)
				return string(text), err
			},
			Append: func(dst []byte, v document.Value) []byte {
				encoded.Add(1)
				return hex.AppendEncode(dst, v.AppendJSON(nil))
			},
			AppendEvent: func(dst []byte, eventType string, object []byte) []byte {
				return fmt.Appendf(dst, "%s %s\n", eventType, object)
			},
		}),
	})
	return encoded
}

// fromHex decodes a response in the hex encoding to JSON. It fails the test unless the response has the status code and the
// media type of the encoding.
func fromHex(t *testing.T, a *testResponse, code int) string {
	t.Helper()
	text, err := hex.DecodeString(a.text)
	if err != nil || a.code != code || a.header.Get("Content-Type") != hexType {
		t.Fatalf("response in the hex encoding: got %d %s %q (decoded %s, error %v), want %d %s", a.code, a.header.Get("Content-Type"), a.text, text, err, code, hexType)
	}
	if !json.Valid(text) {
		t.Fatalf("response in the hex encoding: got %s, want JSON", text)
	}
	return string(text)
}

func mustContain(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("text = %s, want it to contain %q", text, part)
		}
	}
}

func toHex(text string) string { return hex.EncodeToString([]byte(text)) }

// TestRegisteredEncoding checks that an encoding that is only added to the list of encodings is served everywhere: in
// request bodies, responses, watches, errors, discovery and OpenAPI.
func TestRegisteredEncoding(t *testing.T) {
	registerHex(t)
	c := start(t, Config{Drop: true})
	c.define()
	const accept, contentType = "Accept: " + hexType, "Content-Type: " + hexType
	widget := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"size":1}`

	mustContain(t, fromHex(t, c.call("POST", configMaps, toHex(configMap("a", "k", "v")), accept, contentType), 201), `"name":"a"`, `"k":"v"`, "managedFields")
	fromHex(t, c.call("POST", "/apis/example.com/v1/widgets", toHex(widget), accept, contentType), 201)
	mustContain(t, fromHex(t, c.call("PATCH", configMaps+"/b?fieldManager=me", toHex(configMap("b", "x", "y")), accept, "Content-Type: "+hexApply), 201), `"operation":"Apply"`)
	c.call("PATCH", configMaps+"/b", toHex(configMap("b")), "Content-Type: "+hexApply).want(422, "fieldManager")
	mustContain(t, fromHex(t, c.call("GET", configMaps+"/a", "", accept), 200), `"k":"v"`)
	if text := fromHex(t, c.call("GET", configMaps+"/a", "", accept+";drop=metadata.managedFields"), 200); strings.Contains(text, "managedFields") {
		t.Errorf("response with drop=metadata.managedFields: received %s, want it without managedFields", text)
	}
	for _, shape := range []string{"PartialObjectMetadata", "Table"} {
		mustContain(t, fromHex(t, c.call("GET", configMaps+"/a", "", accept+";g=meta.k8s.io;v=v1;as="+shape), 200), `"kind":"`+shape+`"`, `"name":"a"`)
	}
	mustContain(t, fromHex(t, c.call("GET", configMaps, "", accept), 200), `"kind":"ConfigMapList"`, `"name":"a"`, `"name":"b"`)
	mustContain(t, fromHex(t, c.call("GET", "/apis/example.com/v1/widgets", "", accept), 200), `"kind":"WidgetList"`, `"name":"w"`)
	mustContain(t, fromHex(t, c.call("GET", configMaps, "", accept+";g=meta.k8s.io;v=v1;as=Table"), 200), `"kind":"Table"`, `"rows"`)

	mustContain(t, fromHex(t, c.call("GET", configMaps+"/none", "", accept), 404), `"reason":"NotFound"`, `"kind":"Status"`)
	mustContain(t, fromHex(t, c.call("POST", configMaps, "xyz", accept, contentType), 400), "can't be read as "+hexType)
	mustContain(t, fromHex(t, c.call("DELETE", configMaps+"/b", toHex(`{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`), accept, contentType), 200), `"status":"Success"`)
	c.call("GET", configMaps, "", "Accept: text/html").want(406, "application/cbor, "+hexType)
	c.call("POST", configMaps, "x", "Content-Type: text/html").want(415, hexType)
	c.call("PATCH", configMaps+"/a", "x", "Content-Type: text/html").want(415, hexApply)

	mustContain(t, fromHex(t, c.call("GET", "/api/v1", "", accept), 200), `"kind":"APIResourceList"`)
	mustContain(t, c.call("GET", "/openapi/v3/api/v1", "").want(200).text, `"`+hexType+`"`, `"`+hexSeq+`"`, `"`+hexApply+`"`)
}

// hexWatch starts a watch in the hex encoding and returns a function that reads the type and the decoded object of the next
// event.
func hexWatch(t *testing.T, c *client, path, accept string) func() (string, string) {
	t.Helper()
	response := c.open("GET", path, "", "Accept: "+accept)
	t.Cleanup(func() { response.Body.Close() })
	if received := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || received != hexSeq {
		text, _ := io.ReadAll(response.Body)
		t.Fatalf("watch: received %d %s %s, want 200 %s", response.StatusCode, received, text, hexSeq)
	}
	lines := bufio.NewScanner(response.Body)
	return func() (string, string) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("watch ended with error %v, want another event", lines.Err())
		}
		eventType, object, _ := strings.Cut(lines.Text(), " ")
		text, err := hex.DecodeString(object)
		if err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		return eventType, string(text)
	}
}

// TestRegisteredEncodingOfWatches checks that an event is encoded once for all watches in an added encoding, not once per
// watch.
func TestRegisteredEncodingOfWatches(t *testing.T) {
	encoded := registerHex(t)
	c := start(t, Config{Drop: true})
	c.call("POST", configMaps, configMap("a", "k", "1")).want(201)
	var watches []func() (string, string)
	for range 3 {
		next := hexWatch(t, c, configMaps+startOnly, hexType)
		for eventType := ""; eventType != "BOOKMARK"; {
			var object string
			if eventType, object = next(); eventType == "BOOKMARK" {
				mustContain(t, object, "k8s.io/initial-events-end")
			}
		}
		watches = append(watches, next)
	}
	table := hexWatch(t, c, configMaps+startOnly, hexSeq+";g=meta.k8s.io;v=v1;as=Table")
	if eventType, object := table(); eventType != "ADDED" || strings.Contains(object, `"columnDefinitions":null`) {
		t.Errorf("first Table event: received %s %s, want ADDED with columnDefinitions", eventType, object)
	}
	for eventType := ""; eventType != "BOOKMARK"; {
		eventType, _ = table()
	}
	before := encoded.Load()
	c.call("PATCH", configMaps+"/a", `{"data":{"k":"2"}}`, "Content-Type: "+mergeType).want(200)
	for _, next := range watches {
		eventType, object := next()
		if eventType != "MODIFIED" {
			t.Errorf("event type = %s, want MODIFIED", eventType)
		}
		mustContain(t, object, `"k":"2"`, "managedFields")
	}
	if eventType, object := table(); eventType != "MODIFIED" || !strings.Contains(object, `"columnDefinitions":null`) {
		t.Errorf("later Table event: received %s %s, want MODIFIED without columnDefinitions", eventType, object)
	}
	if count := encoded.Load() - before; count != 2 {
		t.Errorf("the event was encoded %d times, want 2: once as the whole object and once as a Table", count)
	}
	tooNew := hexWatch(t, c, configMaps+"?watch=true&resourceVersion=999999999&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", hexType)
	if eventType, object := tooNew(); eventType != "ERROR" || !strings.Contains(object, `"kind":"Status"`) {
		t.Errorf("watch at a future resourceVersion: received %s %s, want ERROR with a Status", eventType, object)
	}
}
