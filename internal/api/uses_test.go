package api

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestWriteGateClose checks that Close waits for active writers, and that Enter fails once Close is called.
func TestWriteGateClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUses()
		for range 2 {
			if err := u.Enter(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		var closed atomic.Bool
		go func() { u.End(); closed.Store(true) }()
		for left := range 3 {
			synctest.Wait()
			if closed.Load() != (left == 2) {
				t.Errorf("after %d of 2 writers left: Close returned: %t", left, closed.Load())
			}
			if err := u.Enter(t.Context(), nil); !errors.Is(err, ErrReplaced) {
				t.Errorf("Enter() after Close = %v, want ErrReplaced", err)
			}
			if left < 2 {
				u.Leave()
			}
		}
	})
}

// TestWriteGateBlock checks that a blocked Enter returns when the gate is unblocked or closed, the deadline passes, or
// the client disconnects.
func TestWriteGateBlock(t *testing.T) {
	for _, test := range []struct {
		name  string
		event func(u *Uses, release, disconnect func())
		want  error
	}{
		{"released", func(_ *Uses, release, _ func()) { release() }, nil},
		{"released twice", func(_ *Uses, release, _ func()) { release(); release() }, nil},
		{"closed", func(u *Uses, _, _ func()) { go u.End() }, ErrReplaced},
		{"deadline exceeded", func(*Uses, func(), func()) { time.Sleep(time.Minute) /* of synctest's clock */ }, context.DeadlineExceeded},
		{"client disconnected", func(_ *Uses, _, disconnect func()) { disconnect() }, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := NewUses()
				release := u.Hold()
				defer release()
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				entered := make(chan error, 1)
				client, disconnect := context.WithCancel(t.Context())
				defer disconnect()
				go func() { entered <- u.Enter(ctx, client.Done) }()
				synctest.Wait()
				select {
				case err := <-entered:
					t.Fatalf("Enter() = %v before the gate was unblocked", err)
				default:
				}
				test.event(u, release, disconnect)
				if err := <-entered; !errors.Is(err, test.want) {
					t.Errorf("Enter() = %v, want %v", err, test.want)
				}
			})
		})
	}
}

// TestWriteGateCloseWhileBlocked checks that Close of a blocked gate runs the OnClose functions and does not wait for
// release, which may never be called.
func TestWriteGateCloseWhileBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUses()
		u.Hold()
		called := make(chan struct{})
		u.OnEnd(func() { close(called) })
		u.End()
		<-called
	})
}
