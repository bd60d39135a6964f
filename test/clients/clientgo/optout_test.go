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

// These tests hold package client to what it says: programs never see managedFields, of a server that leaves them out
// and of the real kube-apiserver, which always sends them.

// cborGate has kube-apiserver speak CBOR.
const cborGate = "--feature-gates=CBORServingAndStorage=true"

// allMedia are what client-go speaks; CBOR is behind a gate of its own, see TestMain.
var allMedia = []string{"application/json", "application/vnd.kubernetes.protobuf", "application/cbor"}

// unseen fails if an object shows its managers.
func unseen(t *testing.T, what string, o runtime.Object) {
	t.Helper()
	accessor, err := meta.Accessor(o)
	check(t, err)
	if accessor.GetName() == "" || len(accessor.GetManagedFields()) > 0 {
		t.Errorf("%s: received %v, expected a name and no managedFields", what, o)
	}
	if u, ok := o.(*unstructured.Unstructured); ok {
		if _, there, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields"); there {
			t.Errorf("%s: managedFields are there, if only empty: %v", what, u.Object)
		}
	}
}

// TestOptOut asks in every media, and sees that the answers are in it. Dynamic clients choose theirs themselves: CBOR if
// client-go may speak it, JSON otherwise, never protobuf, which needs types; and so do metadata clients: protobuf.
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
				t.Run(client, func(t *testing.T) { listenTo(t, server, media, expected, test) })
			}
			run("typed", withStream(media), func(t *testing.T, config *rest.Config) { optOutTyped(t, config, server, name) })
			run("informers", withStream(media), func(t *testing.T, config *rest.Config) { optOutInformers(t, config, name) })
			run("dynamic", withStream("application/cbor"), func(t *testing.T, config *rest.Config) { optOutDynamic(t, config, name) })
			run("metadata", withStream("application/vnd.kubernetes.protobuf"), func(t *testing.T, config *rest.Config) { optOutMetadata(t, config, name) })
		})
	}
}

// withStream is a media with that of its watches.
func withStream(media string) []string {
	if media == "application/cbor" {
		return []string{media, "application/cbor-seq"}
	}
	return []string{media}
}

// listenTo runs a test with a config that does without managedFields, and sees what is asked for and in which media the
// answers are.
func listenTo(t *testing.T, server *rest.Config, media string, expected []string, test func(t *testing.T, config *rest.Config)) {
	var spoken target.Spoken
	config := client.WithoutManagedFields(spoken.Config(server))
	config.ContentType, config.AcceptContentTypes = media, media
	test(t, config)
	if got := spoken.Media(); !slices.Equal(got, expected) {
		t.Errorf("answers are in %q, expected %q", got, expected)
	}
	for _, accept := range spoken.Accepts() {
		for clause := range strings.SplitSeq(accept, ",") {
			if !strings.Contains(clause, ";drop=metadata.managedFields") {
				t.Errorf("asked with %q, expected every clause to do without managedFields", accept)
			}
		}
	}
}

// optOutTyped has every verb answer without, while the server has them all the same.
func optOutTyped(t *testing.T, config, whole *rest.Config, namespace string) {
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace)
	events, err := maps.Watch(t.Context(), metav1.ListOptions{LabelSelector: "name=typed"})
	check(t, err)
	defer events.Stop()
	created, err := maps.Create(t.Context(), configMap("typed", map[string]string{"a": "1"}), metav1.CreateOptions{})
	check(t, err)
	unseen(t, "create", created)
	created.Data["a"] = "2"
	updated, err := maps.Update(t.Context(), created, metav1.UpdateOptions{})
	check(t, err)
	unseen(t, "update", updated)
	patched, err := maps.Patch(t.Context(), "typed", types.MergePatchType, []byte(`{"data":{"a":"3"}}`), metav1.PatchOptions{})
	check(t, err)
	unseen(t, "patch", patched)
	list, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: "name=typed"})
	check(t, err)
	unseen(t, "list", &list.Items[0])
	there, err := kubernetes.NewForConfigOrDie(whole).CoreV1().ConfigMaps(namespace).Get(t.Context(), "typed", metav1.GetOptions{})
	check(t, err)
	if len(there.ManagedFields) == 0 {
		t.Errorf("the server has lost who owns what: %v", there)
	}
	check(t, maps.Delete(t.Context(), "typed", metav1.DeleteOptions{}))
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Deleted} {
		event := next(t, events)
		if event.Type != want {
			t.Errorf("received %v, expected %v", event, want)
		}
		unseen(t, "watch", event.Object)
	}
}

