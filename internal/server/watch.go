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
	// shortestWatch is how long a watch lasts at least, if the client does not say; it may last
	// twice as long, so that not all end at once.
	shortestWatch = 30 * time.Minute
	// bookmarkEvery is how often a watch in which nothing happens tells how far it has come.
	bookmarkEvery = time.Minute
	// largestFrames is about how much is written at once.
	largestFrames = 64 << 10
)

// watch tells a client what happens to the objects of a selection until it has had enough.
func (q *request) watch() error {
	if q.target.subresource != "" || q.r.Method != http.MethodGet {
		return q.noSuchMethod()
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
		o.timeout = shortestWatch + rand.N(shortestWatch)
	}
	ctx, cancel := context.WithTimeout(q.r.Context(), o.timeout)
	defer cancel()
	defer context.AfterFunc(q.h.draining, cancel)()
	defer q.kind.WriteGate.OnClose(cancel)()
	s := &stream{q: q, endpoint: endpoint, events: events, control: http.NewResponseController(&q.w)}
	s.patience = newPatience(q.h.Limits.RequestTime, s.control.SetWriteDeadline)
	s.watched = q.h.Metrics.Watched(q.target.group, q.target.version, q.target.resource)
	q.metrics.LongRunning(+1)
	defer q.metrics.LongRunning(-1)
	return s.run(ctx, o)
}

// watchOptions say where a watch begins.
func watchOptions(o listOptions) (watchcache.WatchOptions, error) {
	w := watchcache.WatchOptions{Selection: o.selection}
	if o.AllowWatchBookmarks {
		w.Bookmarks = bookmarkEvery
	}
	var err error
	switch wish := o.SendInitialEvents; {
	case wish != nil && *wish:
		w.InitialState = true
		w.Freshness, err = readFreshness(o.ResourceVersion, "")
	case o.ResourceVersion == "" || o.ResourceVersion == "0":
		err = errFromNow
	default:
		w.After, err = readRevision(o.ResourceVersion)
	}
	return w, err
}

// errFromNow is for watches that begin now, without a state: the caller finds out when that is.
var errFromNow = errors.New("from now on")

// stream is a watch that is being told to a client.
type stream struct {
	q        *request
	endpoint *registry.Endpoint
	events   *encoding.WatchEncoder
	watched  metrics.Watched
	control  *http.ResponseController
	// bookmarks says that the client wants them, initial that it gets the state first, and hears when
	// that is over.
	bookmarks, initial bool
	// stateEvents is how many events the state had so far, and isState says that it is not over.
	stateEvents int
	isState     bool
	patience    *patience
	// objects is where those of events are gathered.
	objects []*watchcache.Object
}

// run tells all that happens.
func (s *stream) run(ctx context.Context, o listOptions) error {
	options, err := watchOptions(o)
	if errors.Is(err, errFromNow) {
		options.After, err = s.q.h.Cache.Revision(ctx)
	}
	if err != nil {
		return err
	}
	s.bookmarks = o.AllowWatchBookmarks
	s.initial = o.SendInitialEvents != nil && *o.SendInitialEvents
	s.isState = options.InitialState
	w, err := s.q.h.Cache.Watch(ctx, options)
	if err != nil {
		return s.refuse(err)
	}
	defer w.Close()
	s.q.countDropped(s.events.View().Format)
	if err := s.begin(); err != nil {
		return nil
	}
	for {
		events, err := w.Next(ctx)
		if err != nil {
			return s.end(err, w)
		}
		if err := s.q.selectError(); err != nil {
			_, _ = s.breakOff(nil, err) // which it tells
			return nil
		}
		if err := s.tell(events); err != nil {
			return nil // the client is gone, or too slow, or has been told
		}
	}
}

// refuse tells that a watch can't begin: too old a revision is an event, as in Kubernetes, and so is one of which there is no
// state yet.
func (s *stream) refuse(err error) error {
	if tooNew := (*watchcache.TooNewError)(nil); !errors.Is(err, watchcache.ErrTooOld) && !errors.As(err, &tooNew) {
		return registry.StoreError(err)
	}
	if err := s.begin(); err != nil {
		return nil
	}
	if told, err := s.events.AppendError(nil, registry.StoreError(err)); err == nil {
		_ = s.send(told)
	}
	return nil
}

