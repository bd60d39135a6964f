package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// stopGrace is the additional time that Stop waits for the components of the server after its context is canceled.
const stopGrace = time.Second

// FailReadiness makes readiness checks fail, while the server serves all requests until Stop is called.
func (s *Server) FailReadiness() { s.handler.FailReadiness() }

// Stop ends watches, waits for active requests until ctx is canceled, and stops the server. If a component has not stopped
// within stopGrace after the cancellation, Stop returns an error with its name, and the remaining components are stopped in
// the background.
func (s *Server) Stop(ctx context.Context) error {
	var stopping shutdown
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.stopParts(ctx, &stopping)
	}()
	select {
	case <-done:
		return stopping.err()
	case <-ctx.Done():
	}
	select {
	case <-done:
		return stopping.err()
	case <-time.After(stopGrace):
		return errors.Join(stopping.err(), fmt.Errorf("stop the server: %s: not stopped: %w", stopping.active(), ctx.Err()))
	}
}

// stopParts stops the components of the server, each before its dependencies.
func (s *Server) stopParts(ctx context.Context, stopping *shutdown) {
	stopping.stopPart("requests", func() error { return s.stopServing(ctx) })
	if s.audit != nil {
		stopping.stopPart("audit log", s.audit.Close)
	}
	stopping.stopPart("traces", func() error { return s.closeTracing(ctx) })
	if s.stopControllers != nil {
		s.stopControllers()
	}
	if s.stopBackups != nil {
		s.stopBackups()
	}
	if s.stopReloads != nil {
		s.stopReloads()
	}
	if s.stopDefinitions != nil {
		s.stopDefinitions()
	}
	s.stopFiles()
	if s.rbac != nil {
		stopping.stopPart("authorizer", func() error { s.rbac.Close(); return nil })
	}
	if s.admission != nil {
		stopping.stopPart("admission configurations", func() error { s.admission.close(); return nil })
	}
	stopping.stopPart("priority and fairness", func() error { s.fairness.close(); return nil })
	stopping.waitForGroup(&s.running)
	if s.cache != nil {
		stopping.stopPart("watch cache", func() error { s.cache.Close(); return nil })
	}
	if s.store != nil {
		stopping.stopPart("store", s.store.Close)
	}
}

// maxTraceFlush is the maximum time in which the remaining spans are sent. A collector that cannot be reached must not delay the stop.
const maxTraceFlush = time.Second

// closeTracing sends the remaining spans.
func (s *Server) closeTracing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxTraceFlush)
	defer cancel()
	if err := s.tracing.Close(ctx); err != nil {
		s.config.Log.Warn("the last spans were not sent to the collector of traces", "error", err)
	}
	return nil
}

// stopServing ends watches and waits for active requests until ctx is canceled, both for the listener and for in-process
// transports.
func (s *Server) stopServing(ctx context.Context) error {
	var listened, inProcess error
	var stopping sync.WaitGroup
	if s.handler != nil {
		s.handler.Drain()
		stopping.Go(func() { inProcess = s.inProcess.Stop(ctx) })
	}
	if s.listener != nil {
		listened = s.listener.Stop(ctx)
	} else if s.socket != nil {
		listened = s.socket.Close()
	}
	stopping.Wait()
	return errors.Join(listened, inProcess)
}

// shutdown is the state of one call of Stop. It is safe for concurrent use.
type shutdown struct {
	mu sync.Mutex
	// names returns the names of the components that are being stopped.
	names func() []string
	errs  []error
}

// stopPart calls stop for a component and records its error. Until it returns, active returns the name.
func (s *shutdown) stopPart(name string, stop func() error) {
	s.set(func() []string { return []string{name} })
	err := stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

// waitForGroup waits for the goroutines of a group, whose context the caller has canceled. Until it returns, active returns
// the names of the running goroutines.
func (s *shutdown) waitForGroup(g *goroutines) {
	s.set(g.names)
	g.wait.Wait()
}

func (s *shutdown) set(names func() []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = names
}

// active returns the names of the components that are being stopped, separated by commas.
func (s *shutdown) active() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.names(), ", ")
}

// err returns the joined errors of the components that have stopped; nil if there are none.
func (s *shutdown) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

// goroutines is a group of named goroutines. It is safe for concurrent use.
type goroutines struct {
	wait   sync.WaitGroup
	mu     sync.Mutex
	active map[string]int
}

// Go calls run in a new goroutine of the group.
func (g *goroutines) Go(name string, run func()) {
	g.count(name, +1)
	g.wait.Go(func() {
		defer g.count(name, -1)
		run()
	})
}

func (g *goroutines) count(name string, change int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.active == nil {
		g.active = map[string]int{}
	}
	if g.active[name] += change; g.active[name] == 0 {
		delete(g.active, name)
	}
}

// names returns the sorted names of the goroutines that are still running.
func (g *goroutines) names() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.active))
}
