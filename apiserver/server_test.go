package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/apiserver"
	"github.com/cadastre/cadastre/apiserver/admission"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// runningServer is a server that a test has started.
type runningServer struct {
	*apiserver.Server
	stop func() error // stops the server and returns the result of Run
}

// run starts a server, and stops it when the test ends.
func run(t testing.TB, options apiserver.Options) *runningServer {
	t.Helper()
	options.Log = slog.New(slog.DiscardHandler)
	s, err := apiserver.New(options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- s.Run(ctx) }()
	r := &runningServer{Server: s, stop: sync.OnceValue(func() error { cancel(); return <-stopped })}
	if err := s.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.stop() }) // tests that check the result of Run call stop themselves
	return r
}

// client returns a typed client for a config.
func client(t testing.TB, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// configMap returns a ConfigMap without data.
func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// TestInProcessWatch checks that an in-process watch receives events, and ends with its context and with the server.
func TestInProcessWatch(t *testing.T) {
	t.Parallel()
	s := run(t, apiserver.Options{InProcess: true})
	maps := client(t, s.RESTConfig()).CoreV1().ConfigMaps("default")
	ctx, cancel := context.WithCancel(t.Context())
	w, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		name := fmt.Sprintf("c%d", i)
		if _, err := maps.Create(t.Context(), configMap(name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if event := <-w.ResultChan(); event.Type != watch.Added || event.Object.(*corev1.ConfigMap).Name != name {
			t.Fatalf("event = %v, want ADDED of %s", event, name)
		}
	}
	cancel()
	for event := range w.ResultChan() {
		if event.Type != watch.Error {
			t.Errorf("event after the context of the watch has ended = %v, want none or an error", event)
		}
	}
	second, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.stop(); err != nil {
		t.Errorf("Run() = %v with an open watch, want nil", err)
	}
	for range second.ResultChan() { // if the watch does not end, the test hangs here
	}
	if _, err := maps.Get(t.Context(), "c0", metav1.GetOptions{}); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("Get() after the server has stopped = %v, want an error that contains \"stopped\"", err)
	}
}

// TestInProcessContext checks that an in-process request, and the context of its handler, end when the client's context
// ends.
func TestInProcessContext(t *testing.T) {
	t.Parallel()
	entered, left := make(chan struct{}, 2), make(chan error, 2)
	s := run(t, apiserver.Options{InProcess: true, Handlers: map[string]http.Handler{
		"/wait": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			entered <- struct{}{}
			<-r.Context().Done()
			left <- r.Context().Err()
		}),
	}})
	c := client(t, s.RESTConfig()).CoreV1().RESTClient()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	if err := c.Get().AbsPath("/wait").Do(ctx).Error(); !errors.Is(err, context.Canceled) {
		t.Errorf("request with a canceled context: %v, want context.Canceled", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.Get().AbsPath("/wait").Do(ctx).Error(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("request with a deadline: %v, want context.DeadlineExceeded", err)
	}
	for range 2 {
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("context of the handler: %v, want context.Canceled", err)
		}
	}
}

// TestInProcessLargeListConcurrently checks that concurrent in-process clients receive complete lists of 2 MiB.
func TestInProcessLargeListConcurrently(t *testing.T) {
	t.Parallel()
	s := run(t, apiserver.Options{InProcess: true})
	maps := client(t, s.RESTConfig()).CoreV1().ConfigMaps("default")
	large := strings.Repeat("x", 32<<10)
	var writers sync.WaitGroup
	for i := range 64 {
		writers.Go(func() {
			c := corev1apply.ConfigMap(fmt.Sprintf("c%d", i), "default").WithData(map[string]string{"large": large})
			if _, err := maps.Apply(t.Context(), c, metav1.ApplyOptions{FieldManager: "test"}); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			list, err := maps.List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) != 64 || list.Items[63].Data["large"] != large {
				t.Errorf("List() = %d items, error %v; want 64 items with complete data", len(list.Items), err)
			}
		})
	}
	readers.Wait()
}

