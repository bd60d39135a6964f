package clientgo

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/cadastre/cadastre/client"
	"github.com/cadastre/cadastre/test/clients/target"
)

// These tests check that programs with package client never receive managedFields, neither from a server that can omit
// them nor from kube-apiserver, which always sends them.

// cborGate is the argument that enables CBOR in kube-apiserver.
const cborGate = "--feature-gates=CBORServingAndStorage=true"

// allMedia lists the media types that client-go supports. CBOR requires a feature gate, see TestMain.
var allMedia = []string{"application/json", "application/vnd.kubernetes.protobuf", "application/cbor"}

// wantNoManagedFields fails the test if o has managedFields. It fails too if o has no name, because o was not decoded
// then.
func wantNoManagedFields(t *testing.T, context string, o runtime.Object) {
	t.Helper()
	accessor, err := meta.Accessor(o)
	check(t, err)
	if accessor.GetName() == "" || len(accessor.GetManagedFields()) > 0 {
		t.Errorf("%s: object = %v, want a name and no managedFields", context, o)
	}
	if u, ok := o.(*unstructured.Unstructured); ok {
		if _, found, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields"); found {
			t.Errorf("%s: object = %v, want no managedFields member", context, u.Object)
		}
	}
}

// TestOptOut sends requests in every media type, and checks the media types of the responses. Dynamic clients select
// the media type themselves: CBOR if the feature gate enables it, or JSON if not; never protobuf, which requires types.
// Metadata clients use protobuf.
func TestOptOut(t *testing.T) {
	server := target.ConfigWith(t, cborGate)
	for _, media := range allMedia {
		short := media[strings.LastIndexAny(media, "./")+1:]
		t.Run(short, func(t *testing.T) {
			name := "opt-out-" + short
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			_, err := kubernetes.NewForConfigOrDie(server).CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
			check(t, err)
			run := func(client string, expected []string, test func(t *testing.T, config *rest.Config)) {
				t.Run(client, func(t *testing.T) { withRecordedMedia(t, server, media, expected, test) })
			}
			run("typed", withStream(media), func(t *testing.T, config *rest.Config) { optOutTyped(t, config, server, name) })
			run("informers", withStream(media), func(t *testing.T, config *rest.Config) { optOutInformers(t, config, name) })
			run("dynamic", withStream("application/cbor"), func(t *testing.T, config *rest.Config) { optOutDynamic(t, config, name) })
			run("metadata", withStream("application/vnd.kubernetes.protobuf"), func(t *testing.T, config *rest.Config) { optOutMetadata(t, config, name) })
		})
	}
}

// withStream returns media and, if watches use a different media type, that media type.
func withStream(media string) []string {
	if media == "application/cbor" {
		return []string{media, "application/cbor-seq"}
	}
	return []string{media}
}

// withRecordedMedia calls test with a config that opts out of managedFields and prefers media. It checks that the
// Accept headers of all requests contain the opt-out, and that the media types of the responses are the expected ones.
func withRecordedMedia(t *testing.T, server *rest.Config, media string, expected []string, test func(t *testing.T, config *rest.Config)) {
	var recorder target.MediaRecorder
	config := client.WithoutManagedFields(recorder.Config(server))
	config.ContentType, config.AcceptContentTypes = media, media
	test(t, config)
	if got := recorder.Media(); !slices.Equal(got, expected) {
		t.Errorf("media types of responses = %q, want %q", got, expected)
	}
	for _, accept := range recorder.Accepts() {
		for clause := range strings.SplitSeq(accept, ",") {
			if !strings.Contains(clause, ";drop=metadata.managedFields") {
				t.Errorf("Accept = %q, want drop=metadata.managedFields in every clause", accept)
			}
		}
	}
}

