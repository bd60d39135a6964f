package applytest

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/document"
)

// Kubernetes is the implementation whose answers are expected of all.
const Kubernetes = "kubernetes"

// userAgent is what updates without a manager's name are known by, unless a script has a header for it.
const userAgent = "applytest"

// A server is the one that is asked.
type server struct {
	url    string
	client *http.Client
	// answerTime is how long an answer may take.
	answerTime time.Duration
	// cleanTime is how long it may take to remove what a script made, and, at the end, what was still being deleted.
	cleanTime time.Duration
	// version is what it says of itself, and implementation is who makes it.
	version, implementation string

	finishOnce sync.Once
	finisher   bool // see finishes

	mu        sync.Mutex
	abilities map[string]func() (lack string, err error)
	pending   []pendingRemoval
}

// connect asks the server for its version.
func connect(ctx context.Context, options Options) (*server, error) {
	config := rest.CopyConfig(options.Config)
	config.UserAgent = userAgent
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	url, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	s := &server{
		url: strings.TrimSuffix(url.String(), "/"), client: client,
		answerTime: cmp.Or(options.AnswerTime, defaultAnswerTime), cleanTime: cmp.Or(options.CleanTime, defaultCleanTime),
		abilities: map[string]func() (string, error){},
	}
	a, err := s.send(ctx, http.MethodGet, "/version", nil, "")
	if err != nil {
		return nil, err
	}
	if s.version = a.body.Get("gitVersion").Text(); !a.succeeded() || s.version == "" {
		return nil, fmt.Errorf("GET %s/version: expected a Kubernetes API server, received %s", s.url, a.summary())
	}
	s.implementation = Kubernetes
	if strings.Contains(s.version, "cadastre") {
		s.implementation = "cadastre"
	}
	return s, nil
}

// send makes a request of the runner's own, with a body of JSON.
func (s *server) send(ctx context.Context, method, path string, body io.Reader, contentType string) (*answer, error) {
	return s.sendAccepting(ctx, method, path, body, contentType, "application/json")
}

// sendAccepting is send for answers of other forms.
func (s *server) sendAccepting(ctx context.Context, method, path string, body io.Reader, contentType, accept string) (*answer, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	return readAnswer(response, strings.Contains(path, "dryRun="))
}

// limit is for an answer that may take so long, and no longer: one that never ends should not stop all others.
func (s *server) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.answerTime)
}

// create makes an object.
func (s *server) create(ctx context.Context, path string, object document.Value) (*answer, error) {
	a, err := s.send(ctx, http.MethodPost, path, strings.NewReader(object.JSON()), "application/json")
	if err == nil && !a.succeeded() {
		err = fmt.Errorf("POST %s: %s", path, a.summary())
	}
	return a, err
}

// newNamespaceName chooses a name that nobody else has.
func newNamespaceName() string { return "applytest-" + strings.ToLower(rand.Text()[:8]) }

// makeNamespace makes a namespace, such as the one that a script has for itself.
func (s *server) makeNamespace(ctx context.Context, name string) error {
	_, err := s.create(ctx, "/api/v1/namespaces", document.NewMap(
		document.Field{Name: "apiVersion", Value: document.NewString("v1")},
		document.Field{Name: "kind", Value: document.NewString("Namespace")},
		document.Field{Name: "metadata", Value: document.NewMap(document.Field{Name: "name", Value: document.NewString(name)})},
	))
	if err != nil {
		return fmt.Errorf("make a namespace: %w", err)
	}
	return nil
}