// TestInProcessStreams checks that the in-process transport handles streamed, unread, aborted and HEAD responses, panics of
// handlers, and bodies that are too large.
func TestInProcessStreams(t *testing.T) {
	t.Parallel()
	closed := make(chan error, 1)
	s := run(t, apiserver.Options{InProcess: true, Handlers: map[string]http.Handler{
		"/echo": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }),
		"/endless": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 10<<10)); err != nil {
					closed <- err
					return
				}
			}
		}),
		"/aborts": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}),
		"/panics": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") }),
	}})
	c := &http.Client{Transport: s.RESTConfig().Transport}
	do := func(method, path, body string) (*http.Response, error) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.RESTConfig().Host+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return c.Do(r)
	}
	text := strings.Repeat("0123456789", 100<<10)
	response, err := do("POST", "/echo", text)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(response.Body); err != nil || string(got) != text || response.Header.Get("Content-Type") == "" {
		t.Errorf("response of /echo: %d bytes, error %v, headers %v; want %d bytes and a Content-Type", len(got), err, response.Header, len(text))
	}
	response, err = do("HEAD", "/echo", "")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("HEAD /echo: response %v, error %v; want 200", response, err)
	}
	response, err = do("GET", "/endless", "")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if err := <-closed; err == nil {
		t.Error("write to a closed response = nil, want an error")
	}
	response, err = do("GET", "/aborts", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(response.Body); err == nil {
		t.Errorf("aborted response = %q, nil, want an error", got)
	}
	response, err = do("GET", "/panics", "")
	if err != nil || response.StatusCode != http.StatusInternalServerError {
		t.Errorf("response of a handler that panics: %v, %v, want 500", response, err)
	}
	response, err = do("POST", "/echo", strings.Repeat("x", 4<<20))
	if err == nil {
		got, _ := io.ReadAll(response.Body)
		if len(got) > 3<<20 {
			t.Errorf("handler received %d bytes, want at most %d, the limit of bodies", len(got), 3<<20)
		}
	}
}

// checker is an admission plugin that rejects ConfigMaps and Namespaces with the label forbidden, and panics for objects named
// panic.
type checker struct {
	admission.ValidatingOnly
	seen sync.Map // the names of the users whose writes were validated
}

func (*checker) Name() string { return "Checker" }

func (*checker) Handles(_ admission.Operation, r admission.Resource) admission.Phase {
	if r.Is("", "configmaps") || r.Is("", "namespaces") {
		return admission.Validating
	}
	return 0
}

func (c *checker) Validate(_ context.Context, a *admission.Attributes) error {
	c.seen.Store(a.User.GetName(), true)
	if !a.Object.Lookup("metadata", "labels", "forbidden").IsAbsent() {
		return a.Forbidden(errors.New("the label is forbidden"))
	}
	if a.Object.Lookup("metadata", "name").Text() == "panic" {
		panic("broken plugin")
	}
	return nil
}

// TestAdmissionPlugins checks that plugins change and reject writes of clients, that a panic of a plugin results in a 500, and
// that plugins are not called for objects that the server creates when it starts.
func TestAdmissionPlugins(t *testing.T) {
	t.Parallel()
	check := &checker{}
	s := run(t, apiserver.Options{InProcess: true, Admission: []admission.Plugin{teamLabel{}, check}})
	maps := client(t, s.RESTConfigFor(&user.DefaultInfo{Name: "ann", Groups: []string{"system:masters"}})).CoreV1().ConfigMaps("default")
	created, err := maps.Create(t.Context(), configMap("a"), metav1.CreateOptions{})
	if err != nil || created.Labels["team"] != "ann" {
		t.Errorf("Create() = labels %v, %v, want team: ann", created.Labels, err)
	}
	bad := configMap("b")
	bad.Labels = map[string]string{"forbidden": "1"}
	if _, err := maps.Create(t.Context(), bad, metav1.CreateOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `configmaps "b" is forbidden: the label is forbidden`) {
		t.Errorf("Create() = %v, want a 403 with the plugin's message", err)
	}
	if _, err := maps.Create(t.Context(), configMap("panic"), metav1.CreateOptions{}); !apierrors.IsInternalError(err) {
		t.Errorf("Create() = %v with a plugin that panics, want a 500", err)
	}
	if _, ok := check.seen.Load("system:apiserver"); ok {
		t.Error("the plugin was called for objects that the server created when it started, want it not to be called")
	}
}

