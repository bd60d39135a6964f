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

// gate stands before a server and lets some writes through. From then on the server gets what is sent, and nobody gets
// an answer until the gate is opened: what is killed meanwhile is killed half-way, with writes that are under way, however
// fast or slow the machine is.
type gate struct {
	// kubeconfig is for clients that go through it.
	kubeconfig string
	// reached is closed when the writes are through.
	reached chan struct{}

	opened chan struct{}
	open   sync.Once
	left   atomic.Int64 // how many writes are let through
	server *http.Server
}

// newGate makes a gate before the server of a kubeconfig, which lets writes through, at least one. Its own kubeconfig is
// in the folder.
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
		ErrorLog:       log.New(io.Discard, "", 0),                                                      // of answers that are cut off, which is what it is for
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // as if it were not there
	}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() { _ = g.server.Serve(listener) }() // until it is closed
	text := fmt.Sprintf("{clusters: [{name: gate, cluster: {server: http://%s}}], contexts: [{name: gate, context: {cluster: gate}}], current-context: gate}", listener.Addr())
	return g, os.WriteFile(g.kubeconfig, []byte(text), 0o600)
}

// pass has the answers to writes wait, once enough of them are through.
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

// release has all answers come.
func (g *gate) release() { g.open.Do(func() { close(g.opened) }) }

// close takes the gate away.
func (g *gate) close() error {
	g.release()
	return g.server.Close()
}
