package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// gate is a reverse proxy between "cadastre migrate" and the server. It forwards the responses to a given number of
// writes, and then holds back further responses until release is called, while the server still receives requests. A
// process that is killed while responses are held back is therefore killed half-way, with writes in flight, regardless
// of the speed of the machine.
type gate struct {
	// kubeconfig is the path of a kubeconfig with which clients connect to the gate.
	kubeconfig string
	// reached is closed when the gate has forwarded the given number of responses.
	reached chan struct{}

	released    chan struct{}
	releaseOnce sync.Once
	remaining   atomic.Int64 // the number of responses that the gate still forwards before it holds responses back
	server      *http.Server
}

// newGate starts a gate in front of the server to which the file kubeconfig refers. It writes another kubeconfig, for
// the gate's clients, to folder. writes is the number of writes whose responses the gate forwards before it holds
// responses back; it must be positive.
func newGate(kubeconfig, folder string, writes int) (*gate, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	g := &gate{kubeconfig: filepath.Join(folder, "gate"), reached: make(chan struct{}), released: make(chan struct{})}
	g.remaining.Store(int64(writes))
	g.server = &http.Server{Handler: &httputil.ReverseProxy{
		Transport:      transport,
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: g.pass,
		ErrorLog:       log.New(io.Discard, "", 0),                                                      // the log would contain only expected aborts of responses
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // the panic closes the connection
	}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() { _ = g.server.Serve(listener) }() // Serve returns an error after close
	text := fmt.Sprintf("{clusters: [{name: gate, cluster: {server: http://%s}}], contexts: [{name: gate, context: {cluster: gate}}], current-context: gate}", listener.Addr())
	return g, os.WriteFile(g.kubeconfig, []byte(text), 0o600)
}

// pass is called with every response before the gate forwards it. It counts responses to writes, and once the gate has
// forwarded the given number of them, it blocks until release is called.
func (g *gate) pass(response *http.Response) error {
	if response.Request.Method != http.MethodPatch {
		return nil
	}
	switch remaining := g.remaining.Add(-1); {
	case remaining == 0:
		close(g.reached)
	case remaining < 0:
		<-g.released
	}
	return nil
}

// release makes the gate forward all responses, including the responses that it has held back.
func (g *gate) release() { g.releaseOnce.Do(func() { close(g.released) }) }

// close releases the held responses and stops the proxy.
func (g *gate) close() error {
	g.release()
	return g.server.Close()
}
