package target

import (
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// MediaRecorder records the Accept headers of requests for namespaced resources, and the media types of the responses.
// With it a test can check that a client uses protobuf.
type MediaRecorder struct {
	lock    sync.Mutex
	media   []string
	accepts []string
}

// Config returns a copy of config whose clients record their requests in r. It must be called before other transport
// wrappers are added to config, so that the requests are recorded as those wrappers have changed them.
func (r *MediaRecorder) Config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &recordingTransport{next: next, recorder: r} })
	return config
}

// Media returns the media types of the responses, sorted, without duplicates and parameters.
func (r *MediaRecorder) Media() []string { return r.sorted(&r.media) }

// Accepts returns the Accept headers of the requests, sorted, without duplicates.
func (r *MediaRecorder) Accepts() []string { return r.sorted(&r.accepts) }

func (r *MediaRecorder) sorted(all *[]string) []string {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(*all)))
}

func (r *MediaRecorder) record(accept, contentType string) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media = contentType
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.accepts, r.media = append(r.accepts, accept), append(r.media, media)
}

type recordingTransport struct {
	next     http.RoundTripper
	recorder *MediaRecorder
}

// RoundTrip implements http.RoundTripper.
func (t *recordingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if err == nil && strings.Contains(request.URL.Path, "/namespaces/") {
		t.recorder.record(request.Header.Get("Accept"), response.Header.Get("Content-Type"))
	}
	return response, err
}
