package server

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/watchcache"
)

const (
	// minWatchTimeout is the minimum duration of a watch without timeoutSeconds. The duration is random, between minWatchTimeout
	// and twice minWatchTimeout, so that watches do not end simultaneously.
	minWatchTimeout = 30 * time.Minute
	// bookmarkInterval is the time between two bookmarks in a watch without events.
	bookmarkInterval = time.Minute
	// maxWriteBytes is the approximate maximum size, in bytes, of one write to the connection.
	maxWriteBytes = 64 << 10
)

// watch handles the verb watch: it streams events until the client disconnects, the timeout ends or the server stops.
func (q *request) watch() error {
	if q.target.subresource != "" || q.r.Method != http.MethodGet {
		return q.methodNotAllowed()
	}
	view, err := q.view(encoding.Watch)
	if err != nil {
		return err
	}
	endpoint, err := q.endpoint()
	if err != nil {
		return err
	}
	o, err := q.readListOptions()
	if err != nil {
		return err
	}
	events, err := encoding.NewWatchEncoder(view)
	if err != nil {
		return err
	}
	if o.timeout == 0 {
		o.timeout = minWatchTimeout + rand.N(minWatchTimeout)
	}
	ctx, cancel := context.WithTimeout(q.r.Context(), o.timeout)
	defer cancel()
	defer context.AfterFunc(q.h.draining, cancel)()
	defer q.kind.WriteGate.OnClose(cancel)()
	s := &stream{q: q, endpoint: endpoint, events: events, control: http.NewResponseController(&q.w)}
	s.timeout = progress{limit: q.h.Limits.RequestTimeout, setDeadline: s.control.SetWriteDeadline, ticket: &q.ticket}
	q.w.isGuarded = false // s.timeout guards the writes of a watch
	defer q.countWatch(o.selection)()
	s.watched = q.h.Metrics.Watched(q.target.group, q.target.version, q.target.resource)
	q.metrics.LongRunning(+1)
	defer q.metrics.LongRunning(-1)
	return s.run(ctx, o)
}

// watchOptions returns the watch cache options for the query parameters of a watch. It returns errFromNow if the watch starts at
// the latest revision without initial state.
func watchOptions(o listOptions) (watchcache.WatchOptions, error) {
	w := watchcache.WatchOptions{Selection: o.selection}
	if o.AllowWatchBookmarks {
		w.Bookmarks = bookmarkInterval
	}
	var err error
	switch initial := o.SendInitialEvents; {
	case initial != nil && *initial:
		w.InitialState = true
		w.Freshness, err = readFreshness(o.ResourceVersion, "")
	case o.ResourceVersion == "" || o.ResourceVersion == "0":
		err = errFromNow
	default:
		w.After, err = readRevision(o.ResourceVersion)
	}
	return w, err
}

// errFromNow is returned by watchOptions if the caller must look up the latest revision, at which the watch starts.
var errFromNow = errors.New("the watch starts at the latest revision")

// stream is the response of a watch.
type stream struct {
	q        *request
	endpoint *registry.Endpoint
	events   *encoding.WatchEncoder
	watched  metrics.Watched
	control  *http.ResponseController
	// bookmarks reports whether the client accepts bookmarks. sendsInitialEvents reports whether the client requested the initial
	// state, followed by a bookmark.
	bookmarks, sendsInitialEvents bool
	// inInitialState reports whether the initial state is being sent. initialEvents is the number of events of the initial state
	// that were sent.
	initialEvents  int
	inInitialState bool
	timeout        progress
	// objects is memory that writeEvents reuses for the objects of events.
	objects []*watchcache.Object
}

// run streams the events of the watch.
func (s *stream) run(ctx context.Context, o listOptions) error {
	options, err := watchOptions(o)
	if errors.Is(err, errFromNow) {
		options.After, err = s.q.h.Cache.Revision(ctx)
	}
	if err != nil {
		return err
	}
	s.bookmarks = o.AllowWatchBookmarks
	s.sendsInitialEvents = o.SendInitialEvents != nil && *o.SendInitialEvents
	s.inInitialState = options.InitialState
	w, err := s.q.h.Cache.Watch(ctx, options)
	if err != nil {
		return s.reject(err)
	}
	defer w.Close()
	s.q.countDropped(s.events.View().Format)
	if err := s.startResponse(); err != nil {
		return nil
	}
	if !s.inInitialState {
		s.initialized()
	}
	for {
		events, err := w.Next(ctx)
		if err != nil {
			return s.end(err, w)
		}
		if err := s.q.selectorError(); err != nil {
			_, _ = s.abort(nil, err)
			return nil
		}
		if err := s.writeEvents(events); err != nil {
			return nil // the client has disconnected or is too slow, or the stream was aborted with an ERROR event
		}
	}
}

// initialized gives the seats of the watch back: from now on it sends events only.
func (s *stream) initialized() {
	s.q.ticket.Release()
	s.timeout.ticket = nil
}

// reject responds to a watch that cannot start. For a revision that was compacted or does not exist yet, the stream consists of
// an ERROR event, as in Kubernetes; for other errors reject returns the API status.
func (s *stream) reject(err error) error {
	if tooNew := (*watchcache.TooNewError)(nil); !errors.Is(err, watchcache.ErrTooOld) && !errors.As(err, &tooNew) {
		return registry.StoreError(err)
	}
	if err := s.startResponse(); err != nil {
		return nil
	}
	if encoded, err := s.events.AppendError(nil, registry.StoreError(err)); err == nil {
		_ = s.writeAndFlush(encoded)
	}
	return nil
}

