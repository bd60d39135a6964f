package server

import (
	"io"
	"iter"
	"net/http"
	"slices"
	"time"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/codec"
	"github.com/cadastre/cadastre/internal/objects"
)

// view finds out in which form the client wants objects. What the kind can't be written in is refused here, before anything
// is done.
func (q *request) view(endpoint codec.Endpoint) (codec.View, error) {
	if !q.kind.HasProtobuf() {
		endpoint |= codec.Untyped
	}
	format, err := codec.Negotiate(q.r.Header.Get("Accept"), endpoint)
	if err != nil {
		return codec.View{}, err
	}
	v := codec.View{Format: format}
	v.Drop = v.Drop && q.h.Drop
	v.Pretty = v.Pretty || codec.Pretty(q.r.URL.RawQuery, q.r.UserAgent())
	if v.Shape != codec.Table {
		return v, nil
	}
	v.Now = time.Now()
	if v.Columns, err = q.columns(); err != nil {
		return v, err
	}
	v.Include, err = codec.ParseInclude(q.query().Get("includeObject"))
	return v, err
}

// defined is what the definition of a custom kind has that answers need.
type defined interface {
	Columns(version string) (*codec.Columns, error)
	SelectableFields(version string) []string
}

// columns returns how a table shows what is asked for.
func (q *request) columns() (*codec.Columns, error) {
	if q.target.subresource == "scale" {
		return codec.ColumnsOf("autoscaling", "Scale"), nil
	}
	if d, ok := q.kind.Definition.(defined); ok {
		return d.Columns(q.target.version)
	}
	return codec.ColumnsOf(q.kind.Group, q.kind.Name), nil
}

// countDropped counts an answer with objects that leaves out managedFields.
func (q *request) countDropped(f codec.Format) {
	if f.Drop {
		q.metrics.WithoutManagedFields()
	}
}

// negotiate is view for all but watches.
func (q *request) negotiate() (codec.View, error) { return q.view(codec.Objects) }

// answerObject answers with an object.
func (q *request) answerObject(code int, v codec.View, e *objects.Endpoint, o *cache.Object) error {
	shown, err := q.h.Objects.At(e, o)
	if err != nil {
		return err
	}
	return q.answerShown(code, v, shown)
}

// answerShown answers with an object as it is shown.
func (q *request) answerShown(code int, v codec.View, object *cache.Object) error {
	return withBuffer(func(b []byte) ([]byte, error) {
		b, err := codec.AppendObject(b, v, object)
		if err != nil {
			return b, err
		}
		q.countDropped(v.Format)
		return b, q.send(code, v.ContentType(), b)
	})
}

// listChunk is about how much of a list is written at once.
const listChunk = 256 << 10

// answerList answers with a list of objects as they are shown. One that is long is sent in parts, so that it does not take
// memory twice.
func (q *request) answerList(v codec.View, e *objects.Endpoint, p page, shown []*cache.Object) error {
	l := codec.List{
		Kind:            e.Kind.ListName(),
		APIVersion:      e.Kind.APIVersion(e.Version),
		ResourceVersion: int64(p.Revision),
		Continue:        p.next,
		Remaining:       max(p.Remaining, 0),
		TypedItems:      e.Kind.Custom,
	}
	at := slices.Values(shown)
	if !v.InPieces() {
		return withBuffer(func(b []byte) ([]byte, error) {
			b, err := codec.AppendList(b, v, l, at)
			if err != nil {
				return b, err
			}
			q.countDropped(v.Format)
			return b, q.send(http.StatusOK, v.ContentType(), b)
		})
	}
	return withBuffer(func(b []byte) ([]byte, error) { return q.sendList(b, v, l, at) })
}

// sendList sends a list, piece by piece if it is long.
func (q *request) sendList(b []byte, v codec.View, l codec.List, all iter.Seq[*cache.Object]) ([]byte, error) {
	var w io.WriteCloser // nil as long as nothing was sent
	gone := false
	b, err := codec.AppendInPieces(b, v, l, all, func(b []byte) ([]byte, bool) {
		if len(b) < listChunk {
			return b, true
		}
		if w == nil {
			w = q.startSending(v, len(b))
			q.countDropped(v.Format)
		}
		_, err := w.Write(b)
		gone = err != nil
		return b[:0], !gone
	})
	switch {
	case err != nil || gone:
	case w == nil:
		q.countDropped(v.Format)
		return b, q.send(http.StatusOK, v.ContentType(), b)
	default:
		_, _ = w.Write(b) // who is gone needs no answer
	}
	if w != nil {
		_ = w.Close()
	}
	return b, err
}
