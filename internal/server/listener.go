package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

// Listener is a handler that listens.
type Listener struct {
	handler *Handler
	server  *http.Server
	socket  net.Listener
	failed  chan error
}

const (
	headerTime   = 10 * time.Second
	idleTime     = 3 * time.Minute
	headerBytes  = 1 << 20
	mostStreams  = 250 // requests at once on a connection
	frameBytes   = 1 << 20
	streamWindow = 256 << 10
	// slowestWrite is how long a connection may take no byte at all.
	slowestWrite = 30 * time.Second
)

// Listen has a handler answer at a socket, by TLS only.
func Listen(h *Handler, socket net.Listener, secrets *tls.Config) *Listener {
	l := &Listener{handler: h, socket: socket, failed: make(chan error, 1)}
	l.server = &http.Server{
		Handler:           h,
		TLSConfig:         secrets,
		ReadHeaderTimeout: headerTime,
		WriteTimeout:      2 * h.Limits.RequestTime, // to do it, and to send it; watches have their own
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          log.New(h.Metrics.ErrorLog(logWriter{h.Log}), "", 0),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          mostStreams,
			MaxReadFrameSize:              frameBytes,
			MaxReceiveBufferPerStream:     streamWindow,
			MaxReceiveBufferPerConnection: streamWindow * 4,
			PingTimeout:                   15 * time.Second,
			SendPingTimeout:               30 * time.Second,
			WriteByteTimeout:              slowestWrite,
		},
	}
	go func() {
		if err := l.server.ServeTLS(coalescingListener{socket}, "", ""); !errors.Is(err, http.ErrServerClosed) {
			l.failed <- err
		}
	}()
	return l
}

// Address is where it listens.
func (l *Listener) Address() string { return l.socket.Addr().String() }

// Failed tells if it can't listen any more.
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
		if l.handler.underWay.Load() == 0 {
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
		if n := l.handler.underWay.Load(); n > 0 {
			err = fmt.Errorf("%d requests are still active: %w", n, ctx.Err())
		}
		return errors.Join(err, l.server.Close())
	}
}
