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

// gate is a reverse proxy that passes a number of responses to writes. Further responses are held back until the gate
// is opened, while the server still receives the requests: a process that is killed then is killed half-way, with
// writes in flight, regardless of the speed of the machine.
type gate struct {
	// kubeconfig is the path of a kubeconfig for clients of the gate.
	kubeconfig string
	// reached is closed when the responses have passed.
	reached chan struct{}

	opened chan struct{}
	open   sync.Once
	left   atomic.Int64 // remaining responses to pass
	server *http.Server
}

// newGate starts a gate in front of the server of a kubeconfig that passes the responses to a number of writes, at
// least one. It writes its own kubeconfig to the folder.
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
	g := &gate{kubeconfig: filepath.Join(folder, "gate"), reached: make(chan struct{}), opened: make(chan struct{})}
	g.left.Store(int64(writes))
	g.server = &http.Server{Handler: &httputil.ReverseProxy{
		Transport:      transport,
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: g.pass,
		ErrorLog:       log.New(io.Discard, "", 0),                                                      // aborted responses are expected
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // closes the connection
	}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() { _ = g.server.Serve(listener) }() // until close
	text := fmt.Sprintf("{clusters: [{name: gate, cluster: {server: http://%s}}], contexts: [{name: gate, context: {cluster: gate}}], current-context: gate}", listener.Addr())
	return g, os.WriteFile(g.kubeconfig, []byte(text), 0o600)
}

// pass blocks the responses to writes after the first ones.
func (g *gate) pass(answer *http.Response) error {
	if answer.Request.Method != http.MethodPatch {
		return nil
	}
	switch left := g.left.Add(-1); {
	case left == 0:
		close(g.reached)
	case left < 0:
		<-g.opened
	}
	return nil
}

// release passes all responses.
func (g *gate) release() { g.open.Do(func() { close(g.opened) }) }

// close passes all responses and stops the gate.
func (g *gate) close() error {
	g.release()
	return g.server.Close()
}
