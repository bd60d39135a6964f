package server

import (
	"net"
	"os"
	"sync"
	"time"
)

// coalescingListener accepts connections that coalesce writes.
type coalescingListener struct{ net.Listener }

// Accept implements net.Listener.
func (l coalescingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newCoalescingConn(conn), nil
}

// coalescingConn is a connection with write coalescing: Write copies its argument to a buffer, which another goroutine sends, so
// that several writes in quick succession share one system call. HTTP/2 needs this, because it flushes the headers, the body and
// the end of a response separately; according to BenchmarkWriteCoalescing, write coalescing reduces the CPU time of client and
// server per request to 0.84x. Write blocks only if the buffer is full because the client does not read (backpressure), or if the
// data is so large that Write itself sends the buffer. If sending fails, the next Write returns the error.
//
// The fields are guarded by mu:
//
//	sending    reports whether a goroutine is in send, which returns when the buffer is empty
//	inWrite    reports whether the goroutine in send is in Write, which blocks until its data is sent
//	scheduled  reports whether a goroutine was started to send the buffer and has not run yet
//	expired    reports whether the write deadline has passed, after which Write fails but the buffer is still sent
//	deadline   is the write deadline of the underlying connection, zero if there is none
//	keeps      reports whether the write deadline was cleared, but the underlying connection keeps deadline
//	written    reports whether Write was called since the write deadline was set
//	closing    reports whether send must close the connection when the buffer is empty
//	err        is the error of the first failed write to the connection, after which nothing is sent
type coalescingConn struct {
	net.Conn

	mu        sync.Mutex
	sent      sync.Cond // signalled after each write to the connection, and when the deadline passes
	buffer    []byte
	spare     []byte // the memory of the previous buffer, for reuse
	sending   bool
	inWrite   bool
	scheduled bool
	expired   bool
	deadline  time.Time
	keeps     bool
	written   bool
	closing   bool
	err       error
}

const (
	// coalesceBytes is the minimum size, in bytes, at which Write sends the buffer in its own goroutine.
	coalesceBytes = 16 << 10
	// maxBufferBytes is the maximum size, in bytes, of the buffer while the previous buffer is being sent.
	maxBufferBytes = 64 << 10
	// lingerTime is the maximum time for sending the rest of the buffer after Close.
	lingerTime = 5 * time.Second
	// minKeptTime is the minimum time until a write deadline that the underlying connection keeps after it was cleared. If less time
	// is left when a write starts, the deadline is cleared.
	minKeptTime = writeByteTimeout / 3
)

// newCoalescingConn returns a connection that coalesces the writes to another connection.
func newCoalescingConn(conn net.Conn) *coalescingConn {
	c := &coalescingConn{Conn: conn}
	c.sent.L = &c.mu
	return c
}

// Write implements net.Conn.
func (c *coalescingConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = true
	for c.writeError() == nil && c.sending && len(c.buffer)+len(p) > maxBufferBytes {
		c.sent.Wait()
	}
	if err := c.writeError(); err != nil {
		return 0, err
	}
	if !c.sending && len(c.buffer)+len(p) >= coalesceBytes {
		c.inWrite = true
		c.send(p)
		c.inWrite = false
		return len(p), c.err
	}
	c.buffer = append(c.buffer, p...)
	if !c.sending && !c.scheduled {
		c.scheduled = true
		go c.sendScheduled()
	}
	return len(p), nil
}

// writeError returns the error that Write must return because an earlier write failed or the deadline has passed, nil if there
// is none.
func (c *coalescingConn) writeError() error {
	if c.err == nil && c.expired {
		return os.ErrDeadlineExceeded
	}
	return c.err
}

// sendScheduled is the goroutine that Write starts. It sends the buffer, unless another goroutine is sending it.
func (c *coalescingConn) sendScheduled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scheduled = false
	if !c.sending {
		c.send(nil)
	}
}

// send sends the buffer and then last, until no data is left that Write adds meanwhile. The caller holds the lock, which send
// releases while it writes to the connection.
func (c *coalescingConn) send(last []byte) {
	c.sending = true
	c.clearKept()
	for c.err == nil && len(c.buffer)+len(last) > 0 {
		now := c.buffer
		c.buffer, c.spare = c.spare[:0], nil
		c.mu.Unlock()
		err := writeBoth(c.Conn, now, last)
		c.mu.Lock()
		c.err, c.spare, last = err, now, nil
		c.sent.Broadcast()
	}
	c.sending = false
	if c.err != nil || cap(c.spare)+cap(c.buffer) > 2*coalesceBytes {
		c.spare, c.buffer = nil, nil // an idle connection retains at most 2*coalesceBytes, and a failed connection retains nothing
	}
	if c.closing {
		_ = c.Conn.Close() // the error cannot be reported, because Close of c has returned
	}
}

// writeBoth writes first and last, which may be empty, with one system call.
func writeBoth(conn net.Conn, first, last []byte) (err error) {
	if len(last) == 0 {
		_, err = conn.Write(first)
	} else {
		_, err = (&net.Buffers{first, last}).WriteTo(conn)
	}
	return err
}

// SetWriteDeadline implements net.Conn. After a deadline in the past, Write fails, but the buffer is still sent within
// lingerTime: crypto/tls sets such a deadline when it closes a connection, and assumes that the kernel has received all
// earlier writes.
//
// HTTP/2 sets a deadline before each write to the connection, and clears it afterwards, which would take almost a tenth of the CPU
// time of a get. Therefore a deadline is not set if the underlying connection already has one that leaves at least half of the time,
// and a deadline that was used for a write is not cleared before it comes near. A write can time out after half of the time.
func (c *coalescingConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.expired = !t.IsZero() && !t.After(now)
	switch {
	case c.expired && !c.inWrite:
		t = now.Add(lingerTime)
		c.sent.Broadcast()
	case t.IsZero() && c.written:
		c.keeps = !c.deadline.IsZero()
		return nil
	case !c.expired && !c.deadline.After(t) && c.deadline.Sub(now) >= t.Sub(now)/2 && !t.IsZero():
		c.keeps, c.written = false, false
		return nil
	}
	c.deadline, c.keeps, c.written = t, false, false
	return c.Conn.SetWriteDeadline(t)
}

// clearKept clears the deadline of the underlying connection if the connection keeps it only because clearing was deferred, and it
// is near. The caller holds the lock.
func (c *coalescingConn) clearKept() {
	if c.keeps && time.Until(c.deadline) < minKeptTime {
		c.deadline, c.keeps = time.Time{}, false
		_ = c.Conn.SetWriteDeadline(time.Time{}) // fails only if the connection is closed, which the write reports
	}
}

// SetDeadline implements net.Conn.
func (c *coalescingConn) SetDeadline(t time.Time) error {
	if err := c.SetWriteDeadline(t); err != nil {
		return err
	}
	return c.SetReadDeadline(t)
}

// Close returns at once. The connection is closed after the buffer has been sent, or after lingerTime.
func (c *coalescingConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.sending && len(c.buffer) == 0 {
		return c.Conn.Close()
	}
	c.closing = true
	return c.Conn.SetWriteDeadline(time.Now().Add(lingerTime))
}
