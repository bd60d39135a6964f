package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authentication/user"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission/admissiontest"
)

// attempts is the number of times that a case with several violations is run, because kube-apiserver reports them in
// random order. The lexically smallest message is recorded, in which the violations are in the order of resource names.
const attempts = 1000

// runUpstream returns the result of kube-apiserver's plugin for the case c.
func runUpstream(newPlugin func() (admission.Interface, error), c *admissiontest.Case) (admissiontest.Answer, error) {
	plugin, err := startPlugin(newPlugin, c)
	if err != nil {
		return admissiontest.Answer{}, err
	}
	first, err := call(plugin, c)
	if err != nil || !strings.Contains(first.Error, "is forbidden: [") {
		return first, err
	}
	for range attempts {
		again, err := call(plugin, c)
		if err != nil {
			return first, err
		}
		if again.Error < first.Error {
			first = again
		}
	}
	return first, nil
}

// startPlugin returns a plugin whose informers contain the stored objects of c.
func startPlugin(newPlugin func() (admission.Interface, error), c *admissiontest.Case) (admission.Interface, error) {
	var stored []runtime.Object
	for _, doc := range c.Stored {
		obj, err := decode(doc)
		if err != nil {
			return nil, err
		}
		stored = append(stored, obj)
	}
	plugin, err := newPlugin()
	if err != nil {
		return nil, err
	}
	client := fake.NewSimpleClientset(stored...)
	factory := informers.NewSharedInformerFactory(client, 0)
	if p, ok := plugin.(initializer.WantsExternalKubeClientSet); ok {
		p.SetExternalKubeClientSet(client)
	}
	if p, ok := plugin.(initializer.WantsExternalKubeInformerFactory); ok {
		p.SetExternalKubeInformerFactory(factory)
	}
	if p, ok := plugin.(initializer.WantsFeatures); ok {
		p.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	}
	if p, ok := plugin.(interface{ SetReadyFunc(admission.ReadyFunc) }); ok {
		p.SetReadyFunc(func() bool { return true })
	}
	return plugin, fill(factory, stored)
}

// fill adds the objects in stored to the indexers of the informers of factory, which are never started.
func fill(factory informers.SharedInformerFactory, stored []runtime.Object) error {
	indexers := map[string]cache.Indexer{
		"Namespace":     factory.Core().V1().Namespaces().Informer().GetIndexer(),
		"Node":          factory.Core().V1().Nodes().Informer().GetIndexer(),
		"LimitRange":    factory.Core().V1().LimitRanges().Informer().GetIndexer(),
		"PriorityClass": factory.Scheduling().V1().PriorityClasses().Informer().GetIndexer(),
		"StorageClass":  factory.Storage().V1().StorageClasses().Informer().GetIndexer(),
	}
	for _, obj := range stored {
		kind := obj.GetObjectKind().GroupVersionKind().Kind
		indexer := indexers[kind]
		if indexer == nil {
			return fmt.Errorf("stored object: kind %s has no informer in upstream.go; add the kind to fill", kind)
		}
		if err := indexer.Add(obj); err != nil {
			return err
		}
	}
	return nil
}

// decode returns doc as an object of its versioned Go type, without defaults.
func decode(doc document.Value) (runtime.Object, error) {
	obj, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode([]byte(doc.JSON()), nil, nil)
	return obj, err
}

// decodeInternal returns doc as an object of the internal Go type that plugins require, without defaults. It returns
// nil if doc is absent.
func decodeInternal(doc document.Value) (runtime.Object, error) {
	if doc.IsAbsent() {
		return nil, nil
	}
	obj, err := decode(doc)
	if err != nil {
		return nil, err
	}
	group := schema.GroupVersion{Group: obj.GetObjectKind().GroupVersionKind().Group, Version: runtime.APIVersionInternal}
	return legacyscheme.Scheme.ConvertToVersion(obj, group)
}

// encode returns obj, an internal object, as a document at apiVersion.
func encode(obj runtime.Object, apiVersion string) (document.Value, error) {
	version, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return document.Value{}, err
	}
	versioned, err := legacyscheme.Scheme.ConvertToVersion(obj, version)
	if err != nil {
		return document.Value{}, err
	}
	text, err := json.Marshal(versioned)
	if err != nil {
		return document.Value{}, err
	}
	return document.ParseJSON(text)
}

// call runs the mutating phase and then the validating phase of plugin on the case c.
func call(plugin admission.Interface, c *admissiontest.Case) (answer admissiontest.Answer, err error) {
	attributes, err := c.Attributes() // provides the name and the namespace
	if err != nil {
		return answer, err
	}
	object, err := decodeInternal(c.Object)
	if err != nil {
		return answer, err
	}
	old, err := decodeInternal(c.Old)
	if err != nil {
		return answer, err
	}
	v := c.Resource.Versioned()
	a := admission.NewAttributesRecord(object, old, v.Kind, attributes.Namespace, attributes.Name, v.Resource, c.Resource.Subresource,
		admission.Operation(c.Operation), nil, false, &user.DefaultInfo{Name: "tester"})
	if err := runPhases(plugin, a); err != nil {
		return admissiontest.Answer{Error: admissiontest.ErrorText(err)}, nil
	}
	if object == nil {
		return answer, nil
	}
	after, err := encode(object, c.Object.Get("apiVersion").Text())
	if err != nil {
		return answer, err
	}
	sent, err := canonical(c.Object)
	if err != nil {
		return answer, err
	}
	if c.Object.Get("status").IsAbsent() { // some Go types encode an empty status, which is removed
		after, sent = after.Without("status"), sent.Without("status")
	}
	return admissiontest.NewAnswer(after, sent), nil
}

func runPhases(plugin admission.Interface, a admission.Attributes) error {
	if !plugin.Handles(a.GetOperation()) {
		return nil
	}
	if p, ok := plugin.(admission.MutationInterface); ok {
		if err := p.Admit(context.Background(), a, nil); err != nil {
			return err
		}
	}
	if p, ok := plugin.(admission.ValidationInterface); ok {
		return p.Validate(context.Background(), a, nil)
	}
	return nil
}

// canonical returns doc as kube-apiserver encodes it.
func canonical(doc document.Value) (document.Value, error) {
	obj, err := decodeInternal(doc)
	if err != nil {
		return doc, err
	}
	return encode(obj, doc.Get("apiVersion").Text())
}
