package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// newConnPair returns the two ends of a TCP connection: the server's end, with write coalescing, and the client's end.
func newConnPair(t *testing.T) (server *coalescingConn, client net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	there, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	here, err := coalescingListener{listener}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close(); there.Close() })
	return here.(*coalescingConn), there
}

// TestCoalescingKeepsOrder checks that writes of any size arrive exactly once and in order, and that Close sends the buffer
// before it closes the connection.
func TestCoalescingKeepsOrder(t *testing.T) {
	here, there := newConnPair(t)
	var want []byte
	var group sync.WaitGroup
	group.Go(func() {
		for i := range 300 {
			part := bytes.Repeat([]byte{byte(i)}, 1+i*i%(3*coalesceBytes))
			want = append(want, part...)
			if n, err := here.Write(part); n != len(part) || err != nil {
				t.Errorf("write %d: Write() = %d, %v; want %d, nil", i, n, err, len(part))
			}
		}
		if err := here.SetWriteDeadline(time.Now()); err != nil { // crypto/tls sets a deadline in the past before it closes the connection
			t.Error(err)
		}
		if err := here.Close(); err != nil {
			t.Error(err)
		}
	})
	got, err := io.ReadAll(there)
	group.Wait()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("client received %d bytes, error %v; want exactly the %d bytes that were written", len(got), err, len(want))
	}
}

// TestCoalescingSendsTogether checks that consecutive calls of Write result in one write to the connection.
func TestCoalescingSendsTogether(t *testing.T) {
	counted := &countingConn{}
	g := newCoalescingConn(counted)
	g.mu.Lock()
	g.scheduled = true // simulates a sending goroutine that was started but has not run yet
	g.mu.Unlock()
	for range 3 {
		if _, err := g.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	g.sendScheduled()
	if counted.writes != 1 || counted.bytes != 3 {
		t.Errorf("the connection received %d writes of %d bytes in total, want one write of 3 bytes", counted.writes, counted.bytes)
	}
}

// countingConn is a connection that counts writes and bytes, and discards the bytes.
type countingConn struct {
	net.Conn
	writes, bytes int
}

func (c *countingConn) Write(p []byte) (int, error) {
	c.writes++
	c.bytes += len(p)
	return len(p), nil
}

// TestCoalescingBackpressure checks that Write blocks until its deadline if the client does not read, that the buffer remains
// limited, and that Close does not block.
func TestCoalescingBackpressure(t *testing.T) {
	here, _ := newConnPair(t)
	timer := time.AfterFunc(100*time.Millisecond, func() { _ = here.SetWriteDeadline(time.Unix(0, 0)) })
	defer timer.Stop()
	part := make([]byte, coalesceBytes-1)
	written := 0
	var err error
	for err == nil && written < 1<<30 {
		var n int
		n, err = here.Write(part)
		written += n
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Write() after %d bytes that the client has not read = %v, want %v", written, err, os.ErrDeadlineExceeded)
	}
	here.mu.Lock()
	buffered := len(here.buffer)
	here.mu.Unlock()
	if buffered > maxBufferBytes {
		t.Errorf("the buffer contains %d bytes, want at most %d", buffered, maxBufferBytes)
	}
	start := time.Now()
	if err := here.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > lingerTime/2 {
		t.Errorf("Close() took %v, want less than %v, because it must not wait for the client", took, lingerTime/2)
	}
	if _, err := here.Conn.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Read() after Close() = %v, want %v", err, net.ErrClosed)
	}
}

// TestCoalescingFails checks that Write returns an error some time after the client has closed the connection.
func TestCoalescingFails(t *testing.T) {
	here, there := newConnPair(t)
	there.Close()
	testwait.For(t, "a write to fail", func() bool {
		_, err := here.Write([]byte("x"))
		return err != nil
	})
}

// failingConn is a connection whose Write blocks until the test sends the error that Write returns.
type failingConn struct {
	net.Conn
	writing chan struct{} // Write sends a value when it is called
	fail    chan error    // Write returns the error that it receives from this channel
	closed  chan struct{} // Close closes this channel
}