// assigner is a mutating plugin that replaces the objects of one resource with the result of change.
type assigner struct {
	admission.MutatingOnly
	name, resource string
	change         func(obj document.Value) document.Value
}

func (p assigner) Name() string { return p.name }

func (p assigner) Handles(_ admission.Operation, r admission.Resource) admission.Phase {
	if r.Resource == p.resource && r.Subresource == "" {
		return admission.Mutating
	}
	return 0
}

func (p assigner) Admit(_ context.Context, a *admission.Attributes) error {
	a.Object = p.change(a.Object)
	return nil
}

// TestAssignedObjectsAreDecoded checks that the server decodes an object that a plugin has assigned before it stores the
// object: a changed identity or a value of the wrong type results in a 500 that names the plugin and the field, unknown fields
// are dropped, and defaults are set.
func TestAssignedObjectsAreDecoded(t *testing.T) {
	t.Parallel()
	field := func(value document.Value, path ...string) func(document.Value) document.Value {
		return func(obj document.Value) document.Value { return withField(obj, value, path...) }
	}
	text := document.NewString("x")
	for _, test := range []struct {
		change func(document.Value) document.Value
		want   string
	}{
		{field(text, "kind"), `kind: expected "Service", received "x"`},
		{field(text, "apiVersion"), `apiVersion: expected "v1", received "x"`},
		{field(text, "metadata", "name"), `metadata.name: expected "a", received "x"`},
		{field(text, "metadata", "namespace"), `metadata.namespace: expected "default", received "x"`},
		{field(text, "metadata", "resourceVersion"), `metadata.resourceVersion: expected <absent>, received "x"`},
		{field(document.NewInt(1), "metadata", "labels"), `metadata.labels`},
		{field(text, "metadata"), `metadata: expected an object, received a string`},
		{field(text, "spec", "ports"), `spec.ports`},
		{func(document.Value) document.Value { return text }, `expected an object, received a string`},
		{func(document.Value) document.Value { return document.Value{} }, `expected an object, received a`},
	} {
		s := run(t, apiserver.Options{InProcess: true, Admission: []admission.Plugin{assigner{name: "Faulty", resource: "services", change: test.change}}})
		services := client(t, s.RESTConfig()).CoreV1().Services("default")
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.ServiceSpec{ClusterIP: "None"}}
		_, err := services.Create(t.Context(), service, metav1.CreateOptions{})
		if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "admission plugin Faulty: Attributes.Object: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Create() = %v, want a 500 with %q", err, test.want)
		}
		if _, err := services.Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("Get() after a create that failed with %q = %v, want a 404, because nothing is stored", test.want, err)
		}
	}

	ports := document.NewList(document.NewMap(document.Field{Name: "port", Value: document.NewInt(80)}, document.Field{Name: "unknown", Value: text}))
	s := run(t, apiserver.Options{InProcess: true, Admission: []admission.Plugin{assigner{name: "AddsPort", resource: "services", change: field(ports, "spec", "ports")}}})
	services := client(t, s.RESTConfig()).CoreV1().Services("default")
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.ServiceSpec{ClusterIP: "None"}}
	created, err := services.Create(t.Context(), service, metav1.CreateOptions{})
	if err != nil || len(created.Spec.Ports) != 1 || created.Spec.Ports[0].Protocol != corev1.ProtocolTCP || created.Spec.Ports[0].TargetPort.IntVal != 80 {
		t.Errorf("Create() = ports %+v, %v, want port 80 with its defaults", created.Spec.Ports, err)
	}
	raw, err := client(t, s.RESTConfig()).CoreV1().RESTClient().Get().AbsPath("/api/v1/namespaces/default/services/a").DoRaw(t.Context())
	if err != nil || strings.Contains(string(raw), "unknown") {
		t.Errorf("Get() = %s, %v, want no unknown field", raw, err)
	}
}

