package applytest

import (
	"context"
	"net/http"
	"time"
)

// A play is one run of a script, in a namespace of its own.
type play struct {
	server    *server
	script    *Script
	variables variables
	seen      map[string]*answer // the last stored state of each object, by uid
	watches   []*watch
	traces    []trace // of what is to be removed
	recorded  map[int]string
	recording bool
}

// play runs a script from its namespace to its end. When the context ends, it stops after the request that is under way.
func (s *server) play(ctx context.Context, script *Script, recording, keep bool) (result Result, recorded map[int]string) {
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
		result.end(failed(err, ""))
		return result, nil
	}
	p := &play{server: s, script: script, seen: map[string]*answer{}, recorded: map[int]string{}, recording: recording}
	p.variables = variables{namespace: s.home, answers: map[string]*answer{}}
	if !s.shared {
		p.variables.namespace = newNamespaceName()
	}
	result.Namespace = p.variables.namespace
	if !keep {
		defer p.clean(ctx)
	}
	if !s.shared {
		if _, err := s.makeNamespace(ctx, p.variables.namespace); err != nil {
			result.end(failed(err, ""))
			return result, nil
		}
	}
	for _, step := range script.steps {
		if failure := p.run(ctx, step); failure != nil {
			failure.Step = step.name
			result.end(failure)
			return result, p.recorded
		}
	}
	if p.differs() {
		result.Difference = script.Difference
	}
	return result, p.recorded
}

// differs says whether this server has expectations of its own in the script.
func (p *play) differs() bool {
	for _, step := range p.script.steps {
		for _, e := range step.expectations {
			if e.of == p.server.implementation {
				return true
			}
		}
	}
	return false
}

// run does a step and judges the answer.
func (p *play) run(ctx context.Context, step *step) *Failure {
	if step.request.wait > 0 {
		select {
		case <-time.After(step.request.wait):
		case <-ctx.Done():
			return failed(ctx.Err(), "")
		}
		return p.judge(step, &answer{code: http.StatusOK}, "")
	}
	again := *step
	again.expectations = nil // but that it succeeds
	for p.variables.round = 1; p.variables.round < step.request.times; p.variables.round++ {
		if failure := p.attempt(ctx, &again); failure != nil {
			return failure
		}
	}
	return p.attempt(ctx, step)
}

const (
	// eventualTime is how long a server may take until it answers as expected, where a script says so.
	eventualTime  = 15 * time.Second
	eventualPause = 50 * time.Millisecond
)

// attempt makes the request once or, where the script says EVENTUALLY, until the answer is as expected. The last answer
// is the one that counts; those before it are forgotten.
func (p *play) attempt(ctx context.Context, step *step) *Failure {
	for end := time.Now().Add(eventualTime); ; time.Sleep(eventualPause) {
		a, curl, err := p.ask(ctx, step)
		isLast := !step.request.eventually || ctx.Err() != nil || time.Now().After(end)
		switch {
		case err != nil && (isLast || isDenial(err)):
			return failed(err, curl)
		case err != nil:
		case isLast || p.server.denies(a) != nil || p.isExpected(step, a):
			failure := p.judge(step, a, curl)
			p.remember(step, a)
			return failure
		}
	}
}

// ask makes the request of a step, and notes what that may have made. The command repeats it.
func (p *play) ask(ctx context.Context, step *step) (a *answer, curl string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	request, body, err := p.build(ctx, step.request)
	if err != nil {
		return nil, "", err
	}
	before := len(p.traces)
	p.note(request, body)
	curl = curlCommand(request, body)
	if a, err = p.send(step, request); err != nil {
		return nil, curl, err
	}
	p.forget(before, a)
	p.made(request, a)
	return a, curl, nil
}

// send sends the request. The answer of a watch is its head.
func (p *play) send(step *step, request *http.Request) (*answer, error) {
	if step.request.verb.watches {
		return p.open(step.name, request)
	}
	ctx, cancel := p.server.limit(request.Context())
	defer cancel()
	response, err := p.server.do(request.Context(), request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	return readAnswer(response, step.request.isDryRun())
}

// isExpected says whether an answer is as expected. Events are left out: they are taken only once. Where nothing is
// expected yet, success is.
func (p *play) isExpected(step *step, a *answer) bool {
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

// judge compares the answer with all that is expected of this server, or records it.
func (p *play) judge(step *step, a *answer, curl string) *Failure {
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
			found = []string{"nothing can be recorded: " + err.Error()}
		}
		for _, complaint := range found {
			complaints = append(complaints, e.name()+": "+complaint)
		}
	}
	if len(expectations) == 0 && !a.succeeded() {
		complaints = append(complaints, "expected success, as no other answer is expected")
	}
	if len(complaints) == 0 {
		return nil
	}
	return &Failure{Complaints: complaints, Request: curl, Answer: a.summary(), err: p.server.denies(a)}
}

// mayRecord keeps what Kubernetes has answered from being replaced by what another server answers.
func (p *play) mayRecord(e *expectation) bool {
	return p.server.implementation == Kubernetes || e.of == p.server.implementation || e.isEmpty() || p.script.Only == p.server.implementation
}

// remember keeps what later steps refer to.
func (p *play) remember(step *step, a *answer) {
	p.variables.answers[step.name] = a
	if a.uid() == "" || !a.succeeded() {
		return
	}
	p.variables.last = a
	if a.dryRun {
		return
	}
	p.seen[a.uid()] = a
}
