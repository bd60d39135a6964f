package server

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// defineUnconverted defines widgets that are stored at v1, and that nobody converts to v2.
func (c *client) defineUnconverted() { c.defineConverted(`"url":"https://127.0.0.1:1/"`) }

// defineConverted defines widgets that are stored at v1, and that a webhook converts to v2.
func (c *client) defineConverted(target string) {
	c.t.Helper()
	version := `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"string"}}}},"selectableFields":[{"jsonPath":".size"}]}`
	other := strings.NewReplacer(`"v1"`, `"v2"`, `"storage":true`, `"storage":false`).Replace(version)
	c.call("POST", definitions, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster",`+
		`"names":{"plural":"widgets","kind":"Widget"},"versions":[`+version+`,`+other+`],`+
		`"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{`+target+`}}}}}`).want(201)
	c.waitFor(definitions+"/widgets.example.com", 200, `"InitialNamesAccepted"`)
}

const (
	atV1 = "/apis/example.com/v1/widgets"
	atV2 = "/apis/example.com/v2/widgets"
)

func (c *client) makeWidget(name, more string) {
	c.t.Helper()
	c.call("POST", atV1, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"`+name+`"`+more+`},"size":"small"}`).want(201)
}

// wantUnconverted checks that a watch ends because an object can't be converted.
func (e *events) wantUnconverted() {
	e.t.Helper()
	event := e.next()
	if event["type"] != "ERROR" || jsonAt(event, "object", "code") != "500" || !strings.Contains(jsonAt(event, "object", "message"), "conversion webhook") {
		e.t.Errorf("received %v, expected an error that names the webhook", event)
	}
	if event := e.next(); event != nil {
		e.t.Errorf("after the error: %v", event)
	}
}

// TestWatchTellsWhatItCannotTell: an event that can't be told, here as nobody converts the object, ends a watch with the reason,
// after what came before it.
func TestWatchTellsWhatItCannotTell(t *testing.T) {
	c := start(t, Config{})
	c.defineUnconverted()
	readable, unreadable, selecting := c.watch(atV1+"?watch=true"), c.watch(atV2+"?watch=true"), c.watch(atV2+"?watch=true&fieldSelector=size%3Dlarge")
	c.makeWidget("a", "")
	readable.want("ADDED", "a")
	unreadable.wantUnconverted()
	selecting.wantUnconverted()
	c.watch(atV2 + "?watch=true").wantUnconverted()
}

// TestDifferenceUnconvertedIsToldAtOnce: a list of what can't be converted says why, also one that selects by fields that nobody knows,
// and nothing is deleted by such a selection.
func TestDifferenceUnconvertedIsToldAtOnce(t *testing.T) {
	c := start(t, Config{})
	c.defineUnconverted()
	c.makeWidget("a", "")
	c.makeWidget("b", "")
	const why = `"message":"conversion webhook for example.com/v1, Kind=Widget failed: Post`
	for _, query := range []string{"", "?fieldSelector=size%3Dlarge", "?limit=1", "?resourceVersion=0"} {
		c.call("GET", atV2+query, "").want(500, why)
		c.call("DELETE", atV2+query, "").want(500, why)
	}
	c.call("GET", atV1, "").want(200, `"name":"a"`, `"name":"b"`)
}

// TestSelectingWhatIsUnknown: of an object that can't be converted when it is asked for its fields nobody knows whether it is selected,
// though it can be converted a moment later.
func TestSelectingWhatIsUnknown(t *testing.T) {
	var down atomic.Bool
	converter := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Swap(false) {
			http.Error(w, "in a moment", http.StatusServiceUnavailable)
			return
		}
		text, _ := io.ReadAll(r.Body)
		uid, _, _ := strings.Cut(strings.SplitN(string(text), `"uid":"`, 2)[1], `"`)
		_, object, _ := strings.Cut(string(text), `"objects":[`)
		object, _, _ = strings.Cut(object, `]},"response"`)
		fmt.Fprintf(w, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":%q,"result":{"status":"Success"},"convertedObjects":[%s]}}`,
			uid, strings.Replace(object, `"apiVersion":"example.com/v1","kind"`, `"apiVersion":"example.com/v2","kind"`, 1))
	}))
	t.Cleanup(converter.Close)
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: converter.Certificate().Raw})
	c := start(t, Config{})
	c.defineConverted(fmt.Sprintf(`"url":%q,"caBundle":%q`, converter.URL, base64.StdEncoding.EncodeToString(bundle)))
	const large, why = "fieldSelector=size%3Dlarge", "currently unable to handle the request"
	c.makeWidget("a", "")
	down.Store(true)
	c.call("GET", atV2+"?"+large, "").want(500, why)
	down.Store(true)
	c.call("DELETE", atV2+"?"+large, "").want(500, why)
	c.call("GET", atV2+"?"+large, "").want(200, `"items":[]`)
	watch := c.watch(atV2 + "?watch=true&" + large)
	down.Store(true)
	c.makeWidget("b", "")
	watch.wantUnconverted()
	c.call("GET", atV1, "").want(200, `"name":"a"`, `"name":"b"`)
}

// TestDifferenceDeletingNeedsNoConversion: who deletes an object at a version that it can't be converted to has it deleted, or marked.
func TestDifferenceDeletingNeedsNoConversion(t *testing.T) {
	c := start(t, Config{})
	c.defineUnconverted()
	c.makeWidget("a", "")
	c.makeWidget("held", `,"finalizers":["example.com/hold"]`)
	c.call("DELETE", atV2+"/a", "").want(200, `"status":"Success"`)
	c.call("GET", atV1+"/a", "").want(404)
	c.call("DELETE", atV2+"/held", "").want(200, `"status":"Success"`)
	c.call("GET", atV1+"/held", "").want(200, "deletionTimestamp")
}
