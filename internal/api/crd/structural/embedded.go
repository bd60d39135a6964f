package structural

import (
	"strconv"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// checkEmbedded returns the errors of apiVersion, kind and metadata in the embedded resources of an object.
func checkEmbedded(root *node, obj document.Value) field.ErrorList {
	if !root.hasFeature(embeddedResources) {
		return nil
	}
	var w embeddedWalk
	w.value(root, obj)
	return w.errs
}

// embeddedWalk is the state of a walk over the embedded resources of an object: the current path, and the errors so far.
type embeddedWalk struct {
	path valuePath
	errs field.ErrorList
}

func (w *embeddedWalk) value(n *node, v document.Value) {
	if !n.hasFeature(embeddedResources) || fastdoc.IsUnparsed(v) {
		return
	}
	switch v.Kind() {
	case document.Map:
		if n.embedded {
			w.resource(v)
		}
		for name, value := range v.Fields() {
			child := n.declaredField(name)
			depth := w.path.enter(name, child != nil)
			if child == nil {
				child = n.additional
			}
			w.value(child, value)
			w.path.leave(depth)
		}
	case document.List:
		for i, item := range v.Items() {
			depth := w.path.enterItem(i)
			w.value(n.items, item)
			w.path.leave(depth)
		}
	}
}

func (w *embeddedWalk) resource(v document.Value) {
	for _, name := range [...]string{"apiVersion", "kind"} {
		if v.Get(name).IsAbsent() {
			w.add(field.Required(w.at(name), ""))
		}
	}
	if version := v.Get("apiVersion"); !version.IsAbsent() {
		w.checkString("apiVersion", version, apiVersionProblem)
	}
	if kind := v.Get("kind"); !kind.IsAbsent() {
		w.checkString("kind", kind, kindProblem)
	}
	if metadata := v.Get("metadata"); !metadata.IsAbsent() {
		w.errs = append(w.errs, builtin.CheckEmbeddedMetadata(metadata, w.at("metadata").String())...)
	}
}

// checkString adds an error if v, the value of the field name, is not a non-empty string, or if problem returns a message for
// that string.
func (w *embeddedWalk) checkString(name string, v document.Value, problem func(string) string) {
	if v.Kind() != document.String {
		w.add(field.Invalid(w.at(name), v.ToGo(), "must be a string"))
		return
	}
	message := "must not be empty"
	if v.Text() != "" {
		message = problem(v.Text())
	}
	if message != "" {
		w.add(field.Invalid(w.at(name), v.Text(), message))
	}
}

func apiVersionProblem(s string) string {
	if _, err := apischema.ParseGroupVersion(s); err != nil {
		return err.Error()
	}
	return ""
}

func kindProblem(s string) string {
	if problems := validation.IsDNS1035Label(strings.ToLower(s)); len(problems) > 0 {
		return "may have mixed case, but should otherwise match: " + strings.Join(problems, ",")
	}
	return ""
}

func (w *embeddedWalk) add(e *field.Error) { w.errs = append(w.errs, e) }

// at returns the path of the field name of the current value.
func (w *embeddedWalk) at(name string) *field.Path {
	return field.NewPath(fieldBelow(w.path.String(), name))
}

// valuePath is the path of the value that a walk is visiting.
type valuePath []step

func (p *valuePath) enter(name string, declared bool) (depth int) {
	kind := keyStep
	if declared {
		kind = fieldStep
	}
	*p = append(*p, step{name: name, kind: kind})
	return len(*p) - 1
}

func (p *valuePath) enterItem(i int) (depth int) {
	*p = append(*p, step{index: i, kind: itemStep})
	return len(*p) - 1
}

func (p *valuePath) leave(depth int) { *p = (*p)[:depth] }

// String returns the path in the notation of validation errors: spec.ports[0].name.
func (p valuePath) String() string {
	var b strings.Builder
	for _, s := range p {
		switch s.kind {
		case itemStep:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case keyStep:
			b.WriteString("[" + s.name + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}
