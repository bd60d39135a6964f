package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	appsac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/cadastre/cadastre/client"
	"github.com/cadastre/cadastre/internal/app"
	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// TestMain sets the environment variable that enables CBOR in client-go.
func TestMain(m *testing.M) {
	if err := os.Setenv("KUBE_FEATURE_ClientsAllowCBOR", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// startServer starts a server, which stops at the end of the test, and returns a client config for it. drop determines
// whether the server supports the Accept parameter drop; released versions of Kubernetes do not support it.
func startServer(t *testing.T, drop bool) *rest.Config {
	t.Helper()
	s, err := app.Start(t.Context(), app.Config{Address: "127.0.0.1:0", Drop: drop, Unset: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	certificate, key := s.Authority.Admin()
	return &rest.Config{Host: s.URL(), QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: s.Authority.CA(), CertData: certificate, KeyData: key}}
}

// configMap returns a ConfigMap with the data a=b.
func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"a": "b"}}
}

// entryCount returns the number of managed fields entries of an object.
func entryCount(t *testing.T, o runtime.Object) int {
	t.Helper()
	accessor, err := meta.Accessor(o)
	if err != nil {
		t.Fatal(err)
	}
	return len(accessor.GetManagedFields())
}

// TestClients checks that typed clients never receive managedFields, for every encoding and for servers with and without
// support for the parameter drop.
func TestClients(t *testing.T) {
	for _, drop := range []bool{true, false} {
		for _, media := range []string{"application/json", "application/vnd.kubernetes.protobuf", "application/cbor"} {
			t.Run(fmt.Sprintf("%s drop=%v", media, drop), func(t *testing.T) {
				full := startServer(t, drop)
				config := client.WithoutManagedFields(full)
				config.ContentType, config.AcceptContentTypes = media, media
				ctx := t.Context()
				typed := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
				watched, err := typed.Watch(ctx, metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				defer watched.Stop()
				created, err := typed.Create(ctx, configMap("c"), metav1.CreateOptions{})
				if err != nil || entryCount(t, created) != 0 || created.Data["a"] != "b" {
					t.Fatalf("Create() = %v, error = %v; want data a=b and no managedFields", created, err)
				}
				event := <-watched.ResultChan()
				if event.Type != watch.Added || entryCount(t, event.Object) != 0 || event.Object.(*corev1.ConfigMap).Data["a"] != "b" {
					t.Errorf("watch event = %v, want ADDED with data a=b and no managedFields", event)
				}
				created.Data["a"] = "c"
				updated, err := typed.Update(ctx, created, metav1.UpdateOptions{})
				if err != nil || entryCount(t, updated) != 0 {
					t.Errorf("Update() = %v, error = %v; want no managedFields", updated, err)
				}
				list, err := typed.List(ctx, metav1.ListOptions{})
				if err != nil || len(list.Items) == 0 || entryCount(t, &list.Items[0]) != 0 || list.Items[0].Data["a"] == "" {
					t.Errorf("List() = %v, error = %v; want objects with data and no managedFields", list, err)
				}
				// The server still stores managedFields: a client of the original config receives them.
				whole, err := kubernetes.NewForConfigOrDie(full).CoreV1().ConfigMaps("default").Get(ctx, "c", metav1.GetOptions{})
				if err != nil || entryCount(t, whole) == 0 {
					t.Errorf("Get() with the original config = %v, error = %v; want managedFields", whole, err)
				}
			})
		}
	}
}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// TestOtherClients checks that dynamic clients, metadata clients and informers receive no managedFields.
func TestOtherClients(t *testing.T) {
	for _, drop := range []bool{true, false} {
		t.Run(fmt.Sprintf("drop=%v", drop), func(t *testing.T) {
			full := startServer(t, drop)
			config := client.WithoutManagedFields(full)
			ctx := t.Context()
			if _, err := kubernetes.NewForConfigOrDie(full).CoreV1().ConfigMaps("default").Create(ctx, configMap("c"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			o, err := dynamic.NewForConfigOrDie(config).Resource(configMaps).Namespace("default").Get(ctx, "c", metav1.GetOptions{})
			if err != nil || entryCount(t, o) != 0 {
				t.Errorf("Get() of the dynamic client = %v, error = %v; want no managedFields", o, err)
			}
			m, err := metadata.NewForConfigOrDie(config).Resource(configMaps).Namespace("default").List(ctx, metav1.ListOptions{})
			if err != nil || len(m.Items) == 0 || entryCount(t, &m.Items[0]) != 0 || m.Items[0].Name == "" {
				t.Errorf("List() of the metadata client = %v, error = %v; want objects with names and no managedFields", m, err)
			}
			factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
			informer := factory.Core().V1().ConfigMaps().Informer()
			factory.Start(ctx.Done())
			factory.WaitForCacheSync(ctx.Done())
			for _, o := range informer.GetStore().List() {
				if entryCount(t, o.(*corev1.ConfigMap)) != 0 {
					t.Errorf("object in the informer's cache = %v, want no managedFields", o)
				}
			}
			if len(informer.GetStore().List()) == 0 {
				t.Error("the informer's cache contains no objects, want at least one")
			}
		})
	}
}

// TestOnRequest checks that, with OptOutOnRequest, managedFields are removed only from the responses to requests with OptOut,
// for servers with and without support for the parameter drop.
func TestOnRequest(t *testing.T) {
	for _, drop := range []bool{true, false} {
		t.Run(fmt.Sprintf("drop=%v", drop), func(t *testing.T) {
			maps := kubernetes.NewForConfigOrDie(client.OptOutOnRequest(startServer(t, drop))).CoreV1().ConfigMaps("default")
			created, err := maps.Create(t.Context(), configMap("before"), metav1.CreateOptions{})
			if err != nil || entryCount(t, created) == 0 {
				t.Fatalf("Create() without OptOut = %v, error = %v; want managedFields", created, err)
			}
			got, err := maps.Get(client.OptOut(t.Context()), "before", metav1.GetOptions{})
			if err != nil || entryCount(t, got) != 0 {
				t.Errorf("Get() with OptOut = %v, error = %v; want no managedFields", got, err)
			}
			lister := &cache.ListWatch{
				ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return maps.List(ctx, o) },
				WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return maps.Watch(ctx, o) },
			}
			with, without := informerOf(t, lister), informerOf(t, client.OptOutListerWatcher(lister))
			if _, err := maps.Create(t.Context(), configMap("later"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"before", "later"} {
				if o := waitFor(t, with, "default/"+name); entryCount(t, o) == 0 {
					t.Errorf("object of the informer without OptOutListerWatcher = %v, want managedFields", o)
				}
				if o := waitFor(t, without, "default/"+name); entryCount(t, o) != 0 {
					t.Errorf("object of the informer with OptOutListerWatcher = %v, want no managedFields", o)
				}
			}
		})
	}
}

// informerOf starts an informer for the ConfigMaps of lister, waits until it has synced, and returns its store. The informer
// runs until the end of the test.
func informerOf(t *testing.T, lister cache.ListerWatcher) cache.Store {
	t.Helper()
	informer := cache.NewSharedIndexInformer(lister, &corev1.ConfigMap{}, 0, nil)
	go informer.RunWithContext(t.Context())
	waiting, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if !cache.WaitForCacheSync(waiting.Done(), informer.HasSynced) {
		t.Fatal("the informer has not synced within a minute")
	}
	return informer.GetStore()
}

// waitFor waits until the informer's store objects contains the ConfigMap with the given key, and returns it.
func waitFor(t *testing.T, objects cache.Store, key string) *corev1.ConfigMap {
	t.Helper()
	var found *corev1.ConfigMap
	testwait.For(t, "the informer's store to contain "+key, func() bool {
		o, there, err := objects.GetByKey(key)
		if there && err == nil {
			found = o.(*corev1.ConfigMap)
		}
		return found != nil
	})
	return found
}

// TestGate checks that the values false and 0 of the environment variable disable the feature gate, and that it remains
// enabled for other values, including invalid ones.
func TestGate(t *testing.T) {
	maps := kubernetes.NewForConfigOrDie(client.WithoutManagedFields(startServer(t, true))).CoreV1().ConfigMaps("default")
	for value, on := range map[string]bool{"false": false, "0": false, "true": true, "": true, "perhaps": true} {
		t.Setenv("KUBE_FEATURE_"+client.FeatureGate, value)
		created, err := maps.Create(t.Context(), configMap("c"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil || entryCount(t, created) == 0 != on {
			t.Errorf("feature gate %q in the environment: Create() = %v, error = %v; want error nil and managedFields removed = %v", value, created, err, on)
		}
	}
}

// TestExtract checks that Extract returns the configuration of a field manager, and an error for an object that was read
// without managedFields.
func TestExtract(t *testing.T) {
	config := startServer(t, true)
	deployments := func(config *rest.Config) *appsv1.Deployment {
		t.Helper()
		all := kubernetes.NewForConfigOrDie(config).AppsV1().Deployments("default")
		d, err := all.Patch(t.Context(), "web", types.ApplyPatchType, []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},`+
			`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`), metav1.PatchOptions{FieldManager: "me"})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	whole, err := client.Extract(deployments(config), "me", appsac.ExtractDeployment)
	if err != nil || whole.Spec == nil || *whole.Spec.Replicas != 3 {
		t.Errorf("Extract() = %v, error = %v; want spec.replicas 3", whole, err)
	}
	_, err = client.Extract(deployments(client.WithoutManagedFields(config)), "me", appsac.ExtractDeployment)
	if none := (*client.NoManagedFieldsError)(nil); !errors.As(err, &none) || none.Name != "web" {
		t.Errorf("Extract() without managedFields: error = %v, want a NoManagedFieldsError for web", err)
	}
}

// TestExtractAbsences checks that Extract returns unset markers for absent fields that the manager owns if the type of the
// configuration can contain them, and otherwise an error.
func TestExtractAbsences(t *testing.T) {
	config := startServer(t, true)
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	all := kubernetes.NewForConfigOrDie(config).AppsV1().Deployments("default")
	send := func(manager, subresource, body string) *appsv1.Deployment {
		t.Helper()
		body = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},` + body + `}`
		var more []string
		if subresource != "" {
			more = []string{subresource}
		}
		d, err := all.Patch(t.Context(), "web", types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: manager}, more...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	send("me", "", `"spec":{"replicas":3,"paused":false,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b","c":{"k8s_io__value":"unset"}}},`+
		`"spec":{"nodeSelector":{},"hostname":{"k8s_io__value":"unset"},"containers":[{"name":"c","image":"i"},{"name":"d","k8s_io__value":"unset"}]}}}`)
	send("defaulted", "", `"spec":{"revisionHistoryLimit":{"k8s_io__value":"unset"}}`)
	object := send("me", "status", `"status":{"observedGeneration":1}`)

	_, err := client.Extract(object, "me", appsac.ExtractDeployment)
	want := `.spec.template.metadata.labels.c .spec.template.spec.hostname .spec.template.spec.containers[name="d"]`
	if absent := (*client.AbsentFieldsError)(nil); !errors.As(err, &absent) || strings.Join(absent.Paths, " ") != want || !strings.Contains(err.Error(), `default/web: expected`) {
		t.Errorf("Extract() = %v, want an AbsentFieldsError for %s", err, want)
	}
	if status, err := client.Extract(object, "me", appsac.ExtractDeploymentStatus); err != nil || status.Status == nil || *status.Status.ObservedGeneration != 1 {
		t.Errorf("Extract() of the status = %v, %v, want observedGeneration 1", status, err)
	}
	if defaulted, err := client.Extract(object, "defaulted", appsac.ExtractDeployment); err != nil || *defaulted.Spec.RevisionHistoryLimit != 10 {
		t.Errorf("Extract() of an unset field with a default = %v, %v, want the default", defaulted, err)
	}

	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	content["apiVersion"], content["kind"] = "apps/v1", "Deployment"
	untyped := func(d *unstructured.Unstructured, manager string) (*unstructured.Unstructured, error) {
		typed := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.Object, typed); err != nil {
			return nil, err
		}
		extracted, err := appsac.ExtractDeployment(typed, manager)
		if err != nil {
			return nil, err
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(extracted)
		return &unstructured.Unstructured{Object: content}, err
	}
	applied, err := client.Extract(&unstructured.Unstructured{Object: content}, "me", untyped)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(applied)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"labels":{"a":"b","c":{"k8s_io__value":"unset"}}`, `{"k8s_io__value":"unset","name":"d"}`, `"hostname":{"k8s_io__value":"unset"}`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("Extract() = %s, want it to contain %s", text, part)
		}
	}
}

// acceptRecorder is an http.RoundTripper that records the Accept headers of requests.
type acceptRecorder struct {
	next    http.RoundTripper
	accepts []string
}

func (s *acceptRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	s.accepts = append(s.accepts, r.Header.Get("Accept"))
	return s.next.RoundTrip(r)
}

// TestAcceptHeader checks that clients send the parameter drop in the Accept header.
func TestAcceptHeader(t *testing.T) {
	config := startServer(t, true)
	var recorder acceptRecorder
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		recorder.next = next
		return &recorder
	})
	maps := kubernetes.NewForConfigOrDie(client.WithoutManagedFields(config)).CoreV1().ConfigMaps("default")
	if _, err := maps.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(recorder.accepts) != 1 || !strings.Contains(recorder.accepts[0], ";drop=metadata.managedFields") {
		t.Errorf("Accept headers = %q, want one with drop=metadata.managedFields", recorder.accepts)
	}
}
