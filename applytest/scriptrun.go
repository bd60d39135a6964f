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
	run := &scriptRun{server: s, script: script, seen: map[string]*serverResponse{}, recorded: map[int]string{}, recording: recording}
	run.variables = variables{namespace: s.runnerNamespace, responses: map[string]*serverResponse{}}
	if !s.shared {
		run.variables.namespace = newNamespaceName()
	}
	result.Namespace = run.variables.namespace
	if !keep {
		defer run.cleanUp(ctx)
	}
	if !s.shared {
		if _, err := s.createNamespace(ctx, run.variables.namespace); err != nil {
			result.finish(newFailure(err, ""))
			return result, nil
		}
	}
	for _, step := range script.steps {
		if failure := run.runStep(ctx, step); failure != nil {
			failure.Step = step.name
			result.finish(failure)
			return result, run.recorded
		}
	}
	if run.hasOwnExpectations() {
		result.Difference = script.Difference
	}
	return result, run.recorded
}

// hasOwnExpectations reports whether the script contains expectations that apply only to the implementation under test.
func (run *scriptRun) hasOwnExpectations() bool {
	for _, step := range run.script.steps {
		for _, e := range step.expectations {
			if e.implementation == run.server.implementation {
				return true
			}
		}
	}
	return false
}

// runStep sends the request of step, repeated by TIMES, and evaluates the last response; it returns nil if the step passes.
func (run *scriptRun) runStep(ctx context.Context, step *step) *Failure {
	if step.request.wait > 0 {
		select {
		case <-time.After(step.request.wait):
		case <-ctx.Done():
			return newFailure(ctx.Err(), "")
		}
		return run.evaluate(step, &serverResponse{code: http.StatusOK}, "")
	}
	again := *step
	again.expectations = nil // all requests except the last one are only required to succeed
	for run.variables.round = 1; run.variables.round < step.request.times; run.variables.round++ {
		if failure := run.attempt(ctx, &again); failure != nil {
			return failure
		}
	}
	return run.attempt(ctx, step)
}

const (
	// eventualTimeout is the maximum time in which the server must respond as expected in a step with EVENTUALLY.
	eventualTimeout  = 15 * time.Second
	eventualInterval = 50 * time.Millisecond
)

// attempt sends the request of step once or, with EVENTUALLY, repeatedly until the response is as expected or eventualTimeout
// has passed. Only the last response is evaluated and stored.
func (run *scriptRun) attempt(ctx context.Context, step *step) *Failure {
	for end := time.Now().Add(eventualTimeout); ; time.Sleep(eventualInterval) {
		resp, curl, err := run.sendStep(ctx, step)
		isLast := !step.request.eventually || ctx.Err() != nil || time.Now().After(end)
		switch {
		case err != nil && (isLast || isPermissionError(err)):
			return newFailure(err, curl)
		case err != nil:
		case isLast || run.server.permissionErrorOf(resp) != nil || run.isExpected(step, resp):
			failure := run.evaluate(step, resp, curl)
			run.remember(step, resp)
			return failure
		}
	}
}

// sendStep sends the request of step, and tracks the objects that the request may create. curl is a command that repeats the
// request.
func (run *scriptRun) sendStep(ctx context.Context, step *step) (resp *serverResponse, curl string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	request, body, err := run.build(ctx, step.request)
	if err != nil {
		return nil, "", err
	}
	before := len(run.creations)
	run.track(request, body)
	curl = curlCommand(request, body)
	if resp, err = run.send(step, request); err != nil {
		return nil, curl, err
	}
	run.untrack(before, resp)
	run.trackCreated(request, resp)
	return resp, curl, nil
}

// send sends request, the request of step. For WATCH it opens the watch and returns a response without a body.
func (run *scriptRun) send(step *step, request *http.Request) (*serverResponse, error) {
	if step.request.verb.watches {
		return run.open(step.name, request)
	}
	ctx, cancel := run.server.withTimeout(request.Context())
	defer cancel()
	response, err := run.server.do(request.Context(), request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	return readResponse(response, step.request.isDryRun())
}

// isExpected reports whether resp meets the expectations of step or, if step has none, whether the request succeeded. It does
// not check expectations of watch events, because events can be consumed only once.
func (run *scriptRun) isExpected(step *step, resp *serverResponse) bool {
	expectations := step.expectationsFor(run.server.implementation)
	for _, e := range expectations {
		switch {
		case e.isEmpty() && e.kind == "answer" && !resp.succeeded():
			return false
		case !e.isEmpty() && e.kind != "events" && len(e.compare(run, resp)) > 0:
			return false
		}
	}
	return len(expectations) > 0 || resp.succeeded()
}

// evaluate compares resp with the expectations for the implementation under test. It returns nil if resp meets them, or if a
// run with Options.Record has recorded resp instead.
func (run *scriptRun) evaluate(step *step, resp *serverResponse, curl string) *Failure {
	var complaints []string
	expectations := step.expectationsFor(run.server.implementation)
	for _, e := range expectations {
		found := e.compare(run, resp)
		if len(found) > 0 && run.recording && run.mayRecord(e) {
			text, err := e.record(run, resp)
			if err == nil {
				run.recorded[e.file] = text
				continue
			}
			found = []string{"the response can't be recorded: " + err.Error()}
		}
		for _, complaint := range found {
			complaints = append(complaints, e.name()+": "+complaint)
		}
	}
	if len(expectations) == 0 && !resp.succeeded() {
		complaints = append(complaints, "expected success, because the step has no expectations")
	}
	if len(complaints) == 0 {
		return nil
	}
	return &Failure{Complaints: complaints, Request: curl, Answer: resp.summary(), err: run.server.permissionErrorOf(resp)}
}

// mayRecord reports whether e may be recorded: the response of another implementation must not replace an expectation of
// Kubernetes.
func (run *scriptRun) mayRecord(e *expectation) bool {
	return run.server.implementation == Kubernetes || e.implementation == run.server.implementation || e.isEmpty() || run.script.Only == run.server.implementation
}

// remember stores resp, the response to step, for variables and comparisons in later steps.
func (run *scriptRun) remember(step *step, resp *serverResponse) {
	run.variables.responses[step.name] = resp
	if resp.uid() == "" || !resp.succeeded() {
		return
	}
	run.variables.last = resp
	if resp.dryRun {
		return
	}
	run.seen[resp.uid()] = resp
}
