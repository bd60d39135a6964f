package applytest

import (
	"context"
	"net/http"
	"time"
)

// scriptRun is one run of a script against a server.
type scriptRun struct {
	server    *server
	script    *Script
	variables variables
	seen      map[string]*serverResponse // the last response that contains each object, keyed by uid; dry runs are not stored
	watches   []*watch
	creations []creation // the objects to delete after the script
	recorded  map[int]string
	recording bool
}

// runScript runs a script, including the creation and deletion of its namespace. If the context is canceled, it stops
// after the current request.
func (s *server) runScript(ctx context.Context, script *Script, recording, keep bool) (result Result, recorded map[int]string) {
	start := time.Now()
	result = Result{Name: script.Name, Area: script.Area(), Behaviour: script.Behaviour, Outcome: Pass}
	if script.Defective == s.implementation {
		result.Defect = script.Defect
	}
	defer func() { result.Duration = time.Since(start) }()
	reason, err := s.skipReason(ctx, script)
	if reason != "" {
		result.skip(reason)
		return result, nil
	}
	if err != nil {
		result.finish(newFailure(err, ""))
		return result, nil
	}
	p := &scriptRun{server: s, script: script, seen: map[string]*serverResponse{}, recorded: map[int]string{}, recording: recording}
	p.variables = variables{namespace: s.runnerNamespace, responses: map[string]*serverResponse{}}
	if !s.shared {
		p.variables.namespace = newNamespaceName()
	}
	result.Namespace = p.variables.namespace
	if !keep {
		defer p.clean(ctx)
	}
	if !s.shared {
		if _, err := s.createNamespace(ctx, p.variables.namespace); err != nil {
			result.finish(newFailure(err, ""))
			return result, nil
		}
	}
	for _, step := range script.steps {
		if failure := p.runStep(ctx, step); failure != nil {
			failure.Step = step.name
			result.finish(failure)
			return result, p.recorded
		}
	}
	if p.differs() {
		result.Difference = script.Difference
	}
	return result, p.recorded
}

// differs reports whether the script contains expectations that apply only to this implementation.
func (p *scriptRun) differs() bool {
	for _, step := range p.script.steps {
		for _, e := range step.expectations {
			if e.of == p.server.implementation {
				return true
			}
		}
	}
	return false
}

// runStep sends the request of a step and evaluates the response; it returns nil if the step passes.
func (p *scriptRun) runStep(ctx context.Context, step *step) *Failure {
	if step.request.wait > 0 {
		select {
		case <-time.After(step.request.wait):
		case <-ctx.Done():
			return newFailure(ctx.Err(), "")
		}
		return p.evaluate(step, &serverResponse{code: http.StatusOK}, "")
	}
	again := *step
	again.expectations = nil // all requests except the last one are only required to succeed
	for p.variables.round = 1; p.variables.round < step.request.times; p.variables.round++ {
		if failure := p.attempt(ctx, &again); failure != nil {
			return failure
		}
	}
	return p.attempt(ctx, step)
}

const (
	// eventualTimeout is the maximum time in which the server must respond as expected in a step with EVENTUALLY.
	eventualTimeout  = 15 * time.Second
	eventualInterval = 50 * time.Millisecond
)

// attempt sends the request of a step once or, with EVENTUALLY, until the response is as expected. Only the last response is
// evaluated and stored.
func (p *scriptRun) attempt(ctx context.Context, step *step) *Failure {
	for end := time.Now().Add(eventualTimeout); ; time.Sleep(eventualInterval) {
		a, curl, err := p.sendStep(ctx, step)
		isLast := !step.request.eventually || ctx.Err() != nil || time.Now().After(end)
		switch {
		case err != nil && (isLast || isPermissionError(err)):
			return newFailure(err, curl)
		case err != nil:
		case isLast || p.server.permissionErrorOf(a) != nil || p.isExpected(step, a):
			failure := p.evaluate(step, a, curl)
			p.remember(step, a)
			return failure
		}
	}
}

// sendStep sends the request of a step, and tracks the objects that it may create. curl is a command that repeats the
// request.
func (p *scriptRun) sendStep(ctx context.Context, step *step) (a *serverResponse, curl string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	request, body, err := p.build(ctx, step.request)
	if err != nil {
		return nil, "", err
	}
	before := len(p.creations)
	p.track(request, body)
	curl = curlCommand(request, body)
	if a, err = p.send(step, request); err != nil {
		return nil, curl, err
	}
	p.untrack(before, a)
	p.trackCreated(request, a)
	return a, curl, nil
}

// send sends the request of a step. For WATCH it opens the watch; the returned response then has no body.
func (p *scriptRun) send(step *step, request *http.Request) (*serverResponse, error) {
	if step.request.verb.watches {
		return p.open(step.name, request)
	}
	ctx, cancel := p.server.withTimeout(request.Context())
	defer cancel()
	response, err := p.server.do(request.Context(), request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	return readResponse(response, step.request.isDryRun())
}

// isExpected reports whether a response meets the expectations, except the expectations of watch events, which can be
// consumed only once. If the step has no expectations, the request must have succeeded.
func (p *scriptRun) isExpected(step *step, a *serverResponse) bool {
	expectations := step.of(p.server.implementation)
	for _, e := range expectations {
		switch {
		case e.isEmpty() && e.kind == "answer" && !a.succeeded():
			return false
		case !e.isEmpty() && e.kind != "events" && len(e.compare(p, a)) > 0:
			return false
		}
	}
	return len(expectations) > 0 || a.succeeded()
}

// evaluate compares the response with the expectations for this implementation, or records the response; it returns nil
// if the response meets the expectations.
func (p *scriptRun) evaluate(step *step, a *serverResponse, curl string) *Failure {
	var complaints []string
	expectations := step.of(p.server.implementation)
	for _, e := range expectations {
		found := e.compare(p, a)
		if len(found) > 0 && p.recording && p.mayRecord(e) {
			text, err := e.record(p, a)
			if err == nil {
				p.recorded[e.file] = text
				continue
			}
			found = []string{"the response can't be recorded: " + err.Error()}
		}
		for _, complaint := range found {
			complaints = append(complaints, e.name()+": "+complaint)
		}
	}
	if len(expectations) == 0 && !a.succeeded() {
		complaints = append(complaints, "expected success, because the step has no expectations")
	}
	if len(complaints) == 0 {
		return nil
	}
	return &Failure{Complaints: complaints, Request: curl, Answer: a.summary(), err: p.server.permissionErrorOf(a)}
}

// mayRecord reports whether an expectation may be recorded: an expectation of Kubernetes must not be replaced by the response
// of another implementation.
func (p *scriptRun) mayRecord(e *expectation) bool {
	return p.server.implementation == Kubernetes || e.of == p.server.implementation || e.isEmpty() || p.script.Only == p.server.implementation
}

// remember stores the response for variables and comparisons in later steps.
func (p *scriptRun) remember(step *step, a *serverResponse) {
	p.variables.responses[step.name] = a
	if a.uid() == "" || !a.succeeded() {
		return
	}
	p.variables.last = a
	if a.dryRun {
		return
	}
	p.seen[a.uid()] = a
}
