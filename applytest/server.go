package applytest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/document"
)

// Kubernetes is the name of the reference implementation, kube-apiserver, in scripts.
const Kubernetes = "kubernetes"

// userAgent is the User-Agent of requests, unless a script sets the header. If an update specifies no field manager,
// the server derives the field manager from the User-Agent.
const userAgent = "applytest"

// server is the server under test.
type server struct {
	url    string
	client *http.Client
	// requestTimeout is the maximum time to wait for a response.
	requestTimeout time.Duration
	// cleanupTimeout is the maximum time for deleting the objects of a script and, at the end of the run, for deleting
	// the objects that remain.
	cleanupTimeout time.Duration
	// version is the gitVersion of the server. implementation is the name of the implementation, which connect derives from
	// version.
	version, implementation string

	// runnerNamespace is the namespace of the runner's own requests. allPermissions means that the user has all permissions.
	runnerNamespace string
	allPermissions  bool
	// shared means that runnerNamespace is Options.Namespace, in which the scripts run, too, one at a time. existing
	// contains the collections of that namespace that scripts cannot use, and maps them to the reasons.
	shared   bool
	existing map[string]string
	// stop cancels the context of the run with the given cause. It has no effect before the run has started.
	stop context.CancelCauseFunc
	// gone is set when the server no longer responds.
	gone atomic.Bool

	deletionOnce      sync.Once
	deletionCompletes bool // the result of completesDeletion

	mu           sync.Mutex
	capabilities map[string]func() (missing string, err error)
	pending      []pendingRemoval
}

// connect reads the version of the server at Options.Config, and returns the server.
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
		stop: func(error) {},
		url:  strings.TrimSuffix(url.String(), "/"), client: client,
		requestTimeout: cmp.Or(options.RequestTimeout, defaultRequestTimeout), cleanupTimeout: cmp.Or(options.CleanupTimeout, defaultCleanupTimeout),
		runnerNamespace: options.Namespace, shared: options.Namespace != "",
		capabilities: map[string]func() (string, error){},
	}
	resp, err := s.send(ctx, http.MethodGet, "/version", nil, "")
	if err != nil {
		return nil, err
	}
	if s.version = resp.body.Get("gitVersion").Text(); !resp.succeeded() || s.version == "" {
		return nil, fmt.Errorf("GET %s/version: expected a Kubernetes API server, received %s", s.url, resp.summary())
	}
	s.implementation = Kubernetes
	if strings.Contains(s.version, "cadastre") {
		s.implementation = "cadastre"
	}
	return s, nil
}

// send sends a request of the runner itself and requests a JSON response.
func (s *server) send(ctx context.Context, method, path string, body io.Reader, contentType string) (*serverResponse, error) {
	return s.sendAccepting(ctx, method, path, body, contentType, "application/json")
}

// sendAccepting is like send, with the given Accept header.
func (s *server) sendAccepting(ctx context.Context, method, path string, body io.Reader, contentType, accept string) (*serverResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limited, cancel := s.withTimeout(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(limited, method, s.url+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := s.do(ctx, request)
	if err != nil {
		return nil, err
	}
	return readResponse(response, strings.Contains(path, "dryRun="))
}

// gracePeriod is the maximum time that a request in flight may take after the run was canceled.
const gracePeriod = 5 * time.Second

// withTimeout returns a context for one request, which ends after requestTimeout. If ctx is canceled, the returned
// context ends only gracePeriod later, so that a request in flight can complete and the objects that it creates are known
// and can be deleted.
func (s *server) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), s.requestTimeout, s.timeoutError())
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(gracePeriod, cancel) })
	return limited, func() {
		stop()
		cancel()
	}
}

// timeoutError returns the error for a request that exceeds requestTimeout.
func (s *server) timeoutError() error {
	return fmt.Errorf("no response within %s: %w", s.requestTimeout, context.DeadlineExceeded)
}

// do sends request, and retries it after a 429 response with Retry-After, as Kubernetes' clients do. If there is no
// response, do checks whether the server is reachable, and cancels the run if it is not.
func (s *server) do(ctx context.Context, request *http.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		response, err := s.client.Do(request)
		if err != nil {
			if ctx.Err() == nil && !s.gone.Load() {
				s.checkAlive(ctx)
			}
			return nil, err
		}
		if try == maxAttempts || !waitRetryAfter(request, response) {
			return response, nil
		}
	}
}

// maxAttempts is the maximum number of times that a request is sent if the response is a 429.
const maxAttempts = 10

// waitRetryAfter waits for the time in the Retry-After header of response, and reports whether request can be sent again.
func waitRetryAfter(request *http.Request, response *http.Response) bool {
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if response.StatusCode != http.StatusTooManyRequests || err != nil {
		return false
	}
	if request.Body != nil && request.Body != http.NoBody {
		if request.GetBody == nil {
			return false
		}
		if request.Body, err = request.GetBody(); err != nil {
			return false
		}
	}
	wait := time.Duration(seconds) * time.Second
	if last, ok := request.Context().Deadline(); ok && time.Until(last) < wait {
		return false // the timeout leaves no time for a retry
	}
	select {
	case <-request.Context().Done():
		return false
	case <-time.After(wait):
	}
	_ = response.Body.Close() // the request is sent again, so this response is discarded
	return true
}

const (
	// aliveTimeout is the maximum time in which the server must respond to GET /version; a server that takes longer is
	// considered gone.
	aliveTimeout  = 5 * time.Second
	aliveAttempts = 2
)

// checkAlive cancels the run if the server does not respond to GET /version.
func (s *server) checkAlive(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, aliveTimeout)
	defer cancel()
	var err error
	for range aliveAttempts {
		var response *http.Response
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/version", nil) // cannot fail, because connect has created the same request
		if response, err = s.client.Do(request); err == nil {
			_ = response.Body.Close() // any response shows that the server is reachable
			return
		}
		time.Sleep(aliveTimeout / 10)
	}
	s.gone.Store(true)
	s.stop(fmt.Errorf("the server no longer responds: %w", err))
}

// create creates object in the collection at path and returns the response. The response is nil if the server did not
// respond; the object may then exist or not.
func (s *server) create(ctx context.Context, path string, object document.Value) (*serverResponse, error) {
	resp, err := s.send(ctx, http.MethodPost, path, strings.NewReader(object.JSON()), "application/json")
	if err != nil {
		return nil, err
	}
	if resp.succeeded() && resp.body.Lookup("metadata", "name").Text() == "" {
		return resp, fmt.Errorf("POST %s: expected the created object, received %s", path, resp.summary())
	}
	if resp.succeeded() {
		return resp, nil
	}
	if err := s.permissionErrorOf(resp); err != nil {
		return resp, err
	}
	return resp, fmt.Errorf("POST %s: %s", path, resp.summary())
}
