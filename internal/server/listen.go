package server

import (
	"context"
	"crypto/tls"
	"errors"
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

// lastWords is how long an answer has to leave that was given just before the end.
const lastWords = 20 * time.Millisecond

// Stop has watches end, waits for the other requests that are under way, as long as the context
// lasts, and then ends all. Connections on which nothing is under way are not waited for: HTTP/2
// would give each a second.
func (l *Listener) Stop(ctx context.Context) error {
	l.handler.Drain()
	shut := make(chan error, 1)
	go func() { shut <- l.server.Shutdown(ctx) }()
	look := time.NewTicker(lastWords / 4)
	defer look.Stop()
	for {
		select {
		case err := <-shut:
			return errors.Join(err, l.server.Close())
		case <-look.C:
			if l.handler.underWay.Load() > 0 {
				continue
			}
			time.Sleep(lastWords)
			return l.server.Close()
		}
	}
}
