package target

import (
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// MediaRecorder records the media types of responses with namespaced objects, and the Accept headers of their requests,
// so that a test can check that a client uses protobuf.
type MediaRecorder struct {
	lock    sync.Mutex
	media   []string
	accepts []string
}

// Config returns a copy of config whose requests are recorded. It must be called before other transport wrappers are
// added, so that their changes are recorded.
func (s *MediaRecorder) Config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &recordingTransport{next: next, recorder: s} })
	return config
}

// Media returns the media types of the responses, sorted, without duplicates and parameters.
func (s *MediaRecorder) Media() []string { return s.sorted(&s.media) }

// Accepts returns the Accept headers of the requests, sorted, without duplicates.
func (s *MediaRecorder) Accepts() []string { return s.sorted(&s.accepts) }

func (s *MediaRecorder) sorted(all *[]string) []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(*all)))
}

func (s *MediaRecorder) record(accept, contentType string) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media = contentType
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.accepts, s.media = append(s.accepts, accept), append(s.media, media)
}

type recordingTransport struct {
	next     http.RoundTripper
	recorder *MediaRecorder
}

// RoundTrip implements http.RoundTripper.
func (l *recordingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	if err == nil && strings.Contains(request.URL.Path, "/namespaces/") {
		l.recorder.record(request.Header.Get("Accept"), response.Header.Get("Content-Type"))
	}
	return response, err
}
