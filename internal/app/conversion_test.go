package app

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// defineUnconverted defines widgets that are stored at v1 and whose conversion to v2 always fails, because nothing listens
// at the address of the conversion webhook.
func (c *client) defineUnconverted() { c.defineConverted(`"url":"https://127.0.0.1:1/"`) }

// defineConverted defines widgets that are stored at v1 and converted to v2 by a webhook. target is the JSON of its
// clientConfig.
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

// wantConversionError checks that a watch ends with an ERROR event that names the conversion webhook.
func (e *events) wantConversionError() {
	e.t.Helper()
	event := e.next()
	if event["type"] != "ERROR" || jsonAt(event, "object", "code") != "500" || !strings.Contains(jsonAt(event, "object", "message"), "conversion webhook") {
		e.t.Errorf("next() = %v, want an ERROR event that names the conversion webhook", event)
	}
	if event := e.next(); event != nil {
		e.t.Errorf("after the ERROR event: received event %v, want the end of the watch", event)
	}
}

// TestWatchEndsWithConversionError checks that a watch ends with an ERROR event at the first event whose object cannot be
// converted. Earlier events are sent.
func TestWatchEndsWithConversionError(t *testing.T) {
	c := start(t, Config{})
	c.defineUnconverted()
	readable, unreadable, selecting := c.watch(atV1+"?watch=true"), c.watch(atV2+"?watch=true"), c.watch(atV2+"?watch=true&fieldSelector=size%3Dlarge")
	c.makeWidget("a", "")
	readable.want("ADDED", "a")
	unreadable.wantConversionError()
	selecting.wantConversionError()
	c.watch(atV2 + "?watch=true").wantConversionError()
}

// TestDifferenceListReportsConversionError checks that a list of objects that cannot be converted fails with the cause, even if
// a field selector would select none of them, and that a deletecollection with such a selector deletes nothing.
func TestDifferenceListReportsConversionError(t *testing.T) {
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

// converter is a conversion webhook that converts widgets from v1 to v2.
type converter struct {
	*httptest.Server
	// down makes the next call fail with a 503.
	down atomic.Bool
	mu   sync.Mutex
	// reviewSizes contains the number of objects of each received ConversionReview.
	reviewSizes []int
}

func startConverter(t *testing.T) *converter {
	t.Helper()
	c := &converter{}
	c.Server = httptest.NewTLSServer(c)
	t.Cleanup(c.Close)
	return c
}

// ServeHTTP implements http.Handler.
func (c *converter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.down.Swap(false) {
		http.Error(w, "in a moment", http.StatusServiceUnavailable)
		return
	}
	const before, after = `"apiVersion":"example.com/v1","kind"`, `"apiVersion":"example.com/v2","kind"`
	text, _ := io.ReadAll(r.Body)
	uid, _, _ := strings.Cut(strings.SplitN(string(text), `"uid":"`, 2)[1], `"`)
	_, objects, _ := strings.Cut(string(text), `"objects":[`)
	objects, _, _ = strings.Cut(objects, `]},"response"`)
	c.mu.Lock()
	c.reviewSizes = append(c.reviewSizes, strings.Count(objects, before))
	c.mu.Unlock()
	fmt.Fprintf(w, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":%q,"result":{"status":"Success"},"convertedObjects":[%s]}}`,
		uid, strings.ReplaceAll(objects, before, after))
}

// takeReviewSizes returns and clears the numbers of objects per received ConversionReview.
func (c *converter) takeReviewSizes() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.reviewSizes = nil }()
	return c.reviewSizes
}

// config returns the JSON members of a clientConfig for the webhook.
func (c *converter) config() string {
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw})
	return fmt.Sprintf(`"url":%q,"caBundle":%q`, c.URL, base64.StdEncoding.EncodeToString(bundle))
}

