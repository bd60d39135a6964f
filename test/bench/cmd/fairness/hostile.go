package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// attacks maps the name of an attack to one turn of a client on a new connection. sent must be called when the first request was
// sent. The turn ends with the connection.
var attacks = map[string]func(c *hostileConn, sent func()) error{
	"slow-bodies":  slowBody,
	"unread-lists": unreadList,
	"openapi":      repeatRequest("/openapi/v2"),
	"openapi-gzip": repeatRequest("/openapi/v2", "Accept-Encoding: gzip"),
	"lists":        repeatRequest("/api/v1/namespaces/default/configmaps"),
}

// attackNames returns the attacks for which there are goals.
func attackNames() []string { return []string{"slow-bodies", "unread-lists", "openapi"} }

// hostileConn is a connection of a hostile client, with HTTP/1.1.
type hostileConn struct {
	net.Conn
	reader *bufio.Reader
}

// runHostileClients runs the clients of an attack until the context ends. It prints a line when all have sent a request.
func runHostileClients(ctx context.Context, o options) error {
	turn := attacks[o.hostile]
	if turn == nil {
		return fmt.Errorf("-hostile: expected one of %v, received %q", slices.Sorted(maps.Keys(attacks)), o.hostile)
	}
	ca, err := os.ReadFile(o.ca)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return errors.New("-ca: expected a certificate")
	}
	config := &tls.Config{RootCAs: roots, NextProtos: []string{"http/1.1"}}
	var started sync.WaitGroup
	for range o.clients {
		started.Add(1)
		sent := sync.OnceFunc(started.Done)
		go func() {
			for ctx.Err() == nil {
				if c, err := dial(ctx, o.address, config); err == nil {
					_ = turn(c, sent)
					c.Close()
				}
			}
		}()
	}
	started.Wait()
	fmt.Println("ready")
	<-ctx.Done()
	return nil
}

// dial opens a connection with a small receive buffer, so that the server notices a client that does not read.
func dial(ctx context.Context, address string, config *tls.Config) (*hostileConn, error) {
	dialer := &tls.Dialer{Config: config, NetDialer: &net.Dialer{Timeout: time.Minute, Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 64<<10) })
	}}}
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &hostileConn{c, bufio.NewReader(c)}, nil
}

// send sends the head of a request.
func (c *hostileConn) send(method, path string, headers ...string) error {
	head := method + " " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + hostileToken + "\r\n"
	for _, h := range headers {
		head += h + "\r\n"
	}
	_, err := io.WriteString(c, head+"\r\n")
	return err
}

// slowBody announces a body of which it sends only the first byte.
func slowBody(c *hostileConn, sent func()) error {
	if err := c.send("POST", "/api/v1/namespaces/default/configmaps", "Content-Type: application/json", "Content-Length: 1000"); err != nil {
		return err
	}
	_, err := io.WriteString(c, "{")
	sent()
	if err == nil {
		_, err = http.ReadResponse(c.reader, nil) // waits until the server ends the request
	}
	return err
}

// unreadList requests a long list and does not read the response.
func unreadList(c *hostileConn, sent func()) error {
	if err := c.send("GET", "/api/v1/namespaces/default/configmaps"); err != nil {
		return err
	}
	sent()
	time.Sleep(time.Minute) // longer than the server waits
	return nil
}

// repeatRequest returns an attack that reads a path repeatedly.
func repeatRequest(path string, headers ...string) func(*hostileConn, func()) error {
	return func(c *hostileConn, sent func()) error {
		for {
			if err := c.send("GET", path, headers...); err != nil {
				return err
			}
			sent()
			response, err := http.ReadResponse(c.reader, nil)
			if err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, response.Body); err != nil {
				return err
			}
		}
	}
}