// optOutTyped checks that every verb of a typed client returns objects without managedFields, while the server retains
// them.
func optOutTyped(t *testing.T, config, whole *rest.Config, namespace string) {
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace)
	events, err := maps.Watch(t.Context(), metav1.ListOptions{LabelSelector: "name=typed"})
	check(t, err)
	defer events.Stop()
	created, err := maps.Create(t.Context(), configMap("typed", map[string]string{"a": "1"}), metav1.CreateOptions{})
	check(t, err)
	wantNoManagedFields(t, "create", created)
	created.Data["a"] = "2"
	updated, err := maps.Update(t.Context(), created, metav1.UpdateOptions{})
	check(t, err)
	wantNoManagedFields(t, "update", updated)
	patched, err := maps.Patch(t.Context(), "typed", types.MergePatchType, []byte(`{"data":{"a":"3"}}`), metav1.PatchOptions{})
	check(t, err)
	wantNoManagedFields(t, "patch", patched)
	list, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: "name=typed"})
	check(t, err)
	wantNoManagedFields(t, "list", &list.Items[0])
	there, err := kubernetes.NewForConfigOrDie(whole).CoreV1().ConfigMaps(namespace).Get(t.Context(), "typed", metav1.GetOptions{})
	check(t, err)
	if len(there.ManagedFields) == 0 {
		t.Errorf("Get() without the opt-out = %v, want managedFields", there)
	}
	check(t, maps.Delete(t.Context(), "typed", metav1.DeleteOptions{}))
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Deleted} {
		event := next(t, events)
		if event.Type != want {
			t.Errorf("event = %v, want %v", event, want)
		}
		wantNoManagedFields(t, "watch", event.Object)
	}
}

// optOutInformers checks that informers receive existing and new objects without managedFields.
func optOutInformers(t *testing.T, config *rest.Config, namespace string) {
	clients := kubernetes.NewForConfigOrDie(config)
	create := func(name string) {
		_, err := clients.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap(name, nil), metav1.CreateOptions{})
		check(t, err)
	}
	create("before")
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	create("later")
	wantBothObjects(t, informer, namespace)
}

// wantBothObjects waits until the informer contains both objects, and checks that they have no managedFields.
func wantBothObjects(t *testing.T, informer cache.SharedInformer, namespace string) {
	t.Helper()
	for _, name := range []string{"before", "later"} {
		eventually(t, "the informer to have "+name, func() bool {
			_, there, err := informer.GetStore().GetByKey(namespace + "/" + name)
			return err == nil && there
		})
	}
	for _, o := range informer.GetStore().List() {
		wantNoManagedFields(t, "informer", o.(runtime.Object))
	}
}

func optOutDynamic(t *testing.T, config *rest.Config, namespace string) {
	maps := dynamic.NewForConfigOrDie(config).Resource(configMaps).Namespace(namespace)
	events, err := maps.Watch(t.Context(), metav1.ListOptions{LabelSelector: "some=dynamic"})
	check(t, err)
	defer events.Stop()
	applied, err := maps.Apply(t.Context(), "dynamic", &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "dynamic", "labels": map[string]any{"some": "dynamic"}},
		"data": map[string]any{"a": "1"},
	}}, metav1.ApplyOptions{FieldManager: "me"})
	check(t, err)
	wantNoManagedFields(t, "apply", applied)
	wantNoManagedFields(t, "watch", next(t, events).Object)
	list, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: "some=dynamic"})
	check(t, err)
	if len(list.Items) != 1 {
		t.Fatalf("List() returned %d objects, want 1", len(list.Items))
	}
	wantNoManagedFields(t, "list", &list.Items[0])
}

func optOutMetadata(t *testing.T, config *rest.Config, namespace string) {
	client := metadata.NewForConfigOrDie(config)
	list, err := client.Resource(configMaps).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(list.Items) == 0 {
		t.Fatal("List() returned no objects, want at least one")
	}
	wantNoManagedFields(t, "list", &list.Items[0])
	got, err := client.Resource(configMaps).Namespace(namespace).Get(t.Context(), "before", metav1.GetOptions{})
	check(t, err)
	wantNoManagedFields(t, "get", got)
	factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, namespace, nil)
	informer := factory.ForResource(configMaps).Informer()
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	wantBothObjects(t, informer, namespace)
}

