package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// This file compares whole objects with the results of Kubernetes' FieldManager: conflicts, documents, and managed
// fields entries with their order and time. The histories contain untracked metadata, reset fields, the entry
// before-first-apply, and more Update entries than the limit.

var widgets = k8sschema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

const widgetVersion = "example.com/v1"

// endpoint is the main resource or a subresource of a kind, with its Engine and its upstream FieldManager.
type endpoint struct {
	subresource string
	ours        *Engine
	upstream    *managedfields.FieldManager
}

// widgetKind is a random kind with its endpoints. It implements the interfaces that a FieldManager requires.
type widgetKind struct {
	kind      *schema.Type
	schema    *smd.Schema
	endpoints []endpoint
}

// newWidgetKind returns a kind with random types of spec and status, and the endpoints of the resource and its
// status.
func newWidgetKind(g generator) *widgetKind {
	s := g.schema()
	parser, err := typed.NewParser(typed.YAMLObject(testTypes))
	if err != nil {
		panic(err)
	}
	for _, def := range parser.Schema.Types {
		if def.Name == "metadata" {
			def.Map.Fields = append(def.Map.Fields, smd.StructField{Name: "managedFields", Type: smd.TypeRef{NamedType: new(atomicName)}})
			s.Types = append(s.Types, def)
		}
	}
	text := smd.String
	s.Types = append(s.Types, smd.TypeDef{Name: "widget", Atom: smd.Atom{Map: &smd.Map{Fields: []smd.StructField{
		{Name: "apiVersion", Type: smd.TypeRef{Inlined: smd.Atom{Scalar: &text}}},
		{Name: "kind", Type: smd.TypeRef{Inlined: smd.Atom{Scalar: &text}}},
		{Name: "metadata", Type: smd.TypeRef{NamedType: new("metadata")}},
		{Name: "spec", Type: smd.TypeRef{NamedType: new("T0")}},
		{Name: "status", Type: smd.TypeRef{NamedType: new("T1")}},
	}}}})
	c := &widgetKind{schema: s, kind: translator{s, map[string]*schema.Type{}}.ref(smd.TypeRef{NamedType: new("widget")})}
	c.addEndpoint("", ".status", fieldpath.MakePathOrDie("status"))
	c.addEndpoint("status", ".spec .metadata.labels", fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata", "labels"))
	return c
}

// addEndpoint adds the endpoint of the given subresource. reset and upstreamReset are its reset fields, in the notations
// of the Engine and of the FieldManager.
func (k *widgetKind) addEndpoint(subresource, reset string, upstreamReset ...fieldpath.Path) {
	filter := fieldpath.NewExcludeSetFilter(fieldpath.NewSet(upstreamReset...))
	upstream, err := managedfields.NewDefaultFieldManager(k, k, k, k, widgets, widgets.GroupVersion(), subresource,
		map[fieldpath.APIVersion]fieldpath.Filter{widgetVersion: filter})
	if err != nil {
		panic(err)
	}
	ours := mustEngine(Options{Versions: OneVersion(widgetVersion, k.kind), Reset: map[string]fieldset.Set{widgetVersion: pathSet(reset)}})
	k.endpoints = append(k.endpoints, endpoint{subresource, ours, upstream})
}

// The following methods implement the interfaces that a FieldManager requires. There is no conversion and no
// defaulting.

func (k *widgetKind) ObjectToTyped(o runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	content := o.(*unstructured.Unstructured).UnstructuredContent()
	return typed.AsTyped(value.NewValueInterface(content), k.schema, smd.TypeRef{NamedType: new("widget")}, options...)
}

func (k *widgetKind) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	return &unstructured.Unstructured{Object: v.AsValue().Unstructured().(map[string]any)}, nil
}

func (k *widgetKind) Convert(_, _, _ any) error { return errors.New("not needed") }

func (k *widgetKind) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (k *widgetKind) ConvertFieldLabel(_ k8sschema.GroupVersionKind, _, _ string) (string, string, error) {
	return "", "", errors.New("not needed")
}

func (k *widgetKind) Default(runtime.Object) {}

func (k *widgetKind) New(kind k8sschema.GroupVersionKind) (runtime.Object, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	return o, nil
}

