package kinds

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestUsesEnd: who puts another kind in the place of one waits for those who write by it, and for who holds them; nobody enters any more.
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

// TestUsesHold: who is held waits until that is over, until another kind is in the place of this one, for as long as it has time, or until
// it goes away.
func TestUsesHold(t *testing.T) {
	for _, test := range []struct {
		name string
		over func(u *Uses, release, goAway func())
		want error
	}{
		{"released", func(_ *Uses, release, _ func()) { release() }, nil},
		{"released twice", func(_ *Uses, release, _ func()) { release(); release() }, nil},
		{"replaced", func(u *Uses, _, _ func()) { go u.End() }, ErrReplaced},
		{"late", func(*Uses, func(), func()) { time.Sleep(time.Minute) }, context.DeadlineExceeded},
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

// TestUsesEndWaitsForWhoHolds: what is done while writers are held is done before the next kind's turn.
func TestUsesEndWaitsForWhoHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUses()
		release := u.Hold()
		var told, ended atomic.Bool
		u.OnEnd(func() { told.Store(true) })
		go func() { u.End(); ended.Store(true) }()
		synctest.Wait()
		if ended.Load() || !told.Load() {
			t.Errorf("ended: %t, and who holds writers was told: %t", ended.Load(), told.Load())
		}
		release()
		synctest.Wait()
		if !ended.Load() {
			t.Error("it has not ended")
		}
	})
}
