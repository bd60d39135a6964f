package applytest

import (
	"context"
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
	// version is what it says of itself, and implementation is who makes it.
	version, implementation string

	mu        sync.Mutex
	abilities map[string]func() (lack string, err error)
}

// connect asks the server for its version.
func connect(ctx context.Context, config *rest.Config, answerTime time.Duration) (*server, error) {
	config = rest.CopyConfig(config)
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
		url: strings.TrimSuffix(url.String(), "/"), client: client, answerTime: answerTime,
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

// remove deletes an object, also one that waits for somebody to remove its finalizers.
func (s *server) remove(ctx context.Context, path string) error {
	a, err := s.send(ctx, http.MethodDelete, path+"?gracePeriodSeconds=0", nil, "")
	if err != nil || a.code == http.StatusNotFound {
		return err
	}
	if !a.succeeded() && a.code != http.StatusConflict {
		return fmt.Errorf("DELETE %s: %s", path, a.summary())
	}
	if a.body.Lookup("metadata", "finalizers").Len() == 0 || strings.Contains(path, "/customresourcedefinitions/") {
		return nil // the server itself completes the deletion of a kind
	}
	release := strings.NewReader(`{"metadata":{"finalizers":null}}`)
	_, err = s.send(ctx, http.MethodPatch, path, release, "application/merge-patch+json")
	return err
}

// removeNamespace deletes a namespace. Where no controllers run, nobody else would ever complete that.
func (s *server) removeNamespace(ctx context.Context, name string) error {
	path := "/api/v1/namespaces/" + name
	if err := s.remove(ctx, path); err != nil || s.implementation != Kubernetes {
		return err
	}
	if lack, err := s.lacks(ctx, "no controllers"); err != nil || lack != "" {
		return err
	}
	a, err := s.send(ctx, http.MethodGet, path, nil, "")
	if err != nil || !a.succeeded() {
		return err
	}
	final := a.body.With("spec", document.NewMap())
	_, err = s.send(ctx, http.MethodPut, path+"/finalize", strings.NewReader(final.JSON()), "application/json")
	return err
}