// toUpstream converts an Object to an Unstructured. For an object that does not exist yet, the result has only
// apiVersion and kind.
func (k *widgetKind) toUpstream(o Object) *unstructured.Unstructured {
	if o.Document.IsAbsent() {
		empty, _ := k.New(widgets)
		return empty.(*unstructured.Unstructured)
	}
	doc, err := document.ParseJSON(o.AppendJSON(nil))
	if err != nil {
		panic(err)
	}
	return &unstructured.Unstructured{Object: doc.ToGo().(map[string]any)}
}

// fromUpstream converts an Unstructured to an Object. It sets the time of the entries that the last operation wrote to
// now.
func fromUpstream(o runtime.Object, now time.Time) Object {
	doc, err := document.FromGo(o.(*unstructured.Unstructured).Object)
	if err != nil {
		panic(err)
	}
	object, err := SplitObject(doc)
	if err != nil {
		panic(err)
	}
	for i := range object.Entries {
		e := &object.Entries[i]
		if e.Time.After(now) {
			e.Time = now
		}
		// Unstructured objects contain field sets as Go maps, which do not preserve the order of names: encode them
		// canonically.
		fields, err := e.Fields()
		if err != nil {
			panic(err)
		}
		e.FieldsV1 = fields.FieldsV1()
	}
	return object
}

// upstreamConflicts returns the conflicts in an error of FieldManager.
func upstreamConflicts(err error) []string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsConflict(err) {
		return nil
	}
	var all []string
	for _, cause := range status.Status().Details.Causes {
		all = append(all, cause.Field+" "+cause.Message)
	}
	slices.Sort(all)
	return all
}

