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

// Kubernetes is the name of the reference implementation, kube-apiserver.
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

	// home is the namespace of what the runner itself tries, and allowed says whether the user may do everything.
	home    string
	allowed bool
	// shared says that home was given, and that the scripts run in it, too. Then one runs at a time, and present says
	// why a collection is none of theirs.
	shared  bool
	present map[string]string
	// stop ends the run, and says why. Before there is one it does nothing.
	stop context.CancelCauseFunc
	// gone is set when the server answers nothing any more.
	gone atomic.Bool

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
		stop: func(error) {},
		url:  strings.TrimSuffix(url.String(), "/"), client: client,
		answerTime: cmp.Or(options.RequestTimeout, defaultAnswerTime), cleanTime: cmp.Or(options.CleanupTimeout, defaultCleanTime),
		home: options.Namespace, shared: options.Namespace != "",
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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limited, cancel := s.limit(ctx)
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
	return readAnswer(response, strings.Contains(path, "dryRun="))
}

// lingerTime is how long a request that is under way may take when the run ends.
const lingerTime = 5 * time.Second

// limit is for an answer that may take so long, and no longer: one that never ends should not stop all others. When the
// run ends, a request that is under way may end, too: nobody would know what it has made.
func (s *server) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), s.answerTime, s.silence())
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lingerTime, cancel) })
	return limited, func() {
		stop()
		cancel()
	}
}

// silence is why a request is given up.
func (s *server) silence() error {
	return fmt.Errorf("no answer within %s: %w", s.answerTime, context.DeadlineExceeded)
}

// do sends a request, and again if the server is busy and says when to come back, as Kubernetes' clients do. If there
// is no answer, it finds out whether the server is there.
func (s *server) do(ctx context.Context, request *http.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		response, err := s.client.Do(request)
		if err != nil {
			if ctx.Err() == nil && !s.gone.Load() {
				s.suspect(ctx)
			}
			return nil, err
		}
		if try == busyTries || !comeBack(request, response) {
			return response, nil
		}
	}
}

// busyTries is how often a request is sent to a server that is busy.
const busyTries = 10

// comeBack waits as long as a busy server says, and reports whether the request can be sent again then.
func comeBack(request *http.Request, response *http.Response) bool {
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
		return false // this answer is the last that there will be
	}
	select {
	case <-request.Context().Done():
		return false
	case <-time.After(wait):
	}
	_ = response.Body.Close() // the next answer counts
	return true
}

const (
	// suspectTime is how long a server may take to say its version before it is gone.
	suspectTime  = 5 * time.Second
	suspectTries = 2
)

// suspect ends the run if the server does not even say its version.
func (s *server) suspect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, suspectTime)
	defer cancel()
	var err error
	for range suspectTries {
		var response *http.Response
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/version", nil) // connect has made the same
		if response, err = s.client.Do(request); err == nil {
			_ = response.Body.Close() // that there is one is enough
			return
		}
		time.Sleep(suspectTime / 10)
	}
	s.gone.Store(true)
	s.stop(fmt.Errorf("the server is gone: %w", err))
}

// create makes an object. There is no answer if nobody knows whether it was made.
func (s *server) create(ctx context.Context, path string, object document.Value) (*answer, error) {
	a, err := s.send(ctx, http.MethodPost, path, strings.NewReader(object.JSON()), "application/json")
	if err != nil {
		return nil, err
	}
	if a.succeeded() && a.body.Lookup("metadata", "name").Text() == "" {
		return a, fmt.Errorf("POST %s: expected the object that was made, received %s", path, a.summary())
	}
	if a.succeeded() {
		return a, nil
	}
	if err := s.denies(a); err != nil {
		return a, err
	}
	return a, fmt.Errorf("POST %s: %s", path, a.summary())
}