// withField returns obj with the field at path set to value.
func withField(obj, value document.Value, path ...string) document.Value {
	if len(path) == 0 {
		return value
	}
	return obj.With(path[0], withField(obj.Get(path[0]), value, path[1:]...))
}

// authorizerFor returns an authorizer for the requests of one user: it returns the decision, or an error for requests
// to secrets. It has no opinion about requests of other users.
func authorizerFor(name string, decision authorizer.Decision) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		switch {
		case a.GetUser().GetName() != name:
			return authorizer.DecisionNoOpinion, "", nil
		case a.GetResource() == "secrets":
			return authorizer.DecisionNoOpinion, "", errors.New("backend is down")
		}
		return decision, "by the platform", nil
	})
}

// TestAuthenticatorsAndAuthorizers checks that the authenticators and authorizers of Options are called before RBAC,
// for API requests and for additional handlers, and that members of system:masters are always allowed.
func TestAuthenticatorsAndAuthorizers(t *testing.T) {
	t.Parallel()
	tokens := authenticator.TokenFunc(func(_ context.Context, token string) (*authenticator.Response, bool, error) {
		if name, ok := strings.CutPrefix(token, "token-of-"); ok {
			return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, true, nil
		}
		return nil, false, nil
	})
	s := run(t, apiserver.Options{
		TokenAuthenticators: []authenticator.Token{tokens},
		Authorizers:         []authorizer.Authorizer{authorizerFor("ann", authorizer.DecisionAllow), authorizerFor("eve", authorizer.DecisionDeny)},
		Handlers:            map[string]http.Handler{"/info/": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})},
	})
	as := func(token string) *kubernetes.Clientset {
		config := rest.AnonymousClientConfig(s.RESTConfig())
		config.BearerToken = token
		return client(t, config)
	}
	if _, err := as("token-of-ann").CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("List() as ann = %v, want nil", err)
	}
	if _, err := as("token-of-eve").CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "by the platform") {
		t.Errorf("List() as eve = %v, want a 403 with the authorizer's reason", err)
	}
	if _, err := as("token-of-bob").CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("List() as bob = %v, want a 403, because RBAC does not allow it", err)
	}
	if _, err := as("token-of-ann").CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsInternalError(err) {
		t.Errorf("List() with an authorizer that fails = %v, want a 500", err)
	}
	if _, err := as("unknown").CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("List() with an unknown token = %v, want a 401", err)
	}
	if _, err := as("").CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("List() without a token = %v, want a 403 for system:anonymous", err)
	}
	for token, want := range map[string]int{"": 403, "token-of-ann": 200, "token-of-bob": 403, "token-of-eve": 403} {
		var code int
		result := as(token).CoreV1().RESTClient().Get().AbsPath("/info/x").Do(t.Context()).StatusCode(&code)
		if code != want {
			t.Errorf("GET /info/x with token %q: code %d, error %v; want %d", token, code, result.Error(), want)
		}
	}
	masters := s.RESTConfigFor(&user.DefaultInfo{Name: "eve", Groups: []string{"system:masters"}})
	if _, err := client(t, masters).CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("List() as a member of system:masters = %v, want nil", err)
	}
}

// TestInProcessUsers checks that in-process requests are authorized as the user of their config, and that impersonation and a
// bearer token take precedence.
func TestInProcessUsers(t *testing.T) {
	t.Parallel()
	s := run(t, apiserver.Options{InProcess: true})
	nobody := s.RESTConfigFor(&user.DefaultInfo{Name: "nobody"})
	if _, err := client(t, nobody).CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("List() of a user without permissions = %v, want a 403", err)
	}
	impersonating := s.RESTConfig()
	impersonating.Impersonate.UserName = "nobody"
	if _, err := client(t, impersonating).CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("List() with impersonation = %v, want a 403 for the impersonated user", err)
	}
	token := s.RESTConfig()
	token.BearerToken = "unknown"
	if _, err := client(t, token).CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("List() with an unknown token = %v, want a 401", err)
	}
}

