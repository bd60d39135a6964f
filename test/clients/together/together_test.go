// Package together runs kube-apiserver and Cadastre on one etcd at the same time: what one server writes, the other reads, watches and
// changes.
package together

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/apiserver"
	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/test/peers"
)

// server is one of the servers on the same etcd.
type server struct {
	name string
	dynamic.Interface
}

// pair are kube-apiserver and Cadastre on one etcd.
type pair struct {
	servers [2]server
	configs [2]*rest.Config
	etcd    string
	// keys is the EncryptionConfiguration of both servers; "" if they do not encrypt.
	keys string
}

// encryptionFlag is the flag of kube-apiserver whose file Cadastre uses, too.
const encryptionFlag = "--encryption-provider-config="

// startTimeout is the maximum time to start a server.
const startTimeout = 2 * time.Minute

// start starts both servers. It skips the test if kube-apiserver is not built. mediaType is the media type of the objects that Cadastre
// writes; args are arguments of kube-apiserver.
func start(t *testing.T, mediaType string, args ...string) pair {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	plane, err := peers.Start(ctx, peers.Options{Args: append([]string{"--service-cluster-ip-range=10.96.0.0/12"}, args...)})
	if errors.Is(err, peers.ErrNotBuilt) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Stop)
	p := pair{etcd: plane.EtcdURL}
	for _, arg := range args {
		if keys, ok := strings.CutPrefix(arg, encryptionFlag); ok {
			p.keys = keys
		}
	}
	p.configs[0] = &rest.Config{Host: plane.Host, BearerToken: plane.Token, TLSClientConfig: rest.TLSClientConfig{CAData: plane.CA}}
	p.servers[0] = connect(t, "kube-apiserver", p.configs[0])
	p.servers[1], p.configs[1] = p.startCadastre(t, mediaType)
	return p
}

// startCadastre starts a Cadastre on the etcd of the pair.
func (p pair) startCadastre(t *testing.T, mediaType string) (server, *rest.Config) {
	t.Helper()
	s, err := apiserver.New(apiserver.Options{
		Etcd: apiserver.Etcd{Servers: []string{p.etcd}, MediaType: mediaType}, Storage: apiserver.Storage{EncryptionConfigFile: p.keys}, DisableControllers: true, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	ready, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	if err := s.WaitReady(ready); err != nil {
		t.Fatal(err)
	}
	config := s.RESTConfig()
	return connect(t, "Cadastre", config), config
}

func connect(t *testing.T, name string, config *rest.Config) server {
	t.Helper()
	config.QPS = -1
	config.UserAgent = "together"
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return server{name, client}
}

// of returns the client for the resource of an object, in its namespace.
func (s server) of(o *unstructured.Unstructured) dynamic.ResourceInterface {
	resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	if o.GetNamespace() == "" {
		return s.Resource(resource)
	}
	return s.Resource(resource).Namespace(o.GetNamespace())
}

// parse returns the object with the given JSON.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), o); err != nil {
		t.Fatal(err)
	}
	return o
}

// sameOnBoth checks that both servers return the same object, managedFields and resourceVersion included, and returns it. It reads again
// while a server changes the object, for instance its conditions.
func (p pair) sameOnBoth(t *testing.T, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	var got [2]*unstructured.Unstructured
	for range maxReads {
		for i, s := range p.servers {
			var err error
			if got[i], err = s.of(o).Get(t.Context(), o.GetName(), metav1.GetOptions{}); err != nil {
				t.Errorf("GET %s %s from %s: %v", o.GetKind(), o.GetName(), s.name, err)
				return o
			}
		}
		if got[0].GetResourceVersion() == got[1].GetResourceVersion() {
			break
		}
	}
	if !reflect.DeepEqual(got[0], got[1]) {
		t.Errorf("%s %s differs:\n%s: %s\n%s: %s", o.GetKind(), o.GetName(), p.servers[0].name, text(t, got[0]), p.servers[1].name, text(t, got[1]))
	}
	return got[1]
}

// maxReads is the maximum number of attempts to read the same resourceVersion from both servers.
const maxReads = 10

