package server

import (
	"net"
	"os"
	"sync"
	"time"
)

// gatherer is a listener whose connections gather what is written.
type gatherer struct{ net.Listener }

// Accept implements net.Listener.
func (g gatherer) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newGathering(conn), nil
}

// gathering is a connection that sends what was written a moment later, so that what comes right after it
// goes along. HTTP/2 flushes the header of an answer before its body, and the body before its end, and each
// flush costs as much as it takes to find the answer. What is written is copied, and the writer goes on; it
// waits only for a client that takes nothing. A failure is told to the next one who writes.
//
//	sending    somebody is sending, and will until nothing is waiting
//	waited     its writer waits for what is being sent
//	due        a goroutine is on its way that sends what is waiting, if nobody has by then
//	expired    nothing may be written any more, but what is waiting is sent
//	closing    who is sending closes the connection at the end
//	err        nothing can be sent any more
type gathering struct {
	net.Conn

	mu      sync.Mutex
	sent    sync.Cond // something was, or failed to be
	waiting []byte
	spare   []byte // memory of what was sent, for what will be
	sending bool
	waited  bool
	due     bool
	expired bool
	closing bool
	err     error
}

const (
	// enough is how much is not worth waiting for more, and mostWaiting how much may wait while
	// something is being sent.
	enough      = 16 << 10
	mostWaiting = 64 << 10
	// farewell is how long a client has to take what was written before the end.
	farewell = 5 * time.Second
)

func newGathering(conn net.Conn) *gathering {
	g := &gathering{Conn: conn}
	g.sent.L = &g.mu
	return g
}

// Write implements net.Conn.
func (g *gathering) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.failure() == nil && g.sending && len(g.waiting)+len(p) > mostWaiting {
		g.sent.Wait()
	}
	if err := g.failure(); err != nil {
		return 0, err
	}
	if !g.sending && len(g.waiting)+len(p) >= enough {
		g.waited = true
		g.send(p)
		g.waited = false
		return len(p), g.err
	}
	g.waiting = append(g.waiting, p...)
	if !g.sending && !g.due {
		g.due = true
		go g.sendSoon()
	}
	return len(p), nil
}

// failure is why nothing can be written, if so.
func (g *gathering) failure() error {
	if g.err == nil && g.expired {
		return os.ErrDeadlineExceeded
	}
	return g.err
}

func (g *gathering) sendSoon() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.due = false
	if !g.sending {
		g.send(nil)
	}
}

// send sends all that is waiting, and something after it. The lock is held, but not while something is
// being sent.
func (g *gathering) send(last []byte) {
	g.sending = true
	for g.err == nil && len(g.waiting)+len(last) > 0 {
		now := g.waiting
		g.waiting, g.spare = g.spare[:0], nil
		g.mu.Unlock()
		err := writeBoth(g.Conn, now, last)
		g.mu.Lock()
		g.err, g.spare, last = err, now, nil
		g.sent.Broadcast()
	}
	g.sending = false
	if g.err != nil || cap(g.spare)+cap(g.waiting) > 2*enough {
		g.spare, g.waiting = nil, nil // a connection that is idle keeps little, and what can't be sent waits no more
	}
	if g.closing {
		_ = g.Conn.Close() // whoever wanted it closed is gone
	}
}

func writeBoth(conn net.Conn, first, last []byte) (err error) {
	if len(last) == 0 {
		_, err = conn.Write(first)
	} else {
		_, err = (&net.Buffers{first, last}).WriteTo(conn)
	}
	return err
}

// SetWriteDeadline implements net.Conn. TLS ends a connection with a deadline that is over, and relies on
// what it wrote before to be with the system.
func (g *gathering) SetWriteDeadline(t time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expired = !t.IsZero() && !t.After(time.Now())
	if g.expired && !g.waited {
		t = time.Now().Add(farewell)
		g.sent.Broadcast()
	}
	return g.Conn.SetWriteDeadline(t)
}

// SetDeadline implements net.Conn.
func (g *gathering) SetDeadline(t time.Time) error {
	if err := g.SetWriteDeadline(t); err != nil {
		return err
	}
	return g.SetReadDeadline(t)
}

// Close closes the connection when what was written has been sent.
func (g *gathering) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.sending && len(g.waiting) == 0 {
		return g.Conn.Close()
	}
	g.closing = true
	return g.Conn.SetWriteDeadline(time.Now().Add(farewell))
}
