package api

import (
	"fmt"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// ScaleVersion is the apiVersion of the kind Scale.
const ScaleVersion = "autoscaling/v1"

// replicasPath is the path of the writable field of a Scale. Built-in kinds with a scale subresource have the number of
// replicas at the same path.
var replicasPath = fieldset.Names("spec", "replicas")

// ScalePaths holds the paths of the fields of an object that the object's Scale shows: spec.replicas, status.replicas and
// status.selector of the Scale. Selector is nil if the Scale has no selector.
type ScalePaths struct{ Replicas, StatusReplicas, Selector []string }

var builtinScale = &ScalePaths{Replicas: []string{"spec", "replicas"}, StatusReplicas: []string{"status", "replicas"}}

// scalePaths returns the ScalePaths of the kind at apiVersion; nil if the kind has no scale subresource at that version.
func (k *Kind) scalePaths(apiVersion string) *ScalePaths {
	if k.Definition == nil {
		return builtinScale
	}
	return k.Definition.ScalePaths(path.Base(apiVersion))
}

// replicasAt returns the path of the replicas field in objects at apiVersion; ok is false if the kind has no scale subresource
// at that version.
func (k *Kind) replicasAt(apiVersion string) (path fieldset.Path, ok bool) {
	if _, known := k.Topology(apiVersion); !known {
		return nil, false
	}
	paths := k.scalePaths(apiVersion)
	if paths == nil {
		return nil, false
	}
	return fieldset.Names(paths.Replicas...), true
}

// ScaleOf returns the Scale of an object, with the object's name, namespace, uid, creationTimestamp and, if present,
// resourceVersion.
func (k *Kind) ScaleOf(obj document.Value) (document.Value, error) {
	paths := k.scalePaths(obj.Get("apiVersion").Text())
	if paths == nil {
		return document.Value{}, fmt.Errorf("%v has no scale at %s", k, obj.Get("apiVersion").Text())
	}
	selector, err := k.selectorOf(obj, paths)
	if err != nil {
		return document.Value{}, err
	}
	desired, err := numberAt(obj, paths.Replicas)
	if err != nil {
		return document.Value{}, err
	}
	current, err := numberAt(obj, paths.StatusReplicas)
	if err != nil {
		return document.Value{}, err
	}
	metadata := obj.Get("metadata")
	var fields []document.Field
	for _, name := range []string{"creationTimestamp", "name", "namespace", "resourceVersion", "uid"} {
		fields = append(fields, document.Field{Name: name, Value: metadata.Get(name)})
	}
	spec, status := document.NewMap(), document.NewMap()
	if desired != 0 {
		spec = spec.With("replicas", document.NewInt(desired))
	}
	status = status.With("replicas", document.NewInt(current))
	if selector != "" {
		status = status.With("selector", document.NewString(selector))
	}
	return document.NewMap(
		document.Field{Name: "apiVersion", Value: document.NewString(ScaleVersion)},
		document.Field{Name: "kind", Value: document.NewString("Scale")},
		document.Field{Name: "metadata", Value: document.NewMap(fields...)},
		document.Field{Name: "spec", Value: spec},
		document.Field{Name: "status", Value: status},
	), nil
}

// WithScale returns obj with its replicas field set to spec.replicas of scale.
func (k *Kind) WithScale(obj, scale document.Value) document.Value {
	n, _ := scale.Lookup("spec", "replicas").Int64()
	at := k.scalePaths(obj.Get("apiVersion").Text()).Replicas
	if value, ok := obj.Lookup(at...).Int64(); ok && value == n {
		return obj
	}
	return put(obj, document.NewInt(n), at...)
}

// DefaultReplicas returns the default number of replicas of an object; absent if there is no default. setDefaults sets the
// defaults of the kind at the version of the object.
func (k *Kind) DefaultReplicas(obj document.Value, setDefaults func(document.Value) document.Value) document.Value {
	at := k.scalePaths(obj.Get("apiVersion").Text()).Replicas
	return setDefaults(put(obj, document.Value{}, at...)).Lookup(at...)
}

// ReplicasOf returns the replicas field of an object; absent if it has none.
func (k *Kind) ReplicasOf(obj document.Value) document.Value {
	return obj.Lookup(k.scalePaths(obj.Get("apiVersion").Text()).Replicas...)
}

// WithoutReplicas returns an object without its replicas field.
func (k *Kind) WithoutReplicas(obj document.Value) document.Value {
	at := k.scalePaths(obj.Get("apiVersion").Text()).Replicas
	if obj.Lookup(at...).IsAbsent() {
		return obj
	}
	return put(obj, document.Value{}, at...)
}

// numberAt returns the integer at path in obj; 0 if the field is absent or null. For a value that is not an integer it returns
// an error with Kubernetes' text.
func numberAt(obj document.Value, path []string) (int64, error) {
	v := obj.Lookup(path...)
	n, ok := v.Int64()
	if !ok && !v.IsAbsent() && !v.IsNull() {
		return 0, accessorError(path, v, "int64")
	}
	return n, nil
}

func accessorError(path []string, v document.Value, expected string) error {
	return fmt.Errorf(".%s accessor error: %v is of the type %T, expected %s", strings.Join(path, "."), v.ToGo(), v.ToGo(), expected)
}

// selectorOf returns status.selector of an object's Scale, in the string syntax of label selectors. Custom resources store
// the selector in this syntax, built-in kinds as a LabelSelector or a map of labels.
func (k *Kind) selectorOf(obj document.Value, paths *ScalePaths) (string, error) {
	if k.Definition == nil {
		selector, err := selectorText(obj.Lookup("spec", "selector"), k.Group == "")
		if err != nil {
			return "", fmt.Errorf("spec.selector: %w", err)
		}
		return selector, nil
	}
	if paths.Selector == nil {
		return "", nil
	}
	v := obj.Lookup(paths.Selector...)
	if v.Kind() != document.String && !v.IsAbsent() && !v.IsNull() {
		return "", accessorError(paths.Selector, v, "string")
	}
	return v.Text(), nil
}

// selectorText returns a selector in the string syntax of label selectors. isLabelMap reports whether v is a map of labels,
// as in ReplicationControllers, instead of a LabelSelector.
func selectorText(v document.Value, isLabelMap bool) (string, error) {
	if isLabelMap {
		return labels.SelectorFromSet(stringMap(v)).String(), nil
	}
	if v.Kind() != document.Map {
		return "", nil // a null selector selects nothing
	}
	selector := metav1.LabelSelector{MatchLabels: stringMap(v.Get("matchLabels"))}
	for _, e := range v.Get("matchExpressions").Items() {
		r := metav1.LabelSelectorRequirement{Key: e.Get("key").Text(), Operator: metav1.LabelSelectorOperator(e.Get("operator").Text())}
		for _, value := range e.Get("values").Items() {
			r.Values = append(r.Values, value.Text())
		}
		selector.MatchExpressions = append(selector.MatchExpressions, r)
	}
	s, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return "", err
	}
	return s.String(), nil
}