// TestOptOutOfOneInformer checks that one of two informers of the same client can opt out of managedFields.
func TestOptOutOfOneInformer(t *testing.T) {
	server := target.ConfigWith(t, cborGate)
	for _, media := range allMedia {
		short := media[strings.LastIndexAny(media, "./")+1:]
		t.Run(short, func(t *testing.T) {
			namespace := "opt-out-informer-" + short
			config := client.OptOutOnRequest(server)
			config.ContentType, config.AcceptContentTypes = media, media
			clients := kubernetes.NewForConfigOrDie(config)
			_, err := clients.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
			check(t, err)
			maps := clients.CoreV1().ConfigMaps(namespace)
			lister := &cache.ListWatch{
				ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return maps.List(ctx, o) },
				WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return maps.Watch(ctx, o) },
			}
			with := cache.NewSharedIndexInformer(lister, &corev1.ConfigMap{}, 0, nil)
			without := cache.NewSharedIndexInformer(client.OptOutListerWatcher(lister), &corev1.ConfigMap{}, 0, nil)
			for _, name := range []string{"before", "later"} {
				_, err := maps.Create(t.Context(), configMap(name, nil), metav1.CreateOptions{})
				check(t, err)
				if name == "later" {
					break
				}
				go with.RunWithContext(t.Context())
				go without.RunWithContext(t.Context())
				cache.WaitForCacheSync(t.Context().Done(), with.HasSynced, without.HasSynced)
			}
			wantBothObjects(t, without, namespace)
			eventually(t, "the other informer to have both objects with managedFields", func() bool {
				owned := 0
				for _, o := range with.GetStore().List() {
					if len(o.(*corev1.ConfigMap).ManagedFields) > 0 {
						owned++
					}
				}
				return owned >= 2
			})
		})
	}
}

// TestExtractWithoutManagedFields checks that extracting an apply configuration from an object that was read without
// managedFields fails.
func TestExtractWithoutManagedFields(t *testing.T) {
	server := target.ConfigWith(t, cborGate)
	apply := applycore.ConfigMap("extracted", "default").WithData(map[string]string{"a": "1"})
	options := metav1.ApplyOptions{FieldManager: "me", Force: true}
	whole, err := kubernetes.NewForConfigOrDie(server).CoreV1().ConfigMaps("default").Apply(t.Context(), apply, options)
	check(t, err)
	extracted, err := client.Extract(whole, "me", applycore.ExtractConfigMap)
	if check(t, err); extracted.Data["a"] != "1" {
		t.Errorf("Extract() = %v, want data.a", extracted)
	}
	less, err := kubernetes.NewForConfigOrDie(client.WithoutManagedFields(server)).CoreV1().ConfigMaps("default").Apply(t.Context(), apply, options)
	check(t, err)
	_, err = client.Extract(less, "me", applycore.ExtractConfigMap)
	if none := (*client.NoManagedFieldsError)(nil); !errors.As(err, &none) || !strings.Contains(err.Error(), "default/extracted: expected managedFields") {
		t.Errorf("Extract() = %v, want NoManagedFieldsError", err)
	}
}

// TestOptOutGate checks that the feature gate in the environment disables the opt-out only if its value is "false".
func TestOptOutGate(t *testing.T) {
	server := target.Config(t)
	for gate, want := range map[string]bool{"false": true, "true": false, "": false} {
		t.Setenv("KUBE_FEATURE_"+client.FeatureGate, gate)
		var recorder target.MediaRecorder
		clients := kubernetes.NewForConfigOrDie(client.WithoutManagedFields(recorder.Config(server)))
		got, err := clients.CoreV1().Namespaces().Patch(t.Context(), "default", types.MergePatchType, []byte(`{"metadata":{"labels":{"gate":"x`+gate+`"}}}`), metav1.PatchOptions{})
		check(t, err)
		if hasManagedFields := len(got.ManagedFields) > 0; hasManagedFields != want {
			t.Errorf("feature gate %q: object has managedFields: got %v, want %v", gate, hasManagedFields, want)
		}
		if requested := strings.Contains(strings.Join(recorder.Accepts(), ","), "drop="); requested == want {
			t.Errorf("feature gate %q: Accept contains drop=: got %v, want %v", gate, requested, !want)
		}
	}
}

// allowCBOR enables CBOR in client-go, which reads the feature gate from the environment.
func allowCBOR() {
	if err := os.Setenv("KUBE_FEATURE_ClientsAllowCBOR", "true"); err != nil {
		panic(err)
	}
}
