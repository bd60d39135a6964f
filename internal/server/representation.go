package server

import (
	"io"
	"net/http"
	"time"

	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// view returns the format of objects in the response, such as JSON or a Table, as negotiated by the Accept header. It returns
// a 406 for formats that the kind does not support. Handlers call it before the request has any effect.
func (q *request) view(endpoint encoding.Endpoint) (encoding.View, error) {
	if !q.kind.HasGoType() {
		endpoint |= encoding.Untyped
	}
	if s := q.h.Objects.Subresource(q.target.subresource); s != nil && s.NoTables {
		endpoint |= encoding.NoTables
	}
	if !q.h.Drop {
		endpoint |= encoding.IgnoreDrop
	}
	format, err := encoding.Negotiate(q.r.Header.Get("Accept"), endpoint)
	if err != nil {
		return encoding.View{}, err
	}
	v := encoding.View{Format: format}
	v.Pretty = v.Pretty || encoding.Pretty(q.r.URL.RawQuery, q.r.UserAgent())
	if v.Shape != encoding.Table {
		return v, nil
	}
	v.Now = time.Now()
	if v.Columns, err = q.columns(); err != nil {
		return v, err
	}
	v.Include, err = encoding.ParseInclude(q.query().Get("includeObject"))
	return v, err
}

// definition is the part of a CustomResourceDefinition that responses and field selectors need.
type definition interface {
	Columns(version string) (*encoding.Columns, error)
	SelectableFields(version string) []string
}

// columns returns the columns of a Table of the requested kind.
func (q *request) columns() (*encoding.Columns, error) {
	if s := q.h.Objects.Subresource(q.target.subresource); s != nil && !s.Body.Empty() {
		return encoding.ColumnsOf(s.Body.Group, s.Body.Kind), nil
	}
	if d, ok := q.kind.Definition.(definition); ok {
		return d.Columns(q.target.version)
	}
	return encoding.ColumnsOf(q.kind.Group, q.kind.Name), nil
}

// countDropped increments the metric of responses without managedFields, if the format omits them.
func (q *request) countDropped(f encoding.Format) {
	if f.Drop {
		q.metrics.WithoutManagedFields()
	}
}

// negotiate calls view for requests other than watches.
func (q *request) negotiate() (encoding.View, error) { return q.view(encoding.Objects) }

// respondObject responds with a stored object, converted to the version of the endpoint.
func (q *request) respondObject(code int, v encoding.View, e *registry.Endpoint, o *watchcache.Object) error {
	shown, err := q.h.Objects.At(e, o)
	if err != nil {
		return err
	}
	return q.respondConverted(code, v, shown)
}

// respondConverted responds with an object at the version of the endpoint.
func (q *request) respondConverted(code int, v encoding.View, object *watchcache.Object) error {
	return withBuffer(func(b []byte) ([]byte, error) {
		b, err := encoding.AppendObject(b, v, object)
		if err != nil {
			return b, err
		}
		q.countDropped(v.Format)
		return b, q.respond(code, v.ContentType(), b)
	})
}

// listChunk is the approximate size, in bytes, of the chunks in which a list is sent.
const listChunk = 256 << 10

// respondList responds with a list of objects at the version of the endpoint. A long list is sent in chunks, so that the encoded
// list is never in memory as a whole.
func (q *request) respondList(v encoding.View, e *registry.Endpoint, p page, shown []*watchcache.Object) error {
	l := encoding.List{
		Kind:            e.Kind.ListName(),
		APIVersion:      e.Kind.APIVersion(e.Version),
		ResourceVersion: int64(p.Revision),
		Continue:        p.next,
		Remaining:       max(p.Remaining, 0),
		TypedItems:      e.Kind.Custom,
	}
	return withBuffer(func(b []byte) ([]byte, error) { return q.writeList(b, v, l, shown) })
}

// writeList sends a list, in chunks if it is long and the format can be written in pieces.
func (q *request) writeList(b []byte, v encoding.View, l encoding.List, shown []*watchcache.Object) ([]byte, error) {
	var w io.WriteCloser // nil until the first chunk is sent
	disconnected := false
	b, err := encoding.AppendList(b, v, l, encoding.Seq(shown), func(b []byte) ([]byte, bool) {
		if len(b) < listChunk {
			return b, true
		}
		if w == nil {
			w = q.startResponse(v, len(b))
			q.countDropped(v.Format)
		}
		_, err := w.Write(b)
		disconnected = err != nil
		return b[:0], !disconnected
	})
	switch {
	case err != nil || disconnected:
	case w == nil:
		q.countDropped(v.Format)
		return b, q.respond(http.StatusOK, v.ContentType(), b)
	default:
		_, _ = w.Write(b) // an error means that the client has disconnected
	}
	if w != nil {
		_ = w.Close()
	}
	return b, err
}
