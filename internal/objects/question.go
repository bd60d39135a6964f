package objects

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admit"
	"github.com/cadastre/cadastre/internal/cache"
)

// question returns what others are asked about a write that is under way. The object is at the version of the request, and
// has a resourceVersion, or "".
func (w *writing) question(object apply.Object, revision string) (*admit.Question, error) {
	e := w.Endpoint
	q := &admit.Question{
		Subject: e.subject(), Operation: w.operation(), Namespace: w.Namespace, Name: w.Name,
		User: w.User, DryRun: w.DryRun, Options: w.options(), Objects: reader{e}, Warn: w.Warn,
	}
	if e.Kind.Contains {
		q.Namespace = w.Name // a namespace is in itself
	}
	if q.Name != "" && object.Document.Lookup("metadata", "name").IsAbsent() {
		q.Name = "" // it is made later
	}
	var err error
	if w.live != nil {
		if q.Old, err = w.all.shownAt(e, w.live); err != nil {
			return nil, err
		}
	}
	q.Object, err = questioned(object, revision)
	return q, err
}

// questioned returns an object as those see it who are asked: with managedFields, and a resourceVersion unless that is "".
func questioned(object apply.Object, revision string) (document.Value, error) {
	doc, err := document.ParseJSONLimited(jsonOf(object), anySize)
	if err != nil || revision == "" {
		return doc, err
	}
	return doc.With("metadata", doc.Get("metadata").With("resourceVersion", document.NewString(revision))), nil
}

// liveRevision is the resourceVersion of the object that is there; "" if there is none.
func (w *writing) liveRevision() string {
	if w.live == nil {
		return ""
	}
	return strconv.FormatInt(int64(w.live.Revision()), 10)
}

// options are the parameters of a write, as an object. Patches have those of what they do.
func (w *writing) options() runtime.Object {
	var dryRun []string
	if w.DryRun {
		dryRun = []string{metav1.DryRunAll}
	}
	if w.live == nil {
		return &metav1.CreateOptions{
			TypeMeta: optionsType("CreateOptions"),
			DryRun:   dryRun, FieldManager: w.Sent.FieldManager, FieldValidation: w.Sent.FieldValidation,
		}
	}
	return &metav1.UpdateOptions{
		TypeMeta: optionsType("UpdateOptions"),
		DryRun:   dryRun, FieldManager: w.Sent.FieldManager, FieldValidation: w.Sent.FieldValidation,
	}
}

func optionsType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: metav1.SchemeGroupVersion.String(), Kind: kind}
}

// deletionQuestion returns what others are asked about a deletion.
func (o *Objects) deletionQuestion(d *Deletion, live *cache.Object) (*admit.Question, error) {
	old, err := o.shownAt(d.Endpoint, live)
	if err != nil {
		return nil, err
	}
	q := &admit.Question{
		Subject: d.Endpoint.subject(), Operation: admit.Delete, Namespace: d.Namespace, Name: d.Name,
		User: d.User, DryRun: d.DryRun, Old: old, Objects: reader{d.Endpoint}, Warn: d.Warn,
	}
	options := d.Options
	options.TypeMeta = optionsType("DeleteOptions")
	q.Options = &options
	if d.Endpoint.Kind.Contains {
		q.Namespace = d.Name
	}
	if d.isOfMany {
		q.Name = "" // as in Kubernetes: the request names nobody
	}
	if q.Warn == nil {
		q.Warn = func(string) {}
	}
	return q, nil
}

// shownAt returns an object as an endpoint shows it, whole.
func (o *Objects) shownAt(e *Endpoint, object *cache.Object) (document.Value, error) {
	shown, err := o.At(e, object)
	if err != nil {
		return document.Value{}, StoreError(err)
	}
	doc, err := document.ParseJSONLimited(shown.AppendJSON(nil), anySize)
	if err != nil {
		return doc, StoreError(err)
	}
	return doc, nil
}
