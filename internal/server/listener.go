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

// Listener serves a handler over TLS.
type Listener struct {
	handler *Handler
	server  *http.Server
	socket  net.Listener
	failed  chan error
}

const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 3 * time.Minute
	maxHeaderBytes    = 1 << 20
	maxStreams        = 250 // concurrent requests of a connection
	maxFrameBytes     = 1 << 20
	streamWindow      = 256 << 10
	// writeByteTimeout is the maximum time in which an HTTP/2 connection accepts no byte.
	writeByteTimeout = 30 * time.Second
)

// Listen serves a handler on a socket, with TLS.
func Listen(h *Handler, socket net.Listener, config *tls.Config) *Listener {
	l := &Listener{handler: h, socket: socket, failed: make(chan error, 1)}
	l.server = &http.Server{
		Handler:           h,
		TLSConfig:         config,
		ReadHeaderTimeout: readHeaderTimeout,
		WriteTimeout:      2 * h.Limits.RequestTimeout, // for handling the request and for sending the response; watches set their own deadlines
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

// Failed returns a channel that receives the error if the listener stops without Stop.
func (l *Listener) Failed() <-chan error { return l.failed }

// sendGrace is the time that responses have to leave the connection's buffer after the last request has finished.
const sendGrace = 20 * time.Millisecond

// Stop ends watches, waits for the other active requests until the context ends, and closes all connections. It does not wait
// for idle connections, as http.Server.Shutdown does: HTTP/2 closes each with a delay of a second. If requests are still
// active when the context ends, Stop returns their number with the error of the context.
func (l *Listener) Stop(ctx context.Context) error {
	l.handler.Drain()
	go func() { _ = l.server.Shutdown(ctx) }() // closes the socket at once; Close ends it
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
		time.Sleep(sendGrace) // watches end, also if the context had ended before
		var err error
		if n := l.handler.active.Load(); n > 0 {
			err = fmt.Errorf("%d requests are still active: %w", n, ctx.Err())
		}
		return errors.Join(err, l.server.Close())
	}
}

// logWriter writes the error log of package http to the server's log.
type logWriter struct{ log *slog.Logger }

// Write implements io.Writer.
func (w logWriter) Write(p []byte) (int, error) {
	w.log.Debug("http server error", "error", string(bytes.TrimSpace(p)))
	return len(p), nil
}