func stringMap(v document.Value) map[string]string {
	if v.Len() == 0 {
		return nil
	}
	m := make(map[string]string, v.Len())
	for name, value := range v.Fields() {
		m[name] = value.Text()
	}
	return m
}

// ScaleEntries returns the managed fields entries of an object's Scale: the object's entries that own the replicas, with only
// this field.
func (k *Kind) ScaleEntries(object []apply.Entry) ([]apply.Entry, error) {
	var entries []apply.Entry
	for _, e := range latestEntries(object) {
		at, known := k.replicasAt(e.APIVersion)
		if !known {
			continue
		}
		fields, err := e.Fields()
		if err != nil {
			return nil, err
		}
		if fields.Has(at) {
			e.APIVersion, e.FieldsV1 = ScaleVersion, fieldset.New(replicasPath).FieldsV1()
			entries = append(entries, e)
		}
	}
	apply.SortEntries(entries)
	return entries, nil
}

// MergeScaleEntries returns the managed fields entries of an object after its Scale was written. objectEntries are the
// entries of the object before the write, scaleEntries the entries of the Scale after the write; apiVersion is the object's
// version. Field managers that no longer own the replicas in the Scale no longer own them in the object. Field managers that
// newly own the replicas get an entry, without a time as in Kubernetes. It must not be called for an unchanged Scale, because
// then it would add a second entry for field managers that have updated the object.
func (k *Kind) MergeScaleEntries(objectEntries, scaleEntries []apply.Entry, apiVersion string) ([]apply.Entry, error) {
	inScale := map[entryIdentity]apply.Entry{}
	for _, e := range latestEntries(scaleEntries) {
		inScale[identityOf(e)] = e
	}
	entries := map[entryIdentity]apply.Entry{}
	times := map[entryIdentity]apply.Entry{}
	for _, e := range latestEntries(objectEntries) {
		id := identityOf(e)
		times[id] = e
		at, known := k.replicasAt(e.APIVersion)
		if !known {
			continue
		}
		fields, err := e.Fields()
		if err != nil {
			return nil, err
		}
		if _, kept := inScale[id]; fields.Has(at) && !kept {
			fields = fields.Difference(fieldset.New(at))
			e.FieldsV1 = fields.FieldsV1()
			if fields.IsEmpty() {
				continue
			}
		} else if fields.Has(at) {
			delete(inScale, id)
		}
		entries[id] = e
	}
	at, _ := k.replicasAt(apiVersion)
	for id, e := range inScale {
		fields, err := e.Fields()
		if err != nil {
			return nil, err
		}
		if fields.Has(replicasPath) {
			e.APIVersion, e.FieldsV1, e.Time = apiVersion, fieldset.New(at).FieldsV1(), times[id].Time
			entries[id] = e
		}
	}
	list := make([]apply.Entry, 0, len(entries))
	for _, e := range entries {
		list = append(list, e)
	}
	apply.SortEntries(list)
	return list, nil
}

// entryIdentity identifies a managed fields entry. apiVersion is empty for the operation Apply, because an applier has one
// entry per subresource for all versions.
type entryIdentity struct {
	manager, subresource, apiVersion string
	operation                        apply.Operation
}

func identityOf(e apply.Entry) entryIdentity {
	id := entryIdentity{e.Manager, e.Subresource, e.APIVersion, e.Operation}
	if e.Operation == apply.Apply {
		id.apiVersion = ""
	}
	return id
}

// latestEntries returns the managed fields entries without duplicates: of entries with equal identity, only the last entry is
// in the result.
func latestEntries(entries []apply.Entry) []apply.Entry {
	var latest []apply.Entry
	for i, e := range entries {
		later := entries[i+1:]
		if !slices.ContainsFunc(later, func(other apply.Entry) bool { return identityOf(other) == identityOf(e) }) {
			latest = append(latest, e)
		}
	}
	return latest
}
