package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Listener serves a Handler over TLS with HTTP/1 and HTTP/2.
type Listener struct {
	handler *Handler
	server  *http.Server
	socket  net.Listener
	failed  chan error // the channel that Failed returns
}

// Limits and timeouts of the HTTP server.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 3 * time.Minute
	maxHeaderBytes    = 1 << 20
	maxStreams        = 250       // the maximum number of concurrent requests of an HTTP/2 connection
	maxFrameBytes     = 1 << 20   // the maximum size of an HTTP/2 frame that clients send
	streamWindow      = 256 << 10 // the flow-control window of an HTTP/2 stream, in bytes
	// writeByteTimeout is the maximum time for which an HTTP/2 client may accept no data before its connection is closed.
	writeByteTimeout = 30 * time.Second
)

// Listen starts to serve a handler on a socket with TLS, in a new goroutine.
func Listen(h *Handler, socket net.Listener, config *tls.Config) *Listener {
	l := &Listener{handler: h, socket: socket, failed: make(chan error, 1)}
	l.server = &http.Server{
		Handler:           h,
		TLSConfig:         config,
		ReadHeaderTimeout: readHeaderTimeout,
		WriteTimeout:      2 * h.Limits.RequestTimeout, // for handling the request and sending the response; watches set their own deadlines
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(h.Metrics.ErrorLog(logWriter{h.Log}), "", 0),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReadFrameSize:              maxFrameBytes,
			MaxReceiveBufferPerStream:     streamWindow,
			MaxReceiveBufferPerConnection: streamWindow * 4,
			PingTimeout:                   15 * time.Second,
			SendPingTimeout:               30 * time.Second,
			WriteByteTimeout:              writeByteTimeout,
		},
	}
	go func() {
		if err := l.server.ServeTLS(coalescingListener{socket}, "", ""); !errors.Is(err, http.ErrServerClosed) {
			l.failed <- err
		}
	}()
	return l
}

// Address returns the address of the socket.
func (l *Listener) Address() string { return l.socket.Addr().String() }

// Failed returns a channel that receives the error if the listener fails, that is, if it ends before Stop is called.
func (l *Listener) Failed() <-chan error { return l.failed }

// sendGrace is the time between the end of the last request and the closing of connections. In this time the buffers of
// connections are sent.
const sendGrace = 20 * time.Millisecond

// Stop ends watches and waits for all other active requests until the context ends. Then it closes all connections: with
// Options.GracefulStop by Listener.shutdown, otherwise by Listener.close. If requests are still active when the context ends, Stop
// returns an error with their number that wraps the error of the context.
func (l *Listener) Stop(ctx context.Context) error {
	l.handler.Drain()
	if l.handler.GracefulStop {
		return l.shutdown(ctx)
	}
	return l.close(ctx)
}

// shutdown closes each connection when it is idle, so that no request is lost that a client has sent: an HTTP/1 connection after the
// response, an HTTP/2 connection a second after a GOAWAY and the last response.
func (l *Listener) shutdown(ctx context.Context) error {
	err := l.server.Shutdown(ctx)
	if err == nil {
		return nil
	}
	if n := l.handler.active.Load(); n > 0 {
		err = fmt.Errorf("%d requests are still active: %w", n, err)
	} else {
		err = nil // only connections without requests are left
	}
	return errors.Join(err, l.server.Close())
}

// close closes all connections sendGrace after the last request. Unlike http.Server.Shutdown it does not wait for idle connections,
// because net/http closes an idle HTTP/2 connection after a delay of one second. A request that a client sends in that moment fails.
func (l *Listener) close(ctx context.Context) error {
	go func() { _ = l.server.Shutdown(ctx) }() // Shutdown closes the socket immediately, and returns when l.server.Close is called
	poll := time.NewTicker(sendGrace / 4)
	defer poll.Stop()
	for {
		if l.handler.active.Load() == 0 {
			time.Sleep(sendGrace)
			return l.server.Close()
		}
		select {
		case <-poll.C:
			continue
		case <-ctx.Done():
		}
		time.Sleep(sendGrace) // gives watches time to end even if the context had ended before Stop was called
		var err error
		if n := l.handler.active.Load(); n > 0 {
			err = fmt.Errorf("%d requests are still active: %w", n, ctx.Err())
		}
		return errors.Join(err, l.server.Close())
	}
}

// logWriter writes the messages of http.Server.ErrorLog to the server's log, at level debug.
type logWriter struct{ log *slog.Logger }

// Write implements io.Writer.
func (w logWriter) Write(p []byte) (int, error) {
	w.log.Debug("http server error", "error", string(bytes.TrimSpace(p)))
	return len(p), nil
}