// engineConflicts returns the conflicts in an error of Engine, with the texts that Kubernetes uses.
func engineConflicts(err error) []string {
	var conflict *ConflictError
	if !errors.As(err, &conflict) {
		return nil
	}
	var all []string
	for _, c := range conflict.Conflicts {
		for _, owner := range c.Owners {
			text := fmt.Sprintf("%s conflict with %q", c.Path, owner.Manager)
			if owner.Subresource != "" {
				text += fmt.Sprintf(" with subresource %q", owner.Subresource)
			}
			if owner.Operation == Update {
				text += " using " + owner.APIVersion
			}
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
}

// document returns the document of a random request: an updated object, often a mutation of live, if update is true; a
// configuration, often a mutation of the last one, if update is false.
func (k *widgetKind) document(g generator, live, last document.Value, update bool) document.Value {
	base := last
	if update && !live.IsAbsent() || base.IsAbsent() && g.chance(30) {
		base = live
	}
	part := func(name string) document.Value {
		t, _ := k.kind.Map.TypeOf(name)
		v := base.Get(name)
		switch {
		case g.chance(15):
			return document.Value{}
		case v.Kind() == document.Map && g.chance(80):
			v = g.mutate(t, v, update)
		default:
			v = g.mapValue(t.Map, 1, update)
		}
		return withoutEmptyLists(t, v)
	}
	metadata := document.NewMap(document.Field{Name: "name", Value: document.NewString("web")})
	if uid := live.Lookup("metadata", "uid"); update && !uid.IsAbsent() {
		metadata = metadata.With("uid", uid)
	}
	if g.chance(60) {
		var labels []document.Field
		for _, name := range []string{"p", "q", "r"} {
			if g.chance(50) {
				labels = append(labels, document.Field{Name: name, Value: document.NewString(pick(g, "1", "2"))})
			}
		}
		metadata = metadata.With("labels", document.NewMap(labels...))
	}
	if g.chance(30) {
		metadata = metadata.With("finalizers", document.NewList(document.NewString(pick(g, "f1", "f2"))))
	}
	return document.NewMap(
		document.Field{Name: "apiVersion", Value: document.NewString(widgetVersion)},
		document.Field{Name: "kind", Value: document.NewString("Widget")},
		document.Field{Name: "metadata", Value: metadata},
		document.Field{Name: "spec", Value: part("spec")},
		document.Field{Name: "status", Value: part("status")},
	)
}

// withLabel returns the document with one label changed. Such small updates by different managers create many Update
// entries.
func withLabel(doc document.Value, name string, number int) document.Value {
	metadata := doc.Get("metadata")
	labels := metadata.Get("labels").With(name, document.NewString(fmt.Sprint(number)))
	return doc.With("metadata", metadata.With("labels", labels))
}

// objectHistory runs random requests on Engine and on FieldManager, and returns an error at the first difference. Each
// step starts from the engine's result.
func objectHistory(g generator, steps, managers int) error {
	c := newWidgetKind(g)
	var live Object
	configs := map[string]document.Value{}
	now := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range steps {
		now = now.Add(time.Minute)
		at := c.endpoints[0]
		if g.chance(25) {
			at = c.endpoints[1]
		}
		update := g.chance(45)
		r := Request{Manager: fmt.Sprintf("m%d", g.IntN(managers)), Version: widgetVersion, Subresource: at.subresource, Time: now, Force: g.chance(50)}
		doc := c.document(g, live.Document, configs[r.Manager+at.subresource], update)
		if update && managers > 3 && !live.Document.IsAbsent() && g.chance(90) {
			doc = withLabel(live.Document, r.Manager, g.IntN(9))
		}
		if err := validate(c.kind, document.Value{}, doc, false); err != nil && !update {
			continue // the configuration has duplicate list items from the live object
		}
		if g.chance(3) {
			live.Entries = nil
		}
		before := fmt.Sprintf("step %d, %s by %+v\nlive %s\nsent %v", n, map[bool]string{true: "update", false: "apply"}[update], r, formatObject(live), doc)

		request := &unstructured.Unstructured{Object: doc.ToGo().(map[string]any)}
		var ours Result
		var upstream runtime.Object
		var err, upstreamErr error
		if update {
			ours, err = at.ours.Update(live, doc, r)
			upstream, upstreamErr = at.upstream.Update(c.toUpstream(live), request, r.Manager)
		} else {
			ours, err = at.ours.Apply(live, doc, r)
			upstream, upstreamErr = at.upstream.Apply(c.toUpstream(live), request, r.Manager, r.Force)
		}
		if (err == nil) != (upstreamErr == nil) || !slices.Equal(engineConflicts(err), upstreamConflicts(upstreamErr)) {
			return fmt.Errorf("error of the engine: %v\nwant the error of FieldManager: %v\n%s", err, upstreamErr, before)
		}
		if err != nil {
			continue
		}
		if d := diffObjects(ours.Object, fromUpstream(upstream, now), live.Entries); d != "" {
			return fmt.Errorf("%s\n%s", d, before)
		}
		if !update {
			configs[r.Manager+at.subresource] = doc
		}
		live = ours.Object
		live.Document = withoutEmptyLists(c.kind, live.Document)
		live.Document = live.Document.With("metadata", live.Document.Get("metadata").With("uid", document.NewString("1")))
	}
	return nil
}

// diffObjects describes the differences between the engine's and the upstream object. It returns "" if all differences
// are deliberate. before are the managed fields entries before the request.
func diffObjects(ours, upstream Object, before []Entry) string {
	d := diffObjectsExactly(ours, upstream)
	if d != "" && diffObjectsExactly(withoutKeylessItems(ours, before), upstream) == "" {
		return ""
	}
	return d
}

// diffObjectsExactly describes all differences between the engine's and the upstream object, "" if the objects are
// equal.
func diffObjectsExactly(ours, upstream Object) string {
	if !equalExceptEmptied(ours.Document, upstream.Document) {
		return fmt.Sprintf("document of the engine: %v\nwant the document of FieldManager: %v", ours.Document, upstream.Document)
	}
	ours.Document, upstream.Document = document.Value{}, document.Value{}
	if a, b := formatObject(ours), formatObject(upstream); a != b {
		return fmt.Sprintf("entries of the engine:\n%s\nwant the entries of FieldManager:\n%s", strings.TrimPrefix(a, "<absent>\n"), strings.TrimPrefix(b, "<absent>\n"))
	}
	return ""
}

// TestFieldManager compares random histories of whole objects with Kubernetes' FieldManager. With many managers the
// limit of Update entries is reached.
func TestFieldManager(t *testing.T) {
	for _, managers := range []int{3, 25} {
		t.Run(fmt.Sprintf("%d managers", managers), func(t *testing.T) {
			for seed := *firstSeed; seed < *firstSeed+uint64(*histories/10+1); seed++ {
				steps := 12
				if managers > 3 {
					steps = 40
				}
				if err := objectHistory(newGenerator(seed), steps, managers); err != nil {
					t.Fatalf("%v\n%s", err, reproduceCommand(seed))
				}
			}
		})
	}
}
