package server

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestRefusals checks that the log of refused credentials is limited per source, that the number of suppressed lines is logged, and
// that the number of sources is bounded.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer // the timer writes to it, too
		r := refusals{logger: slog.New(slog.NewTextHandler(&log, nil))}
		refuse := func(address string) {
			q := httptest.NewRequestWithContext(t.Context(), "GET", "/api", nil)
			q.RemoteAddr = address
			r.log(q, errors.New("invalid bearer token"))
		}
		sources := func() int {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.sources)
		}
		lines := func() int { return strings.Count(log.String(), "authentication failed") }
		for i := range 100 {
			refuse(fmt.Sprintf("192.0.2.1:%d", i+1))
			refuse(fmt.Sprintf("[2001:db8::%d]:1", i+1)) // one network
		}
		refuse("192.0.2.2:1")
		if got := lines(); got != 2*maxRefusals+1 {
			t.Errorf("lines of three sources = %d, want %d", got, 2*maxRefusals+1)
		}
		log.Reset()
		time.Sleep(refusalPeriod) // of the synthetic clock
		synctest.Wait()
		for _, want := range []string{"source=192.0.2.1/32 suppressed=95", "source=2001:db8::/64 suppressed=95"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("log after the period = %s, want it to contain %s", log.String(), want)
			}
		}
		if strings.Contains(log.String(), "192.0.2.2") {
			t.Errorf("log after the period = %s, want no line for a source of which all requests were logged", log.String())
		}
		log.Reset()
		refuse("192.0.2.1:1")
		if got := lines(); got != 1 {
			t.Errorf("lines in the next period = %d, want 1", got)
		}
		for i := range 2 * maxSources {
			refuse(fmt.Sprintf("10.%d.%d.1:1", i/256, i%256))
		}
		if got := sources(); got > maxSources+1 {
			t.Errorf("sources = %d, want at most %d", got, maxSources+1)
		}
		if got := lines(); got > maxSources+maxRefusals {
			t.Errorf("lines of many sources = %d, want at most %d", got, maxSources+maxRefusals)
		}
		time.Sleep(refusalPeriod) // of the synthetic clock
		synctest.Wait()
		if sources() > 0 || !strings.Contains(log.String(), `source="further addresses"`) {
			t.Errorf("sources after the period = %d, log %s, want none, and a line for further addresses", sources(), log.String())
		}
	})
}

// lockedBuffer is a bytes.Buffer for concurrent use.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

func (b *lockedBuffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buffer.Reset()
}