func text(t *testing.T, o any) string {
	t.Helper()
	encoded, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// objects are valid objects of kinds whose storage has something special: the prefix of their keys, protobuf, the version at which they
// are stored, allocation, or expiry.
var objects = []string{
	`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","labels":{"x":"y"}},"data":{"k":"ü"},"binaryData":{"b":"AAEC"}}`,
	`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"default"},"stringData":{"k":"v"}}`,
	`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}`,
	`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a","namespace":"default"},"spec":{"ports":[{"port":80}],"selector":{"a":"b"}}}`,
	`{"apiVersion":"v1","kind":"Event","metadata":{"name":"a","namespace":"default"},"involvedObject":{"namespace":"default"},"reason":"Test"}`,
	`{"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"a","namespace":"default"},"spec":{"selector":{"a":"b"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
	`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"default"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"0.5"}}}]}}}}`,
	`{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"a","namespace":"default"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`,
	`{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"a","namespace":"default"},"spec":{"defaultBackend":{"service":{"name":"a","port":{"number":80}}}}}`,
	`{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a","namespace":"default"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"a","apiVersion":"apps/v1"}}}`,
	`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"together"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}`,
	`{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"a"},"provisioner":"example.com/p"}`,
	`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","namespace":"default"},"spec":{"holderIdentity":"x","renewTime":"2026-01-02T03:04:05.000006Z"}}`,
	`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"a","namespace":"default"},"spec":{"minAvailable":"50%","selector":{"matchLabels":{"a":"b"}}}}`,
}

// definition is a CustomResourceDefinition, which kube-apiserver stores as v1beta1.
const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
	"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},
	"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",
	"properties":{"size":{"type":"integer","default":3},"items":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}}}}}}}]}}`

const widget = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"default"},"spec":{"items":["b","a"]}}`

// TestTogether creates each object through one server and changes and deletes it through the other, in both directions, with JSON and
// with protobuf.
func TestTogether(t *testing.T) {
	for _, test := range []struct{ name, mediaType string }{{"JSON", apiserver.StorageJSON}, {"protobuf", apiserver.StorageProtobuf}} {
		t.Run(test.name, func(t *testing.T) {
			p := start(t, test.mediaType)
			for i, creator := range p.servers {
				for _, text := range objects {
					p.exchange(t, creator, p.servers[1-i], parse(t, text))
				}
				p.exchangeDefinition(t, creator, p.servers[1-i])
			}
		})
	}
}

// exchange creates an object through the first server, and applies a label, updates and deletes it through the second.
func (p pair) exchange(t *testing.T, first, second server, o *unstructured.Unstructured) {
	t.Helper()
	name := fmt.Sprintf("%s %s created by %s", o.GetKind(), o.GetName(), first.name)
	if _, err := first.of(o).Create(t.Context(), o, metav1.CreateOptions{FieldManager: "creator"}); err != nil {
		t.Errorf("%s: create: %v", name, err)
		return
	}
	created := p.sameOnBoth(t, o)
	label := parse(t, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"labels":{"applied":"yes"}}}`, o.GetAPIVersion(), o.GetKind(), o.GetName()))
	applied, err := second.of(o).Apply(t.Context(), o.GetName(), label, metav1.ApplyOptions{FieldManager: "applier"})
	if err != nil {
		t.Errorf("%s: apply through %s: %v", name, second.name, err)
	} else if applied.GetUID() != created.GetUID() || applied.GetResourceVersion() == created.GetResourceVersion() {
		t.Errorf("%s: apply through %s returned UID %s and resourceVersion %s, want UID %s and a new resourceVersion", name, second.name, applied.GetUID(), applied.GetResourceVersion(), created.GetUID())
	}
	p.sameOnBoth(t, o)
	if _, err := first.of(o).Update(t.Context(), created, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("%s: update of an outdated version through %s: %v, want a conflict", name, first.name, err)
	}
	if _, err := first.of(o).Patch(t.Context(), o.GetName(), types.MergePatchType, []byte(`{"metadata":{"annotations":{"patched":"yes"}}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("%s: patch through %s: %v", name, first.name, err)
	}
	p.sameOnBoth(t, o)
	background := metav1.DeletePropagationBackground // ReplicationControllers otherwise wait for the garbage collector
	if err := second.of(o).Delete(t.Context(), o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		t.Errorf("%s: delete through %s: %v", name, second.name, err)
	}
	for _, s := range p.servers {
		if _, err := s.of(o).Get(t.Context(), o.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: GET from %s after the deletion: %v, want 404", name, s.name, err)
		}
	}
}

