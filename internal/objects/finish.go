package objects

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/rules"
)

// finish makes of what a verb wants what can be stored: at the version that is stored, with the
// fields that the endpoint wipes put back, and the metadata that is not the client's to set.
func (w *writing) finish(ctx context.Context) error {
	e := w.Endpoint
	sent, err := w.asStored()
	if err != nil {
		return err
	}
	doc := sent
	if e.evolving != nil {
		doc = e.evolving.Readable(doc)
	}
	if !w.converted && document.Same(w.after.Document, w.before.Document) {
		doc = w.stored // nothing but owners is applied, and converting there and back may say more than is stored
	}
	var defaulted document.Value
	if e.values == e.stored {
		defaulted = doc
	}
	if w.live == nil {
		doc = w.newMetadata(doc)
	} else {
		doc = w.keptMetadata(doc)
	}
	if doc, err = w.amend(ctx, e.Kind.Fold(doc)); err != nil {
		return err
	}
	w.unprepared = doc
	w.prepare(doc, sent, defaulted)
	return nil
}

// asStored returns what the verb wants at the version that is stored, with nothing that the kind does not have.
func (w *writing) asStored() (document.Value, error) {
	e := w.Endpoint
	doc, err := w.clean(e.values, w.after.Document)
	if err != nil {
		return doc, err
	}
	return e.toStored(e.values.Default(w.onceReferred(doc, asMerged)))
}

// prepare sets what is stored and what is checked of it. Defaulted is what has its defaults already, if anything.
func (w *writing) prepare(doc, sent, defaulted document.Value) {
	e := w.Endpoint
	endpoint := e.Subresource
	if endpoint == scale {
		endpoint = "" // what goes through a scale is a write to the object
	}
	write := kinds.Write{Version: e.Version, Time: w.all.Now(), User: kinds.User(*w.User)}
	w.prepared = e.Kind.Prepare(endpoint, doc, w.stored, write)
	w.after.Document = e.stored.DefaultAgain(w.prepared, defaulted)
	w.checked = w.after.Document
	if e.evolving == nil {
		return
	}
	w.after.Document = e.evolving.Readable(w.after.Document)
	if all, isLess := withSent(doc, sent); isLess {
		w.prepared = e.Kind.Prepare(endpoint, all, w.stored, write)
		w.checked = e.stored.DefaultAgain(w.prepared, document.Value{})
	}
}

// withSent returns an object with all that was sent, if it has less: the version that is stored may not have all
// that the version of the request has. It is checked as it was sent, since what is stored may lack what must be there.
func withSent(doc, sent document.Value) (all document.Value, isLess bool) {
	all = sent.With("metadata", doc.Get("metadata"))
	return all, !document.Equal(all, doc)
}

// clean drops what the kind does not have. What can't be an object of the kind is refused.
func (r *Request) clean(values Values, doc document.Value) (document.Value, error) {
	doc, err := r.fit(values, doc)
	if err != nil {
		return doc, r.unfit(err.Error())
	}
	return doc, nil
}

// fit drops what the kind does not have: unknown fields, of which the client is told as it
// wishes, and nulls. What is of the wrong type is an error. The client is told of other problems in the same
// way.
func (r *Request) fit(values Values, doc document.Value, problems ...string) (document.Value, error) {
	// Of JSON Go reads the numbers as they are written. Upstream makes numbers of YAML, and of strategic
	// merge patches, before.
	doc, unknown, err := values.ReadWith(doc, rules.ReadOptions{WholeFloats: r.Body.YAML || r.Body.Strategic})
	if err != nil || len(unknown)+len(problems) == 0 || r.Validation == Ignore {
		return doc, err
	}
	for _, path := range unknown {
		problems = append(problems, fmt.Sprintf("unknown field %q", path))
	}
	if r.Validation == Strict {
		return doc, errors.New("strict decoding error: " + strings.Join(problems, ", "))
	}
	for _, text := range problems {
		r.Warn(text)
	}
	return doc, nil
}

// unfit is the error for what can't be an object of the kind.
func (r *Request) unfit(problem string) error {
	e := r.Endpoint
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %s", e.BodyKind, path.Base(e.BodyVersion), e.BodyKind, problem))
}

