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
		u := NewWriteGate()
		for range 2 {
			if err := u.Enter(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		var closed atomic.Bool
		go func() { u.Close(); closed.Store(true) }()
		for left := range 3 {
			synctest.Wait()
			if closed.Load() != (left == 2) {
				t.Errorf("has Close() returned after %d of 2 writers left: got %t, want %t", left, closed.Load(), left == 2)
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
		event func(u *WriteGate, release, disconnect func())
		want  error
	}{
		{"released", func(_ *WriteGate, release, _ func()) { release() }, nil},
		{"released twice", func(_ *WriteGate, release, _ func()) { release(); release() }, nil},
		{"closed", func(u *WriteGate, _, _ func()) { go u.Close() }, ErrReplaced},
		{"deadline exceeded", func(*WriteGate, func(), func()) { time.Sleep(time.Minute) /* synctest uses a fake clock */ }, context.DeadlineExceeded},
		{"client disconnected", func(_ *WriteGate, _, disconnect func()) { disconnect() }, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := NewWriteGate()
				release := u.Block()
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
					t.Fatalf("Enter() of a blocked gate returned %v, want it to wait", err)
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
		u := NewWriteGate()
		u.Block()
		called := make(chan struct{})
		u.OnClose(func() { close(called) })
		u.Close()
		<-called
	})
}

// TestWriteGateBlockTwice checks that a gate that is blocked twice admits writers after both releases, in either order.
func TestWriteGateBlockTwice(t *testing.T) {
	for _, first := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			u := NewWriteGate()
			releases := []func(){u.Block(), u.Block()}
			entered := make(chan error, 1)
			go func() { entered <- u.Enter(t.Context(), nil) }()
			releases[first]()
			synctest.Wait()
			select {
			case err := <-entered:
				t.Errorf("Enter() after release %d of two returned %v, want it to wait", first, err)
			default:
			}
			releases[1-first]()
			if err := <-entered; err != nil {
				t.Errorf("Enter() after both releases = %v, want nil", err)
			}
		})
	}
}