func (c *failingConn) Write([]byte) (int, error) {
	c.writing <- struct{}{}
	return 0, <-c.fail
}

func (c *failingConn) SetWriteDeadline(time.Time) error { return nil }

func (c *failingConn) Close() error {
	close(c.closed)
	return nil
}

// TestCoalescingClosesAfterFailure checks that, after a write to the connection has failed, Write returns an error, and Close
// closes the connection even though the buffer was not sent.
func TestCoalescingClosesAfterFailure(t *testing.T) {
	conn := &failingConn{writing: make(chan struct{}), fail: make(chan error), closed: make(chan struct{})}
	g := newCoalescingConn(conn)
	if _, err := g.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	<-conn.writing
	if _, err := g.Write([]byte("y")); err != nil {
		t.Fatal(err)
	}
	conn.fail <- errors.New("connection reset")
	testwait.For(t, "a write to fail", func() bool {
		_, err := g.Write([]byte("z"))
		return err != nil
	})
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-conn.closed:
	case <-time.After(time.Second):
		t.Error("the connection is still open a second after Close(), want it closed")
	}
}

// TestCoalescingReleasesMemory checks that a connection releases the memory of large buffers after it has sent them.
func TestCoalescingReleasesMemory(t *testing.T) {
	g := newCoalescingConn(&countingConn{})
	g.buffer = make([]byte, maxBufferBytes)
	freed := make(chan struct{})
	runtime.SetFinalizer(unsafe.SliceData(g.buffer), func(*byte) { close(freed) })
	g.spare = make([]byte, 0, maxBufferBytes)
	freedSpare := make(chan struct{})
	runtime.SetFinalizer(unsafe.SliceData(g.spare), func(*byte) { close(freedSpare) })
	g.sendScheduled()
	for _, c := range []chan struct{}{freed, freedSpare} {
		runtime.GC()
		select {
		case <-c:
		case <-time.After(time.Second):
			t.Error("the memory of a sent buffer is still referenced after a second, want it released")
		}
	}
	runtime.KeepAlive(g)
}

// deadlineConn is a connection that counts the calls of SetWriteDeadline.
type deadlineConn struct {
	net.Conn
	calls int
}

func (c *deadlineConn) SetWriteDeadline(t time.Time) error {
	c.calls++
	return c.Conn.SetWriteDeadline(t)
}

// TestCoalescingKeepsDeadline checks that a deadline that is set before each write and cleared after it reaches the underlying
// connection once, and that writes succeed after the kept deadline has passed.
func TestCoalescingKeepsDeadline(t *testing.T) {
	here, there := newConnPair(t)
	counted := &deadlineConn{Conn: here.Conn}
	here.Conn = counted
	write := func(timeout time.Duration) {
		t.Helper()
		if timeout > 0 {
			if err := here.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := here.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		_ = there.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := there.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := here.SetWriteDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		write(time.Minute)
	}
	if counted.calls != 1 {
		t.Errorf("20 writes with a deadline set the deadline of the connection %d times, expected once", counted.calls)
	}
	write(30 * time.Millisecond) // sets an earlier deadline
	if counted.calls != 2 {
		t.Errorf("the connection received %d deadlines, expected 2", counted.calls)
	}
	passed := time.Now().Add(60 * time.Millisecond)
	testwait.For(t, "the kept deadline to pass", func() bool { return time.Now().After(passed) })
	write(0)
}

// TestCoalescingDeadlineOfIdleConnection checks that a deadline without a write is cleared at once.
func TestCoalescingDeadlineOfIdleConnection(t *testing.T) {
	here, _ := newConnPair(t)
	counted := &deadlineConn{Conn: here.Conn}
	here.Conn = counted
	for _, deadline := range []time.Time{time.Now().Add(time.Minute), {}} {
		if err := here.SetWriteDeadline(deadline); err != nil {
			t.Fatal(err)
		}
	}
	if counted.calls != 2 || !here.deadline.IsZero() {
		t.Errorf("the connection received %d deadlines, the last one %v; expected 2, the last one zero", counted.calls, here.deadline)
	}
}