// TestTwoServers checks that two servers in one process share no objects, and that a server keeps running when the other server
// stops.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	one, other := run(t, apiserver.Options{InProcess: true}), run(t, apiserver.Options{})
	if _, err := client(t, one.RESTConfig()).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client(t, other.RESTConfig()).CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Get() on the other server = %v, want a 404", err)
	}
	if err := one.stop(); err != nil {
		t.Error(err)
	}
	if _, err := client(t, other.RESTConfig()).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Errorf("Get() after the other server has stopped = %v, want nil", err)
	}
}

// TestListenerOfCaller checks that the server serves on Options.Listener and closes it when it stops.
func TestListenerOfCaller(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := run(t, apiserver.Options{Listener: listener})
	if want := "https://" + listener.Addr().String(); s.URL() != want || s.RESTConfig().Host != want {
		t.Errorf("URL() = %s, want %s", s.URL(), want)
	}
	for name, config := range map[string]*rest.Config{"listener": s.RESTConfig(), "in process": s.RESTConfigFor(nil)} {
		if _, err := client(t, config).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
			t.Errorf("%s: Get() = %v, want nil", name, err)
		}
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept() after the server has stopped = %v, want net.ErrClosed", err)
	}
}

// TestDirectory checks that objects in a data directory still exist after the server is restarted.
func TestDirectory(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "data")
	first := run(t, apiserver.Options{InProcess: true, Directory: directory})
	if _, err := client(t, first.RESTConfig()).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	second := run(t, apiserver.Options{Directory: directory})
	if _, err := client(t, second.RESTConfig()).CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
		t.Errorf("Get() after a restart = %v, want nil", err)
	}
}

// TestRunLeavesNoGoroutines checks that no goroutines remain after Run has returned. It is not parallel, because goleak checks
// all goroutines of the process.
func TestRunLeavesNoGoroutines(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, options := range []apiserver.Options{{InProcess: true}, {}, {Directory: t.TempDir()}} {
		s := run(t, options)
		config := s.RESTConfig()
		transport, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		c, err := kubernetes.NewForConfigAndClient(config, transport)
		if err != nil {
			t.Fatal(err)
		}
		w, err := c.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := s.stop(); err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}
		w.Stop()
		transport.CloseIdleConnections()
	}
}

// TestShutdownDelay checks that a server that stops fails its readiness check first, and still serves requests and watches until the
// delay has passed. Then watches end cleanly.
func TestShutdownDelay(t *testing.T) {
	t.Parallel()
	s := run(t, apiserver.Options{ShutdownDelay: 2 * time.Second})
	c := client(t, s.RESTConfig())
	watch, err := c.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	check := func(path string) error {
		return c.CoreV1().RESTClient().Get().AbsPath(path).Do(t.Context()).Error()
	}
	testwait.For(t, "the readiness check to fail", func() bool { return check("/readyz") != nil })
	if err := check("/livez"); err != nil {
		t.Errorf("/livez: %v, want nil", err)
	}
	if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("late"), metav1.CreateOptions{}); err != nil {
		t.Errorf("create during the delay: %v, want nil", err)
	}
	if event := <-watch.ResultChan(); event.Type != "ADDED" {
		t.Errorf("watch event = %v, want the creation during the delay", event)
	}
	for event := range watch.ResultChan() {
		t.Errorf("watch event = %v, want the end of the watch", event)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Run() = %v, want nil", err)
	}
}

