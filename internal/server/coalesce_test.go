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
)

// pipe returns both ends of a connection, of which the first gathers.
func pipe(t *testing.T) (*gathering, net.Conn) {
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
	here, err := gatherer{listener}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close(); there.Close() })
	return here.(*gathering), there
}

// TestGatheringKeepsOrder: all that is written arrives once and in order, however large it is, and Close
// loses nothing.
func TestGatheringKeepsOrder(t *testing.T) {
	here, there := pipe(t)
	var want []byte
	var group sync.WaitGroup
	group.Go(func() {
		for i := range 300 {
			part := bytes.Repeat([]byte{byte(i)}, 1+i*i%(3*enough))
			want = append(want, part...)
			if n, err := here.Write(part); n != len(part) || err != nil {
				t.Errorf("write %d: received %d, %v", i, n, err)
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
		t.Errorf("received %d bytes, %v, want %d, the same", len(got), err, len(want))
	}
}

// TestGatheringSendsTogether: what is written at once is sent at once.
func TestGatheringSendsTogether(t *testing.T) {
	counted := &countedConn{}
	g := newGathering(counted)
	g.mu.Lock()
	g.due = true // the one who sends has not had its turn
	g.mu.Unlock()
	for range 3 {
		if _, err := g.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	g.sendSoon()
	if counted.writes != 1 || counted.bytes != 3 {
		t.Errorf("received %d writes of %d bytes, want one of 3", counted.writes, counted.bytes)
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

// TestGatheringWaits: a client that takes nothing makes its writer wait, but no longer than a deadline, and
// its connection can be closed.
func TestGatheringWaits(t *testing.T) {
	here, _ := pipe(t)
	timer := time.AfterFunc(100*time.Millisecond, func() { _ = here.SetWriteDeadline(time.Unix(0, 0)) })
	defer timer.Stop()
	part := make([]byte, enough-1)
	written := 0
	var err error
	for err == nil && written < 1<<30 {
		var n int
		n, err = here.Write(part)
		written += n
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after %d bytes received %v, want that the deadline is over", written, err)
	}
	here.mu.Lock()
	waiting := len(here.waiting)
	here.mu.Unlock()
	if waiting > mostWaiting {
		t.Errorf("%d bytes are waiting, want %d at most", waiting, mostWaiting)
	}
	begun := time.Now()
	if err := here.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > farewell/2 {
		t.Errorf("Close took %v, as if the client had to take all first", took)
	}
	if _, err := here.Conn.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("received %v from the connection, want that it is closed", err)
	}
}

// TestGatheringFails: who writes after the client is gone hears of it.
func TestGatheringFails(t *testing.T) {
	here, there := pipe(t)
	there.Close()
	var err error
	for range 1000 {
		if _, err = here.Write([]byte("x")); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err == nil {
		t.Error("nobody was told that the client is gone")
	}
}

// failingConn fails to write when it is told to, and notes that it was closed.
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

// TestGatheringClosesAfterFailure: what was written while something failed to be sent is never sent, and the
// connection is closed all the same.
func TestGatheringClosesAfterFailure(t *testing.T) {
	conn := &failingConn{writing: make(chan struct{}), fail: make(chan error), closed: make(chan struct{})}
	g := newGathering(conn)
	if _, err := g.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	<-conn.writing
	if _, err := g.Write([]byte("y")); err != nil {
		t.Fatal(err)
	}
	conn.fail <- errors.New("the client is gone")
	for {
		if _, err := g.Write([]byte("z")); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-conn.closed:
	case <-time.After(time.Second):
		t.Error("the connection is still open")
	}
}

// TestGatheringKeepsLittle: a connection on which much was waiting lets go of the memory of it.
func TestGatheringKeepsLittle(t *testing.T) {
	g := newGathering(&countedConn{})
	g.waiting = make([]byte, mostWaiting)
	freed := make(chan struct{})
	runtime.SetFinalizer(unsafe.SliceData(g.waiting), func(*byte) { close(freed) })
	g.spare = make([]byte, 0, mostWaiting)
	freedSpare := make(chan struct{})
	runtime.SetFinalizer(unsafe.SliceData(g.spare), func(*byte) { close(freedSpare) })
	g.sendSoon()
	for _, c := range []chan struct{}{freed, freedSpare} {
		runtime.GC()
		select {
		case <-c:
		case <-time.After(time.Second):
			t.Error("memory is kept")
		}
	}
	runtime.KeepAlive(g)
}

// TestPatience: what is not done in time is ended, and nothing else is: not what is done, and not what has
// begun since.
func TestPatience(t *testing.T) {
	ended := 0
	p := newPatience(time.Hour, func(time.Time) error { ended++; return nil })
	p.begin()
	p.lose() // too early: it was meant for another
	p.done()
	p.lose()
	if ended != 0 {
		t.Errorf("ended %d times what was not late", ended)
	}
	p.begin()
	p.end = time.Now()
	p.lose()
	if ended != 1 {
		t.Errorf("ended %d times what was late, want once", ended)
	}
	p.done()
}
