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

// pipe returns both ends of a connection, the first with write coalescing.
func pipe(t *testing.T) (*coalescingConn, net.Conn) {
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

// TestCoalescingKeepsOrder: writes of any size arrive once and in order, and Close sends the buffer first.
func TestCoalescingKeepsOrder(t *testing.T) {
	here, there := pipe(t)
	var want []byte
	var group sync.WaitGroup
	group.Go(func() {
		for i := range 300 {
			part := bytes.Repeat([]byte{byte(i)}, 1+i*i%(3*coalesceBytes))
			want = append(want, part...)
			if n, err := here.Write(part); n != len(part) || err != nil {
				t.Errorf("write %d: Write() = %d, %v", i, n, err)
			}
		}
		if err := here.SetWriteDeadline(time.Now()); err != nil { // as TLS does at the end
			t.Error(err)
		}
		if err := here.Close(); err != nil {
			t.Error(err)
		}
	})
	got, err := io.ReadAll(there)
	group.Wait()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("received %d bytes, %v, want the %d bytes that were written", len(got), err, len(want))
	}
}

// TestCoalescingSendsTogether: consecutive writes share one write to the connection.
func TestCoalescingSendsTogether(t *testing.T) {
	counted := &countedConn{}
	g := newCoalescingConn(counted)
	g.mu.Lock()
	g.scheduled = true // the goroutine that sends has not run yet
	g.mu.Unlock()
	for range 3 {
		if _, err := g.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	g.sendScheduled()
	if counted.writes != 1 || counted.bytes != 3 {
		t.Errorf("the connection received %d writes of %d bytes, want one of 3", counted.writes, counted.bytes)
	}
}

type countedConn struct {
	net.Conn
	writes, bytes int
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.writes++
	c.bytes += len(p)
	return len(p), nil
}

// TestCoalescingBackpressure: Write blocks while the client does not read, until its deadline, and
// Close does not block.
func TestCoalescingBackpressure(t *testing.T) {
	here, _ := pipe(t)
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
		t.Errorf("after %d bytes Write() = %v, want %v", written, err, os.ErrDeadlineExceeded)
	}
	here.mu.Lock()
	buffered := len(here.buffer)
	here.mu.Unlock()
	if buffered > maxBufferBytes {
		t.Errorf("%d bytes are buffered, want at most %d", buffered, maxBufferBytes)
	}
	start := time.Now()
	if err := here.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > lingerTime/2 {
		t.Errorf("Close() took %v, want it not to wait for the client", took)
	}
	if _, err := here.Conn.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Read() = %v, want %v", err, net.ErrClosed)
	}
}

// TestCoalescingFails: Write returns an error after the client has closed the connection.
func TestCoalescingFails(t *testing.T) {
	here, there := pipe(t)
	there.Close()
	testwait.For(t, "a write to fail", func() bool {
		_, err := here.Write([]byte("x"))
		return err != nil
	})
}

// failingConn is a connection whose Write blocks until a test lets it fail.
type failingConn struct {
	net.Conn
	writing chan struct{}
	fail    chan error
	closed  chan struct{}
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

// TestCoalescingClosesAfterFailure: the buffer is dropped after a failed write to the connection, and Close still
// closes it.
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
		t.Error("the connection is still open")
	}
}

// TestCoalescingReleasesMemory: a connection releases the memory of a large buffer after sending it.
func TestCoalescingReleasesMemory(t *testing.T) {
	g := newCoalescingConn(&countedConn{})
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
			t.Error("the connection retains the memory of the buffer")
		}
	}
	runtime.KeepAlive(g)
}
