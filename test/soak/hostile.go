package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// tally are the responses to the hostile user.
type tally struct {
	Statuses map[int]int64    // responses by HTTP status
	Attacks  map[string]int64 // turns by attack
	Errors   []string         // the first responses with status 500
}

// add adds the responses of other.
func (t *tally) add(other tally) {
	if t.Statuses == nil {
		t.Statuses, t.Attacks = map[int]int64{}, map[string]int64{}
	}
	for status, n := range other.Statuses {
		t.Statuses[status] += n
	}
	for attack, n := range other.Attacks {
		t.Attacks[attack] += n
	}
}

// requests returns the number of responses.
func (t *tally) requests() (n int64) {
	for _, count := range t.Statuses {
		n += count
	}
	return n
}

// hostile is the process of the hostile user.
type hostile struct {
	command *exec.Cmd
	out     *bufio.Reader
}

// startHostile starts the hostile user, with the lowest CPU priority, so that a machine with few processors measures the server and
// not the attack.
func startHostile(o options, s *server, seed uint64) (*hostile, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{self, "-hostile", "-address", s.address, "-ca", s.ca(), "-clients", strconv.Itoa(o.clients), "-seed", strconv.FormatUint(seed, 10), "-attack", o.attack}
	if chrt, err := exec.LookPath("chrt"); err == nil {
		args = append([]string{chrt, "--idle", "0"}, args...)
	}
	h := &hostile{command: exec.Command(args[0], args[1:]...)}
	endWithParent(h.command)
	h.command.Stderr = os.Stderr
	out, err := h.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.out = bufio.NewReader(out)
	return h, h.command.Start()
}

// stop ends the hostile user and returns the responses that it has received.
func (h *hostile) stop() (t tally, err error) {
	if err := h.command.Process.Signal(syscall.SIGTERM); err != nil {
		return t, err
	}
	text, err := io.ReadAll(h.out)
	if err != nil {
		return t, err
	}
	if err := h.command.Wait(); err != nil {
		return t, err
	}
	return t, json.Unmarshal(text, &t)
}

// beHostile attacks the server from many connections until SIGTERM, and prints the tally.
func beHostile(ctx context.Context, o options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	config, err := tlsConfig(o.ca)
	if err != nil {
		return err
	}
	config.NextProtos = []string{"http/1.1"}
	config.ClientSessionCache = tls.NewLRUClientSessionCache(16) // handshakes cost the server less, so that requests cost it more
	names := slices.Sorted(maps.Keys(attacks))
	if o.attack != "" {
		names = strings.Split(o.attack, ",")
	}
	for _, name := range names {
		if attacks[name] == nil {
			return fmt.Errorf("-attack: expected names from %v, received %q", slices.Sorted(maps.Keys(attacks)), name)
		}
	}
	e := &enemy{address: o.address, config: config, tally: tally{map[int]int64{}, map[string]int64{}, nil}}
	for i := range o.clients {
		random := rand.New(rand.NewPCG(o.seed, uint64(i)))
		go e.attack(ctx, names, random)
	}
	<-ctx.Done()
	e.mu.Lock()
	defer e.mu.Unlock()
	return json.NewEncoder(os.Stdout).Encode(e.tally)
}

// enemy is the hostile user: its connections and the tally of their responses.
type enemy struct {
	address string
	config  *tls.Config

	mu    sync.Mutex
	tally tally
}

// attack attacks from one connection after the other.
func (e *enemy) attack(ctx context.Context, names []string, random *rand.Rand) {
	for ctx.Err() == nil {
		c, err := e.dial(ctx, random)
		if err != nil {
			wait(ctx, 50*time.Millisecond) // the server restarts
			continue
		}
		name := names[random.IntN(len(names))]
		e.mu.Lock()
		e.tally.Attacks[name]++
		e.mu.Unlock()
		end := context.AfterFunc(ctx, func() { c.Close() })
		for range 1 + random.IntN(20) { // requests of this connection
			if attacks[name](c) != nil {
				break
			}
		}
		end()
		c.Close()
	}
}

// hostileConn is a connection of the hostile user, with HTTP/1.1.
type hostileConn struct {
	net.Conn
	enemy  *enemy
	reader *bufio.Reader
	random *rand.Rand
}

// dial opens a connection with a small receive buffer, so that responses that are not read stay in the server.
func (e *enemy) dial(ctx context.Context, random *rand.Rand) (*hostileConn, error) {
	dialer := &tls.Dialer{Config: e.config, NetDialer: &net.Dialer{Timeout: time.Minute, Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 64<<10) })
	}}}
	c, err := dialer.DialContext(ctx, "tcp", e.address)
	if err != nil {
		return nil, err
	}
	return &hostileConn{c, e, bufio.NewReader(c), random}, nil
}

// head sends the head of a request.
func (c *hostileConn) head(method, path string, headers ...string) error {
	text := method + " " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + malloryToken + "\r\n"
	for _, h := range headers {
		text += h + "\r\n"
	}
	_, err := io.WriteString(c, text+"\r\n")
	return err
}

// send sends a request with a body and reads the response.
func (c *hostileConn) send(method, path, mediaType, body string) error {
	headers := []string{"Content-Type: " + mediaType, "Content-Length: " + strconv.Itoa(len(body))}
	if body == "" {
		headers = nil
	}
	if err := c.head(method, path, headers...); err != nil {
		return err
	}
	if _, err := io.WriteString(c, body); err != nil {
		return err
	}
	return c.receive(method + " " + path)
}

// receive reads a response.
func (c *hostileConn) receive(name string) error {
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var text []byte
	if response.StatusCode == http.StatusInternalServerError {
		text, _ = io.ReadAll(io.LimitReader(response.Body, 500)) // an incomplete text is enough
	}
	c.enemy.mu.Lock()
	c.enemy.tally.Statuses[response.StatusCode]++
	if text != nil && len(c.enemy.tally.Errors) < maxPrinted {
		c.enemy.tally.Errors = append(c.enemy.tally.Errors, fmt.Sprintf("%s: %s", name, text))
	}
	c.enemy.mu.Unlock()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