// begin sends the header, so that the client knows that the watch has begun. From here on each write
// has its own time.
func (s *stream) begin() error {
	_ = s.control.SetWriteDeadline(time.Time{})
	s.patience.begin()
	defer s.patience.done()
	h := s.q.w.Header()
	h["Content-Type"] = []string{s.events.View().StreamType()}
	h["Cache-Control"] = noCache
	s.q.w.WriteHeader(http.StatusOK)
	return s.control.Flush()
}

// end tells how far a watch has come that ends in time. A watch that was too slow just ends: the
// client goes on after what it got last. So does one that has not told the whole state: who went on from
// here would never hear of the rest.
func (s *stream) end(err error, w *watchcache.Watcher) error {
	if s.bookmarks && !s.isState && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		if told, err := s.appendBookmark(nil, watchcache.Event{Type: watchcache.Bookmark, Revision: w.Revision()}); err == nil {
			_ = s.send(told)
		}
	}
	return nil
}

// tell writes events.
func (s *stream) tell(events []watchcache.Event) error {
	return withBuffer(func(b []byte) ([]byte, error) {
		s.events.View().Now = time.Now()
		shown, failed := s.show(events)
		defer clear(s.objects) // who waits keeps no objects
		for _, e := range events {
			before := len(b)
			var object *watchcache.Object
			if e.Object != nil {
				if len(shown) == 0 {
					return s.breakOff(b, failed)
				}
				object, shown = shown[0], shown[1:]
			}
			var err error
			if b, err = s.append(b, e, object); err != nil {
				return s.breakOff(b[:before], err)
			}
			if len(b) > before {
				s.watched.Sent(len(b) - before)
			}
			if len(b) >= largestFrames {
				if err := s.write(b); err != nil {
					return b, err
				}
				b = b[:0]
			}
		}
		if len(b) == 0 {
			return b, nil
		}
		return b, s.send(b)
	})
}

// breakOff ends a watch one of whose events can't be told, after those before it. Who is told why begins anew, rather than
// take a stream that ends for one that was long enough.
func (s *stream) breakOff(b []byte, reason error) ([]byte, error) {
	s.q.h.Log.Warn("a watch ended because an event could not be told", "path", s.q.r.URL.Path, "error", reason)
	b, err := s.events.AppendError(b, reason)
	if err == nil {
		_ = s.send(b) // who is gone needs no answer
	}
	return b, reason
}

// show returns the objects of events as they are shown here, up to the first that can't be shown, and why it can't.
func (s *stream) show(events []watchcache.Event) ([]*watchcache.Object, error) {
	s.objects = s.objects[:0]
	for _, e := range events {
		if e.Object != nil {
			s.objects = append(s.objects, e.Object)
		}
	}
	return s.q.h.Objects.AllAt(s.endpoint, s.objects)
}

// append writes an event, and the object as it is shown, if there is one.
func (s *stream) append(b []byte, e watchcache.Event, object *watchcache.Object) ([]byte, error) {
	switch e.Type {
	case watchcache.Bookmark:
		return s.appendBookmark(b, e)
	case watchcache.InitialEnd:
		s.isState = false
		s.watched.Initial(s.stateEvents)
		if !s.initial || !s.bookmarks {
			return b, nil
		}
		return s.appendBookmark(b, e)
	}
	if s.isState {
		s.stateEvents++
	}
	return s.events.Append(b, e.Type.String(), object)
}

func (s *stream) appendBookmark(b []byte, e watchcache.Event) ([]byte, error) {
	return s.events.AppendBookmark(b, encoding.Bookmark{
		Kind:            s.endpoint.Kind.Name,
		APIVersion:      s.endpoint.Kind.APIVersion(s.endpoint.Version),
		ResourceVersion: int64(e.Revision),
		InitialEnd:      e.Type == watchcache.InitialEnd,
	})
}

// send writes, and has it go out now.
func (s *stream) send(b []byte) error {
	s.patience.begin()
	defer s.patience.done()
	if _, err := s.q.w.Write(b); err != nil {
		return err
	}
	return s.control.Flush()
}

func (s *stream) write(b []byte) error {
	s.patience.begin()
	defer s.patience.done()
	_, err := s.q.w.Write(b)
	return err
}
