package etcd

import (
	"context"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/cadastre/cadastre/internal/storage"
)

const (
	// minProgressPause is the time in which a watcher usually receives an event that etcd has committed. A watcher that has not
	// reached a revision after this time requests progress, and again after pauses of up to maxProgressPause: etcd does not answer
	// while a watch receives the events of the past, or if its member has not applied the revision yet.
	minProgressPause = 2 * time.Millisecond
	maxProgressPause = 100 * time.Millisecond
	// progressTimeout is the maximum time that a progress request waits for a connection.
	progressTimeout = time.Second
)

// observe records revision, which the store returns to a caller: all watchers have to reach it.
func (s *Store) observe(revision storage.Revision) {
	for {
		now := s.latest.Load()
		if int64(revision) <= now {
			return
		}
		if s.latest.CompareAndSwap(now, int64(revision)) {
			s.wakeProgress()
			return
		}
	}
}

func (s *Store) wakeProgress() {
	select {
	case s.lagging <- struct{}{}:
	default:
	}
}

func (s *Store) addWatcher(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[w] = struct{}{}
}

func (s *Store) removeWatcher(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, w)
}

// runProgress requests progress for watchers that do not reach the latest revision on their own.
func (s *Store) runProgress() {
	pause := minProgressPause
	for {
		if s.streamsBehind(s.latest.Load()) == nil {
			pause = minProgressPause
			select {
			case <-s.lagging:
			case <-s.ctx.Done():
				return
			}
		}
		target := s.latest.Load()
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
			return
		}
		behind := s.streamsBehind(target)
		if behind == nil {
			pause = minProgressPause
			continue
		}
		for _, stream := range behind {
			s.requestProgress(stream)
		}
		pause = min(2*pause, maxProgressPause)
	}
}

// streamsBehind returns the metadata of the streams with watchers that are waiting and have not reached revision; nil if there are none.
func (s *Store) streamsBehind(revision int64) map[string]metadata.MD {
	s.mu.Lock()
	defer s.mu.Unlock()
	var behind map[string]metadata.MD
	for w := range s.watchers {
		if !w.isWaiting.Load() || w.reached.Load() >= revision || w.ctx.Err() != nil {
			continue
		}
		if behind == nil {
			behind = map[string]metadata.MD{}
		}
		selected, _ := metadata.FromOutgoingContext(w.ctx)
		behind[selected.Get(streamKey)[0]] = selected
	}
	return behind
}

// requestProgress makes etcd report progress to all watches of the stream that the metadata select. A failed request is not an error,
// because it is repeated until the watchers have reached the revision.
func (s *Store) requestProgress(stream metadata.MD) {
	ctx, cancel := context.WithTimeout(metadata.NewOutgoingContext(s.ctx, stream), progressTimeout)
	defer cancel()
	if err := s.client.RequestProgress(ctx); err != nil {
		s.options.Log.Debug("etcd: progress request failed; it is repeated", "error", err)
	}
}