// newMetadata gives a new object its identity.
func (w *writing) newMetadata(doc document.Value) document.Value {
	metadata := doc.Get("metadata").
		With("creationTimestamp", document.NewString(w.all.Now().UTC().Format(time.RFC3339))).
		With("uid", document.NewString(string(uuid.NewUUID())))
	return withoutDeletion(doc.With("metadata", metadata)) // somebody who was asked may have set them
}

// keptMetadata gives an object back what no update can change.
func (w *writing) keptMetadata(doc document.Value) document.Value {
	live, metadata := w.stored.Get("metadata"), doc.Get("metadata")
	for _, name := range []string{"creationTimestamp", "generation"} {
		metadata = withField(metadata, name, live.Get(name))
	}
	if marked := live.Get("deletionTimestamp"); !marked.IsAbsent() {
		metadata = metadata.With("deletionTimestamp", marked) // to set the first one is refused later
	}
	for _, name := range []string{"uid", "deletionGracePeriodSeconds"} {
		if metadata.Get(name).IsAbsent() {
			metadata = withField(metadata, name, live.Get(name))
		}
	}
	return doc.With("metadata", metadata)
}

// withField sets a field of a map, or removes it if the value is absent.
func withField(m document.Value, name string, v document.Value) document.Value {
	if v.IsAbsent() {
		return m.Without(name)
	}
	return m.With(name, v)
}

// validate returns what is wrong with the object by the rules of its kind.
func (w *writing) validate() (field.ErrorList, error) {
	e := w.Endpoint
	if e.Subresource == status {
		return w.ratcheted(Ratcheting.CheckStatus, Values.ValidateStatus, w.prepared), nil
	}
	if !e.Kind.CheckedAsSent {
		return w.ratcheted(Ratcheting.Check, Values.Validate, w.checked), nil
	}
	asSent, err := e.fromStored(w.after.Document)
	return e.values.Validate(asSent, w.before.Document), err
}

// ratcheted checks an object, and tells the client of rules that it does not follow, and did not before.
func (w *writing) ratcheted(check func(r Ratcheting, obj, old document.Value) (field.ErrorList, []string),
	validate func(v Values, obj, old document.Value) field.ErrorList, obj document.Value) field.ErrorList {
	values := w.Endpoint.stored
	r, ok := values.(Ratcheting)
	if !ok {
		return validate(values, obj, w.stored)
	}
	errs, warnings := check(r, obj, w.stored)
	for _, text := range warnings {
		w.Warn(text)
	}
	return errs
}

// warnOfFields tells the client what it should know about an object that is right. It is told again even if
// nothing changes.
func (w *writing) warnOfFields(stored document.Value) {
	for _, text := range w.fieldWarnings(stored) {
		w.Warn(text)
	}
}

// warnOfSent tells the client of what it should not have sent, though the rest may be wrong.
func (w *writing) warnOfSent() {
	if w.live != nil {
		return
	}
	for _, text := range w.Endpoint.stored.SentWarnings(w.unprepared) {
		w.Warn(text)
	}
}

func (w *writing) fieldWarnings(stored document.Value) []string {
	if w.Endpoint.Subresource == status {
		return w.Endpoint.stored.StatusWarnings(stored, w.stored)
	}
	return w.Endpoint.stored.Warnings(stored, w.stored)
}

// check refuses what the kind's rules forbid, and what others forbid.
func (w *writing) check(ctx context.Context) error {
	e := w.Endpoint
	w.warnOfSent()
	errs, err := w.deviceAccess(ctx)
	if err != nil {
		return err
	}
	wrong, err := w.validate()
	if err != nil {
		return err
	}
	errs = append(errs, wrong...)
	if errs = append(errs, checkManagers(w.after.Entries)...); len(errs) > 0 {
		return Invalid(e.errorKindOf(w.after.Document), w.Name, errs)
	}
	w.warnOfFields(w.after.Document)
	if w.all.Admit != nil {
		if err := w.all.Admit(ctx, w.User, e.Kind, w.after.Document, w.stored); err != nil {
			return err
		}
	}
	if e.extra.MayWrite != nil && e.Subresource == "" {
		if err := e.extra.MayWrite(ctx, w.after.Document, w.stored); err != nil {
			return err
		}
	}
	return w.admit(ctx)
}