// optOutInformers see an object that was there and one that comes later.
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
	seeBoth(t, informer, namespace)
}

// seeBoth waits until an informer has both objects, without managedFields.
func seeBoth(t *testing.T, informer cache.SharedInformer, namespace string) {
	t.Helper()
	for _, name := range []string{"before", "later"} {
		eventually(t, "the informer has "+name, func() bool {
			_, there, err := informer.GetStore().GetByKey(namespace + "/" + name)
			return err == nil && there
		})
	}
	for _, o := range informer.GetStore().List() {
		unseen(t, "informer", o.(runtime.Object))
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
	unseen(t, "apply", applied)
	unseen(t, "watch", next(t, events).Object)
	list, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: "some=dynamic"})
	check(t, err)
	if len(list.Items) != 1 {
		t.Fatalf("listed %d objects, expected 1", len(list.Items))
	}
	unseen(t, "list", &list.Items[0])
}

func optOutMetadata(t *testing.T, config *rest.Config, namespace string) {
	client := metadata.NewForConfigOrDie(config)
	list, err := client.Resource(configMaps).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	check(t, err)
	if len(list.Items) == 0 {
		t.Fatal("listed nothing")
	}
	unseen(t, "list", &list.Items[0])
	got, err := client.Resource(configMaps).Namespace(namespace).Get(t.Context(), "before", metav1.GetOptions{})
	check(t, err)
	unseen(t, "get", got)
	factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, namespace, nil)
	informer := factory.ForResource(configMaps).Informer()
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	seeBoth(t, informer, namespace)
}

// TestOptOutOfOneInformer: of one client, an informer does without managedFields and another has them.
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
			seeBoth(t, without, namespace)
			eventually(t, "the other informer has both, with managedFields", func() bool {
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

// TestExtractWithoutManagedFields: what was read without can't tell what a manager applied, and says so.
func TestExtractWithoutManagedFields(t *testing.T) {
	server := target.ConfigWith(t, cborGate)
	apply := applycore.ConfigMap("extracted", "default").WithData(map[string]string{"a": "1"})
	options := metav1.ApplyOptions{FieldManager: "me", Force: true}
	whole, err := kubernetes.NewForConfigOrDie(server).CoreV1().ConfigMaps("default").Apply(t.Context(), apply, options)
	check(t, err)
	extracted, err := client.Extract(whole, "me", applycore.ExtractConfigMap)
	if check(t, err); extracted.Data["a"] != "1" {
		t.Errorf("extracted %v", extracted)
	}
	less, err := kubernetes.NewForConfigOrDie(client.WithoutManagedFields(server)).CoreV1().ConfigMaps("default").Apply(t.Context(), apply, options)
	check(t, err)
	_, err = client.Extract(less, "me", applycore.ExtractConfigMap)
	if none := (*client.NoManagedFieldsError)(nil); !errors.As(err, &none) || !strings.Contains(err.Error(), "default/extracted has no managedFields") {
		t.Errorf("error %v, expected that there are no managedFields", err)
	}
}

// TestOptOutGate: if the environment says no, nothing is asked for and nothing taken out; whatever else it says is yes.
func TestOptOutGate(t *testing.T) {
	server := target.Config(t)
	for said, want := range map[string]bool{"false": true, "true": false, "": false} {
		t.Setenv("KUBE_FEATURE_"+client.FeatureGate, said)
		var spoken target.Spoken
		clients := kubernetes.NewForConfigOrDie(client.WithoutManagedFields(spoken.Config(server)))
		got, err := clients.CoreV1().Namespaces().Patch(t.Context(), "default", types.MergePatchType, []byte(`{"metadata":{"labels":{"gate":"x`+said+`"}}}`), metav1.PatchOptions{})
		check(t, err)
		if seen := len(got.ManagedFields) > 0; seen != want {
			t.Errorf("the environment says %q: managedFields are seen: %v, expected %v", said, seen, want)
		}
		if asked := strings.Contains(strings.Join(spoken.Accepts(), ","), "drop="); asked == want {
			t.Errorf("the environment says %q: asked for less: %v, expected %v", said, asked, !want)
		}
	}
}

// allowCBOR has client-go speak CBOR, which it asks the environment for.
func allowCBOR() {
	if err := os.Setenv("KUBE_FEATURE_ClientsAllowCBOR", "true"); err != nil {
		panic(err)
	}
}
