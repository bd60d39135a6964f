package target

import (
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// Spoken notes which media a server's answers about objects of a namespace are in, and how they were asked for. A test that
// wants a client to speak protobuf sees that it does.
type Spoken struct {
	lock    sync.Mutex
	media   []string
	accepts []string
}

// Config returns a config whose clients are listened to. It comes before other wrappers, so that what they change is seen.
func (s *Spoken) Config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &listener{next: next, spoken: s} })
	return config
}

// Media are the types of the answers, each once, without parameters.
func (s *Spoken) Media() []string { return s.sorted(&s.media) }

// Accepts are the headers that the answers were asked for with.
func (s *Spoken) Accepts() []string { return s.sorted(&s.accepts) }

func (s *Spoken) sorted(all *[]string) []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(*all)))
}

func (s *Spoken) note(accept, contentType string) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media = contentType
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.accepts, s.media = append(s.accepts, accept), append(s.media, media)
}

type listener struct {
	next   http.RoundTripper
	spoken *Spoken
}

// RoundTrip implements http.RoundTripper.
func (l *listener) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	if err == nil && strings.Contains(request.URL.Path, "/namespaces/") {
		l.spoken.note(request.Header.Get("Accept"), response.Header.Get("Content-Type"))
	}
	return response, err
}
