package clientgo

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/cadastre/cadastre/test/clients/target"
)

func TestSharedInformers(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	ctx := t.Context()
	createConfigMaps(t, client, namespace, 2)

	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	maps := factory.Core().V1().ConfigMaps()
	var added, updated, deleted atomic.Int32
	_, err := maps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { updated.Add(1) },
		DeleteFunc: func(any) { deleted.Add(1) },
	})
	check(t, err)
	deployments := factory.Apps().V1().Deployments().Lister()
	start(t, factory)

	_, err = client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap("late", nil), metav1.CreateOptions{})
	check(t, err)
	object, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, "map-0", metav1.GetOptions{})
	check(t, err)
	object.Labels["seen"] = "yes"
	_, err = client.CoreV1().ConfigMaps(namespace).Update(ctx, object, metav1.UpdateOptions{})
	check(t, err)
	check(t, client.CoreV1().ConfigMaps(namespace).Delete(ctx, "map-1", metav1.DeleteOptions{}))
	_, err = client.AppsV1().Deployments(namespace).Create(ctx, deployment("web"), metav1.CreateOptions{})
	check(t, err)

	eventually(t, "3 added, 1 updated and 1 deleted event", func() bool {
		return added.Load() == 3 && updated.Load() == 1 && deleted.Load() == 1
	})
	eventually(t, "the deployments informer to have the deployment", func() bool {
		_, err := deployments.Deployments(namespace).Get("web")
		return err == nil
	})
	found, err := maps.Lister().ConfigMaps(namespace).List(labels.SelectorFromSet(labels.Set{"seen": "yes"}))
	if err != nil || len(found) != 1 {
		t.Errorf("lister returned %v, %v, want 1 object", found, err)
	}
}

// start runs the factory's informers until the end of the test, and waits until they have synced.
func start(t *testing.T, factory informers.SharedInformerFactory) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	factory.Start(ctx.Done())
	t.Cleanup(func() { cancel(); factory.Shutdown() })
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			t.Fatalf("informer of %v did not sync", kind)
		}
	}
}

// TestInitialEvents checks a watch with sendInitialEvents, which informers use by default.
func TestInitialEvents(t *testing.T) {
	t.Parallel()
	client, namespace := typedClient(t)
	createConfigMaps(t, client, namespace, 2)

	events, err := client.CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{
		SendInitialEvents:    ptr.To(true),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		AllowWatchBookmarks:  true,
	})
	check(t, err)
	defer events.Stop()
	for _, want := range []string{"map-0", "map-1"} {
		if event := next(t, events); event.Type != watch.Added || event.Object.(*corev1.ConfigMap).Name != want {
			t.Errorf("event = %v, want ADDED of %s", event, want)
		}
	}
	bookmark := nextOrBookmark(t, events)
	object, ok := bookmark.Object.(*corev1.ConfigMap)
	if bookmark.Type != watch.Bookmark || !ok || object.Annotations[metav1.InitialEventsAnnotationKey] != "true" {
		t.Fatalf("event = %v, want the bookmark after the initial events", bookmark)
	}
	if object.ResourceVersion == "" || object.Name != "" {
		t.Errorf("bookmark = %+v, want only a resourceVersion", object.ObjectMeta)
	}
	_, err = client.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap("late", nil), metav1.CreateOptions{})
	check(t, err)
	if event := next(t, events); event.Type != watch.Added || event.Object.(*corev1.ConfigMap).Name != "late" {
		t.Errorf("event = %v, want ADDED of late", event)
	}
}

// TestInformerUsesInitialEvents checks that an informer watches with sendInitialEvents. With a server that does not
// support it, the informer would silently fall back to a list.
func TestInformerUsesInitialEvents(t *testing.T) {
	t.Parallel()
	var streams, lists atomic.Int32
	client, namespace := interceptedClient(t, func(request *http.Request) (*http.Response, bool) {
		query := request.URL.Query()
		switch {
		case !strings.HasSuffix(request.URL.Path, "/configmaps"):
		case query.Get("sendInitialEvents") == "true":
			streams.Add(1)
		case query.Get("watch") == "":
			lists.Add(1)
		}
		return nil, false
	})
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	factory.Core().V1().ConfigMaps().Informer()
	start(t, factory)
	if streams.Load() != 1 || lists.Load() != 0 {
		t.Errorf("%d watches with initial events and %d lists, want 1 and 0", streams.Load(), lists.Load())
	}
}

// TestInformerAfterGone checks that an informer whose resumed watch fails with 410 Expired lists again and misses no
// object.
func TestInformerAfterGone(t *testing.T) {
	t.Parallel()
	const gone = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
		`"message":"too old resource version: 1 (2)","reason":"Expired","code":410}}` + "\n"
	var streams, answeredGone atomic.Int32
	client, namespace := interceptedClient(t, func(request *http.Request) (*http.Response, bool) {
		query := request.URL.Query()
		if !strings.HasSuffix(request.URL.Path, "/configmaps") || query.Get("watch") == "" {
			return nil, false
		}
		if query.Get("sendInitialEvents") == "true" && streams.Add(1) == 1 {
			// End the first watch after its initial events, so that the informer resumes it.
			query.Set("timeoutSeconds", "1")
			request.URL.RawQuery = query.Encode()
			return nil, false
		}
		if answeredGone.CompareAndSwap(0, 1) {
			return &http.Response{
				StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: request,
				Header: http.Header{"Content-Type": {"application/json"}},
				Body:   io.NopCloser(strings.NewReader(gone)),
			}, true
		}
		return nil, false
	})
	createConfigMaps(t, client, namespace, 1)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	lister := factory.Core().V1().ConfigMaps().Lister()
	start(t, factory)

	eventually(t, "the watch to be answered with 410", func() bool { return answeredGone.Load() == 1 })
	_, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap("late", nil), metav1.CreateOptions{})
	check(t, err)
	eventually(t, "the informer to list again and have the new object", func() bool {
		found, err := lister.ConfigMaps(namespace).List(labels.Everything())
		return err == nil && len(found) == 2
	})
}

// interceptedClient returns a client and a namespace for the test. Every request of the client is passed to intercept.
// If intercept returns true, its response is used, and the request is not sent to the server.
func interceptedClient(t *testing.T, intercept func(*http.Request) (*http.Response, bool)) (*kubernetes.Clientset, string) {
	t.Helper()
	config := target.Config(t)
	config.ContentType = "application/json"
	config.Wrap(func(server http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			request = request.Clone(request.Context())
			if response, answered := intercept(request); answered {
				return response, nil
			}
			return server.RoundTrip(request)
		})
	})
	client, err := kubernetes.NewForConfig(config)
	check(t, err)
	return client, target.Namespace(t)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