// exchangeDefinition creates a CustomResourceDefinition through the first server, exchanges a custom resource, and deletes the
// definition.
func (p pair) exchangeDefinition(t *testing.T, first, second server) {
	t.Helper()
	d, w := parse(t, definition), parse(t, widget)
	if _, err := first.of(d).Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Errorf("create the definition through %s: %v", first.name, err)
		return
	}
	for _, s := range p.servers {
		testwait.For(t, "widgets of "+s.name, func() bool {
			_, err := s.of(w).List(t.Context(), metav1.ListOptions{})
			return err == nil
		})
	}
	testwait.For(t, "the same status of the definition", func() bool {
		one, err := first.of(d).Get(t.Context(), d.GetName(), metav1.GetOptions{})
		two, err2 := second.of(d).Get(t.Context(), d.GetName(), metav1.GetOptions{})
		return err == nil && err2 == nil && one.GetResourceVersion() == two.GetResourceVersion()
	})
	p.sameOnBoth(t, d)
	p.exchange(t, first, second, w)
	if err := second.of(d).Delete(t.Context(), d.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Errorf("delete the definition through %s: %v", second.name, err)
	}
	for _, s := range p.servers {
		testwait.For(t, "the end of the definition on "+s.name, func() bool {
			_, err := s.of(d).Get(t.Context(), d.GetName(), metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
}

// event is an event of a watch, as text.
type event string

// TestHistories writes a random history through either server, and compares the lists and the events of watches on both.
func TestHistories(t *testing.T) {
	p := start(t, apiserver.StorageJSON)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	configMaps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	var watches [2]watch.Interface
	for i, s := range p.servers {
		list, err := s.Resource(configMaps).Namespace("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		watches[i], err = s.Resource(configMaps).Namespace("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion(), LabelSelector: "history=yes"})
		if err != nil {
			t.Fatal(err)
		}
		defer watches[i].Stop()
	}
	written := 0
	for range 300 {
		if p.writeRandom(t, random, configMaps) {
			written++
		}
	}
	var histories [2][]event
	for i := range watches {
		for len(histories[i]) < written {
			select {
			case e := <-watches[i].ResultChan():
				if e.Type != watch.Bookmark {
					histories[i] = append(histories[i], event(text(t, e)))
				}
			case <-time.After(testwait.Timeout):
				t.Fatalf("%s: received %d events, want %d", p.servers[i].name, len(histories[i]), written)
			}
		}
	}
	for i := range histories[0] {
		if histories[0][i] != histories[1][i] {
			t.Fatalf("event %d differs:\n%s: %s\n%s: %s", i, p.servers[0].name, histories[0][i], p.servers[1].name, histories[1][i])
		}
	}
	if !slices.Equal(p.names(t, 0, configMaps), p.names(t, 1, configMaps)) {
		t.Error("lists of ConfigMaps differ")
	}
}

// names returns the objects of a resource as a server lists them, as text.
func (p pair) names(t *testing.T, i int, resource schema.GroupVersionResource) (all []string) {
	t.Helper()
	list, err := p.servers[i].Resource(resource).Namespace("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list.Items {
		all = append(all, text(t, o.Object))
	}
	return all
}

// writeRandom creates, applies, patches or deletes one of a few ConfigMaps through one of the servers. It reports whether the write
// changed an object.
func (p pair) writeRandom(t *testing.T, random *rand.Rand, resource schema.GroupVersionResource) bool {
	t.Helper()
	s := p.servers[random.IntN(2)]
	client := s.Resource(resource).Namespace("default")
	name, value := fmt.Sprintf("history-%d", random.IntN(5)), fmt.Sprint(random.IntN(100))
	before, err := p.servers[random.IntN(2)].Resource(resource).Namespace("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	exists := err == nil
	o := parse(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"labels":{"history":"yes"}},"data":{"k%d":%q}}`, name, random.IntN(3), value))
	var after *unstructured.Unstructured
	switch n := random.IntN(10); {
	case n < 2 && exists:
		if err := client.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatalf("delete %s through %s: %v", name, s.name, err)
		}
		return true
	case n < 4 && !exists:
		after, err = client.Create(t.Context(), o, metav1.CreateOptions{})
	case n < 6 && exists:
		after, err = client.Patch(t.Context(), name, types.MergePatchType, fmt.Appendf(nil, `{"data":{"patched":%q}}`, value), metav1.PatchOptions{})
	default:
		after, err = client.Apply(t.Context(), name, o, metav1.ApplyOptions{FieldManager: fmt.Sprintf("m%d", random.IntN(3)), Force: true})
	}
	if err != nil {
		t.Fatalf("write %s through %s: %v", name, s.name, err)
	}
	return !exists || after.GetResourceVersion() != before.GetResourceVersion()
}