// startResponse sends the header, even if there are no events yet. It replaces the deadline of the whole response with a
// timeout per write.
func (s *stream) startResponse() error {
	_ = s.control.SetWriteDeadline(time.Time{})
	h := s.q.w.Header()
	h["Content-Type"] = []string{s.events.View().StreamType()}
	h["Cache-Control"] = noCache
	s.q.w.WriteHeader(http.StatusOK)
	s.timeout.start()
	err := s.control.Flush()
	return s.endWrite(err)
}

// end sends a last bookmark when a watch ends by its timeout or by the shutdown of the server. A watch that ends because the
// client is too slow sends no bookmark: the client resumes after the last event. A watch that has not sent the whole initial
// state sends no bookmark either: a client that resumed from such a bookmark would miss the rest of the initial state.
func (s *stream) end(err error, w *watchcache.Watcher) error {
	if s.bookmarks && !s.inInitialState && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		if encoded, err := s.appendBookmark(nil, watchcache.Event{Type: watchcache.Bookmark, Revision: w.Revision()}); err == nil {
			_ = s.writeAndFlush(encoded)
		}
	}
	return nil
}

// writeEvents encodes events and sends them.
func (s *stream) writeEvents(events []watchcache.Event) error {
	return withBuffer(func(b []byte) ([]byte, error) {
		s.events.View().Now = time.Now()
		converted, failed := s.convert(events)
		defer clear(s.objects) // an idle watch retains no objects
		for _, e := range events {
			before := len(b)
			var object *watchcache.Object
			if e.Object != nil {
				if len(converted) == 0 {
					return s.abort(b, failed)
				}
				object, converted = converted[0], converted[1:]
			}
			var err error
			if b, err = s.append(b, e, object); err != nil {
				return s.abort(b[:before], err)
			}
			if len(b) > before {
				s.watched.Sent(len(b) - before)
			}
			if len(b) >= maxWriteBytes {
				if err := s.write(b); err != nil {
					return b, err
				}
				b = b[:0]
			}
		}
		if len(b) == 0 {
			return b, nil
		}
		return b, s.writeAndFlush(b)
	})
}

// abort sends the encoded events in b and an ERROR event, and ends the watch, because the next event cannot be converted or
// encoded. Without the ERROR event the end of the stream would look like a timeout, and the client would resume after the
// missing event.
func (s *stream) abort(b []byte, reason error) ([]byte, error) {
	s.q.h.Log.Warn("closing watch after failing to encode an event", "path", s.q.r.URL.Path, "error", reason)
	b, err := s.events.AppendError(b, reason)
	if err == nil {
		_ = s.writeAndFlush(b) // an error means that the client has disconnected
	}
	return b, reason
}

// convert returns the objects of events at the version of the endpoint. If an object cannot be converted, it returns the objects
// that precede it, and the error.
func (s *stream) convert(events []watchcache.Event) ([]*watchcache.Object, error) {
	s.objects = s.objects[:0]
	for _, e := range events {
		if e.Object != nil {
			s.objects = append(s.objects, e.Object)
		}
	}
	return s.q.h.Objects.AllAt(s.endpoint, s.objects)
}

// append appends an encoded event to b. object is the converted object of the event; nil for bookmarks.
func (s *stream) append(b []byte, e watchcache.Event, object *watchcache.Object) ([]byte, error) {
	switch e.Type {
	case watchcache.Bookmark:
		return s.appendBookmark(b, e)
	case watchcache.InitialEnd:
		s.inInitialState = false
		s.initialized()
		s.watched.Initial(s.initialEvents)
		if !s.sendsInitialEvents || !s.bookmarks {
			return b, nil
		}
		return s.appendBookmark(b, e)
	}
	if s.inInitialState {
		s.initialEvents++
	}
	return s.events.Append(b, e.Type.String(), object)
}

// appendBookmark appends an encoded bookmark to b.
func (s *stream) appendBookmark(b []byte, e watchcache.Event) ([]byte, error) {
	return s.events.AppendBookmark(b, encoding.Bookmark{
		Kind:            s.endpoint.Kind.Name,
		APIVersion:      s.endpoint.Kind.APIVersion(s.endpoint.Version),
		ResourceVersion: int64(e.Revision),
		InitialEnd:      e.Type == watchcache.InitialEnd,
	})
}

// writeAndFlush writes encoded events and flushes the connection.
func (s *stream) writeAndFlush(b []byte) error {
	s.timeout.start()
	_, err := s.q.w.Write(b)
	if err == nil {
		err = s.control.Flush()
	}
	return s.endWrite(err)
}

// write writes encoded events to the connection without flushing it.
func (s *stream) write(b []byte) error {
	s.timeout.start()
	_, err := s.q.w.Write(b)
	return s.endWrite(err)
}

// endWrite ends the timeout of a write. It returns the error of the write or, if the write has stalled, of the wait for seats.
func (s *stream) endWrite(err error) error {
	if failed := s.timeout.stop(s.q.resumeContext); err == nil {
		err = failed
	}
	return err
}