// TestFieldSelectorWithFailedConversion checks that a request with a field selector fails if the conversion of an object for
// the selector failed, even if a second attempt would succeed.
func TestFieldSelectorWithFailedConversion(t *testing.T) {
	c, converter := start(t, Config{}), startConverter(t)
	c.defineConverted(converter.config())
	const large, why = "fieldSelector=size%3Dlarge", "currently unable to handle the request"
	c.makeWidget("a", "")
	converter.down.Store(true)
	c.call("GET", atV2+"?"+large, "").want(500, why)
	converter.down.Store(true)
	c.call("DELETE", atV2+"?"+large, "").want(500, why)
	c.call("GET", atV2+"?"+large, "").want(200, `"items":[]`)
	watch := c.watch(atV2 + "?watch=true&" + large)
	converter.down.Store(true)
	c.makeWidget("b", "")
	watch.wantConversionError()
	c.call("GET", atV1, "").want(200, `"name":"a"`, `"name":"b"`)
}

// TestFieldSelectorConvertsInBatches checks that a field selector at another version converts objects in batches of 100, and
// does not convert objects that other selectors exclude or whose fields are cached.
func TestFieldSelectorConvertsInBatches(t *testing.T) {
	c, converter := start(t, Config{}), startConverter(t)
	c.defineConverted(converter.config())
	const small = "?fieldSelector=size%3Dsmall"
	wantAsked := func(after string, sizes ...int) {
		t.Helper()
		if asked := converter.takeReviewSizes(); !slices.Equal(asked, sizes) {
			t.Errorf("%s: the webhook received batches of %v objects, want %v", after, asked, sizes)
		}
	}
	more := func(from, to int, metadata string) {
		for i := from; i < to; i++ {
			c.makeWidget(fmt.Sprintf("w%03d", i), metadata)
		}
	}
	more(0, 120, "")
	c.call("GET", atV2+small+"&limit=2", "").want(200, `"name":"w001"`)
	wantAsked("after a page", 100)
	c.call("GET", atV2+small, "").want(200, `"name":"w119"`)
	wantAsked("after a list", 20)
	more(120, 150, `,"labels":{"new":"yes"}`)
	more(150, 160, "")
	c.call("GET", atV2+small+"&labelSelector=new", "").want(200, `"name":"w149"`)
	wantAsked("after a list by labels", 30)
	c.call("DELETE", atV2+small+"&labelSelector=%21new", "").want(200, `"name":"w159"`)
	wantAsked("after a deletion", 10)
	more(200, 210, "")
	watch := c.watch(atV2 + small + "&watch=true")
	for i := 120; i < 150; i++ {
		watch.want("ADDED", fmt.Sprintf("w%03d", i))
	}
	watch.want("ADDED", "w200")
	wantAsked("after a watch", 10)
}

// TestFieldSelectorStopsAtFirstFailure checks that a failing conversion webhook is called only twice: for the first batch of
// 100 objects, and for the first object of the batch.
func TestFieldSelectorStopsAtFirstFailure(t *testing.T) {
	c, converter := start(t, Config{}), startConverter(t)
	c.defineConverted(converter.config())
	for i := range 210 {
		c.makeWidget(fmt.Sprintf("w%03d", i), "")
	}
	converter.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		converter.mu.Lock()
		defer converter.mu.Unlock()
		converter.reviewSizes = append(converter.reviewSizes, strings.Count(string(text), `"kind":"Widget"`))
		http.Error(w, "not today", http.StatusServiceUnavailable)
	})
	const small, why = "?fieldSelector=size%3Dsmall", "unable to handle the request"
	for name, ask := range map[string]func(){
		"a list":     func() { c.call("GET", atV2+small, "").want(500, why) },
		"a page":     func() { c.call("GET", atV2+small+"&limit=150", "").want(500, why) },
		"a deletion": func() { c.call("DELETE", atV2+small, "").want(500, why) },
		"a watch":    func() { c.watch(atV2 + small + "&watch=true").wantConversionError() },
	} {
		ask()
		if asked := converter.takeReviewSizes(); !slices.Equal(asked, []int{100, 1}) {
			t.Errorf("%s: the webhook received batches of %v objects, want [100 1]", name, asked)
		}
	}
	c.call("GET", atV1+"?limit=1", "").want(200, `"remainingItemCount":209`)
}

// TestDifferenceDeletingNeedsNoConversion checks that an object can be deleted through a version that it cannot be converted
// to.
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
