package api

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestUsesEnd: who puts another kind in the place of one waits for those who write by it; nobody enters any more.
func TestUsesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUses()
		for range 2 {
			if err := u.Enter(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		var ended atomic.Bool
		go func() { u.End(); ended.Store(true) }()
		for left := range 3 {
			synctest.Wait()
			if ended.Load() != (left == 2) {
				t.Errorf("when %d of 2 have left, it has ended: %t", left, ended.Load())
			}
			if err := u.Enter(t.Context(), nil); !errors.Is(err, ErrReplaced) {
				t.Errorf("when it was to end, %v", err)
			}
			if left < 2 {
				u.Leave()
			}
		}
	})
}

// TestUsesHold: who is held waits until that is over, until another kind is in the place of this one, for as long as it
// has time, or until it goes away.
func TestUsesHold(t *testing.T) {
	for _, test := range []struct {
		name string
		over func(u *Uses, release, goAway func())
		want error
	}{
		{"released", func(_ *Uses, release, _ func()) { release() }, nil},
		{"released twice", func(_ *Uses, release, _ func()) { release(); release() }, nil},
		{"replaced", func(u *Uses, _, _ func()) { go u.End() }, ErrReplaced},
		{"late", func(*Uses, func(), func()) { time.Sleep(time.Minute) /* of synctest's clock */ }, context.DeadlineExceeded},
		{"gone", func(_ *Uses, _, goAway func()) { goAway() }, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := NewUses()
				release := u.Hold()
				defer release()
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				entered := make(chan error, 1)
				client, goAway := context.WithCancel(t.Context())
				defer goAway()
				go func() { entered <- u.Enter(ctx, client.Done) }()
				synctest.Wait()
				select {
				case err := <-entered:
					t.Fatalf("nobody was held: %v", err)
				default:
				}
				test.over(u, release, goAway)
				if err := <-entered; !errors.Is(err, test.want) {
					t.Errorf("received %v, expected %v", err, test.want)
				}
			})
		})
	}
}

// TestUsesEndWhileHeld: whoever holds writers is told that another kind is put in the place of this one, and is not
// waited for: it may have ended without letting them go.
func TestUsesEndWhileHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUses()
		u.Hold()
		told := make(chan struct{})
		u.OnEnd(func() { close(told) })
		u.End()
		<-told
	})
}