// TestShutdownTimeout checks that Run returns after ShutdownTimeout although a request is still active.
func TestShutdownTimeout(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]apiserver.Options{"in process": {InProcess: true}, "listener": {}} {
		entered, release := make(chan struct{}), make(chan struct{})
		options.ShutdownTimeout = time.Nanosecond
		options.Handlers = map[string]http.Handler{"/hang": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(entered)
			<-release
		})}
		s := run(t, options)
		failed := make(chan error, 1)
		go func() {
			failed <- client(t, s.RESTConfig()).CoreV1().RESTClient().Get().AbsPath("/hang").Do(t.Context()).Error()
		}()
		<-entered
		begun := time.Now()
		if err := s.stop(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: Run() = %v with an active request, want context.DeadlineExceeded", name, err)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%s: stopping took %v, want at most 5s", name, took)
		}
		if err := <-failed; err == nil {
			t.Errorf("%s: the error of the aborted request is nil, want one", name)
		}
		close(release)
	}
}

// TestRunErrors checks the errors of Run and WaitReady for a server that cannot start, a second Run, and an ended context.
func TestRunErrors(t *testing.T) {
	t.Parallel()
	s, err := apiserver.New(apiserver.Options{InProcess: true, TokenFile: "/does/not/exist"})
	if err != nil {
		t.Fatal(err)
	}
	if s.RESTConfig() != nil || s.RESTConfigFor(nil) != nil || s.URL() != "" || s.WriteKubeconfig("x") == nil {
		t.Error("a server that has not been run has a client config, URL or kubeconfig; want none")
	}
	waited := make(chan error, 1)
	go func() { waited <- s.WaitReady(t.Context()) }()
	runErr := s.Run(t.Context())
	if runErr == nil || !strings.Contains(runErr.Error(), "/does/not/exist") {
		t.Errorf("Run() = %v, want an error that contains /does/not/exist", runErr)
	}
	if err := <-waited; !errors.Is(err, runErr) {
		t.Errorf("WaitReady() = %v, want the error of Run", err)
	}
	if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "only once") {
		t.Errorf("second Run() = %v, want an error that contains \"only once\"", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	idle, err := apiserver.New(apiserver.Options{InProcess: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := idle.WaitReady(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("WaitReady() = %v, want context.Canceled", err)
	}
	if err := idle.Run(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Run() with an ended context = %v, want context.Canceled", err)
	}
}

func TestOptionErrors(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	handler := http.NotFoundHandler()
	for _, test := range []struct {
		options apiserver.Options
		want    string
	}{
		{apiserver.Options{Address: "localhost"}, `Options.Address: expected HOST:PORT, received "localhost"`},
		{apiserver.Options{Address: "localhost:http"}, `Options.Address: expected a port from 0 to 65535, received "http"`},
		{apiserver.Options{Address: ":0", InProcess: true}, `Options.Address: must be empty if InProcess is set, received ":0"`},
		{apiserver.Options{Listener: listener, InProcess: true}, `Options.Listener: must be nil if InProcess is set`},
		{apiserver.Options{Listener: listener, Address: ":0"}, `Options.Address: must be empty if Listener is set, received ":0"`},
		{apiserver.Options{InProcess: true, TLS: apiserver.TLS{ClientCAFile: "x"}}, `Options.TLS: must be empty if InProcess is set`},
		{apiserver.Options{TLS: apiserver.TLS{CertFile: "x"}}, `Options.TLS: expected CertFile and KeyFile, received CertFile "x" and KeyFile ""`},
		{apiserver.Options{Audit: apiserver.AuditOptions{PolicyFile: "", Log: apiserver.AuditLog{Path: "-"}}}, `Options.Audit: --audit-policy-file: expected a file`},
		{apiserver.Options{ShutdownDelay: -1}, `Options.ShutdownDelay: expected a positive value`},
		{apiserver.Options{ShutdownTimeout: -1}, `Options.ShutdownTimeout: expected a positive value`},
		{apiserver.Options{Limits: apiserver.Limits{MaxBodyBytes: -1}}, `Options.Limits.MaxBodyBytes: expected a positive value`},
		{apiserver.Options{FeatureGates: map[string]bool{"Unknown": true}}, `Options.FeatureGates: expected ServerSideApplyUnsettingFields or ManagedFieldsOptOut, received "Unknown"`},
		{apiserver.Options{Admission: []admission.Plugin{nil}}, `Options.Admission[0]: must not be nil`},
		{apiserver.Options{Admission: []admission.Plugin{teamLabel{}, teamLabel{}}}, `Options.Admission[1]: expected a plugin with a unique name, received "TeamLabel"`},
		{apiserver.Options{Admission: []admission.Plugin{assigner{name: "LimitRanger"}}}, `Options.Admission[0]: expected a plugin with a unique name, received "LimitRanger"`},
		{apiserver.Options{Authenticators: []authenticator.Request{nil}}, `Options.Authenticators[0]: must not be nil`},
		{apiserver.Options{TokenAuthenticators: []authenticator.Token{nil}}, `Options.TokenAuthenticators[0]: must not be nil`},
		{apiserver.Options{Authorizers: []authorizer.Authorizer{nil}}, `Options.Authorizers[0]: must not be nil`},
		{apiserver.Options{Handlers: map[string]http.Handler{"/info": nil}}, `Options.Handlers["/info"]: must not be nil`},
		{apiserver.Options{Handlers: map[string]http.Handler{"info": handler}}, `expected a path prefix such as /info, received "info"`},
		{apiserver.Options{Handlers: map[string]http.Handler{"/": handler}}, `expected a path prefix such as /info, received "/"`},
		{apiserver.Options{Handlers: map[string]http.Handler{"/apis/x": handler}}, `received "/apis/x"; choose a prefix other than /api, /apis`},
		{apiserver.Options{Handlers: map[string]http.Handler{"/healthz": handler}}, `received "/healthz"`},
		{apiserver.Options{Handlers: map[string]http.Handler{"/info": handler, "/info/": handler}}, `expected one handler for /info, received two`},
	} {
		if _, err := apiserver.New(test.options); err == nil || !strings.HasPrefix(err.Error(), "apiserver: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("New() = %v, want an error with %q", err, test.want)
		}
	}
}

// TestLimitsCountHandlers checks that requests to additional handlers count towards the limit of concurrent requests.
func TestLimitsCountHandlers(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	s := run(t, apiserver.Options{
		InProcess: true, Limits: apiserver.Limits{MaxReadsInFlight: 1, DisablePriorityAndFairness: true},
		Authorizers: []authorizer.Authorizer{authorizerFor("ann", authorizer.DecisionAllow)},
		Handlers: map[string]http.Handler{"/hold": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			entered <- struct{}{}
			<-release
		})},
	})
	config := s.RESTConfigFor(&user.DefaultInfo{Name: "ann"})
	config.Timeout = 10 * time.Second
	c := client(t, config).CoreV1().RESTClient()
	first := make(chan error, 1)
	go func() { first <- c.Get().AbsPath("/hold").Do(t.Context()).Error() }()
	<-entered
	var code int
	c.Get().AbsPath("/api/v1/configmaps").MaxRetries(0).Do(t.Context()).StatusCode(&code)
	if code != http.StatusTooManyRequests {
		t.Errorf("list while a handler occupies the only slot: code %d, want 429", code)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// BenchmarkStart measures the time from New to the first response, with a listener and in process.
func BenchmarkStart(b *testing.B) {
	for name, options := range map[string]apiserver.Options{"listener": {}, "in process": {InProcess: true}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := run(b, options)
				if _, err := client(b, s.RESTConfig()).CoreV1().Namespaces().Get(b.Context(), "default", metav1.GetOptions{}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := s.stop(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// BenchmarkGet measures a get over the listener and an in-process get.
func BenchmarkGet(b *testing.B) {
	s := run(b, apiserver.Options{})
	for name, config := range map[string]*rest.Config{"listener": s.RESTConfig(), "in process": s.RESTConfigFor(nil)} {
		b.Run(name, func(b *testing.B) {
			namespaces := client(b, config).CoreV1().Namespaces()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := namespaces.Get(b.Context(), "default", metav1.GetOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
