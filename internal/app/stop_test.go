package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/pebble"
)

// TestStopNamesUnstoppedParts checks that Stop returns promptly after its context is canceled, with an error that names the
// components that have not stopped.
func TestStopNamesUnstoppedParts(t *testing.T) {
	for name, block := range map[string]func(s *Server, until <-chan struct{}){
		"stuck controller": func(s *Server, until <-chan struct{}) { s.running.Go("stuck controller", func() { <-until }) },
		"store":            func(s *Server, until <-chan struct{}) { s.store.(*stuckStore).until = until },
	} {
		t.Run(name, func(t *testing.T) {
			own, err := pebble.Open(pebble.Options{})
			if err != nil {
				t.Fatal(err)
			}
			store := &stuckStore{Store: own, closed: make(chan struct{})}
			s, err := Start(t.Context(), Config{Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Store: store})
			if err != nil {
				t.Fatal(err)
			}
			blocked := make(chan struct{})
			block(s, blocked)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			start := time.Now()
			err = s.Stop(ctx)
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("Stop() took %v, want about %v", took, stopGrace)
			}
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), name+": not stopped") {
				t.Errorf("Stop() = %v, want an error that names the %s", err, name)
			}
			close(blocked)
			<-store.closed // the remaining components are stopped in the background
		})
	}
}

// TestStopWithExpiredContext checks that a server without active requests stops without an error even if the context is
// already canceled.
func TestStopWithExpiredContext(t *testing.T) {
	s, err := Start(t.Context(), Config{Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Stop(ctx); err != nil {
		t.Errorf("Stop() = %v, want nil", err)
	}
	if _, err := s.store.Get(t.Context(), "a"); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Get() after Stop() = %v, want %v", err, storage.ErrClosed)
	}
}

// stuckStore is a store whose Close blocks until the channel until is closed. A nil channel does not block.
type stuckStore struct {
	Store
	until  <-chan struct{}
	closed chan struct{}
}

func (s *stuckStore) Close() error {
	if s.until != nil {
		<-s.until
	}
	defer close(s.closed)
	return s.Store.Close()
}
