package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// world is the run: the server, its users, and the model of everything that the server has confirmed.
type world struct {
	options  options
	judge    *judge
	random   *rand.Rand
	server   *server
	sampler  *sampler
	disk     *limitedDisk // nil without disk faults
	clock    *movedClock  // never moves without -clock
	restarts disturbance
	faults   disturbance

	operator, alice, bob *user
	namespaces           []string
	objects              []*object
	hot                  *hotObject
	watchers             map[string]*watcher

	counts *counts // part of totals
	totals totals
}

// The size of the load of polite users.
const (
	namespaceCount   = 3
	writerCount      = 9
	objectsPerWriter = 10
	readerCount      = 3
)

// newRandom returns a source of random numbers for one part of the run.
func (w *world) newRandom() *rand.Rand {
	return rand.New(rand.NewPCG(w.random.Uint64(), w.random.Uint64()))
}

// cycle runs one cycle: load and disturbances, the end of the server, its restart, and the comparison. isLast makes the cycle
// wait until the server is idle again.
func (w *world) cycle(ctx context.Context, index int, length time.Duration, isLast bool) error {
	began := time.Now()
	before := w.totals.counts.values()
	idle, err := w.measure(ctx)
	if err != nil {
		return err
	}
	hostile, err := startHostile(w.options, w.server, w.random.Uint64())
	if err != nil {
		return err
	}
	load, stopLoad := context.WithCancel(ctx)
	var polite sync.WaitGroup
	w.startPolite(load, &polite)
	sampling, stopSampling := context.WithCancel(ctx)
	defer stopSampling()
	go w.sampler.run(sampling, w.server.pid())

	events, hadFault := w.disturb(load, length, index)
	signal := syscall.SIGKILL
	if w.random.IntN(4) == 0 {
		signal = syscall.SIGTERM
	}
	if w.server.hasExited() {
		stopLoad()
		return fmt.Errorf("the server has ended by itself; its log ends with:\n%s", w.server.log.tail())
	}
	if isLast || index%settleEvery == settleEvery-1 {
		w.stopHostile(hostile, hadFault)
		stopLoad()
		polite.Wait()
		w.settle(ctx, idle)
		events += ", idle again"
		hostile = nil
	}
	if err := w.end(signal, false); err != nil {
		stopLoad()
		return err
	}
	stopLoad()
	polite.Wait()
	if hostile != nil {
		w.stopHostile(hostile, hadFault)
	}
	recovery, err := w.startAgain(ctx)
	if err != nil {
		return err
	}
	w.verify(ctx)
	fmt.Printf("cycle %d: %v, %v%s; %v; ready after %v, peak %d MiB\n", index+1, time.Since(began).Round(100*time.Millisecond), signal, events,
		w.counts.since(before), recovery.Round(time.Millisecond), w.sampler.most().resident>>20)
	return nil
}

// settleEvery is the number of cycles after which one waits until the server is idle again.
const settleEvery = 8

// startPolite starts the polite users.
func (w *world) startPolite(ctx context.Context, polite *sync.WaitGroup) {
	users := []*user{w.alice, w.bob}
	for i := range writerCount {
		writer := &writer{w, users[i%2], fmt.Sprintf("writer-%d", i), w.objects[i*objectsPerWriter : (i+1)*objectsPerWriter], w.newRandom()}
		polite.Go(func() { writer.run(ctx) })
	}
	for i := range readerCount {
		reader := &reader{w, users[i%2], w.newRandom()}
		polite.Go(func() { reader.run(ctx) })
	}
	for i := range hotAppliers {
		random := w.newRandom()
		polite.Go(func() { w.applyHot(ctx, users[i%2], i, random) })
	}
}

// end ends the server with a signal. From the signal on requests may fail, until startAgain returns.
func (w *world) end(signal syscall.Signal, failed bool) error {
	if signal == syscall.SIGTERM {
		w.totals.terms++
	} else {
		w.totals.kills++
	}
	w.restarts.begin()
	return w.server.stop(signal, failed)
}

// startAgain starts the server after end.
func (w *world) startAgain(ctx context.Context) (time.Duration, error) {
	for _, u := range []*user{w.operator, w.alice, w.bob} {
		u.client.CloseIdleConnections()
	}
	recovery, err := w.server.start()
	if err != nil {
		return 0, err
	}
	w.restarts.end()
	w.totals.maxRecovery = max(w.totals.maxRecovery, recovery)
	return recovery, ctx.Err()
}

// disturb lets the load run for a time, with a disk fault and clock jumps at random moments. It returns their
// description, and whether the disk was full.
func (w *world) disturb(ctx context.Context, length time.Duration, index int) (events string, hadFault bool) {
	deadline := time.Now().Add(length)
	if w.clock.moves && index%2 == 0 {
		wait(ctx, time.Duration(w.random.Int64N(int64(length)/3)))
		offset, err := w.clock.jump(w.random, w.server.pid())
		if err != nil {
			w.judge.violation(nil, "moving the clock: %v", err)
		}
		w.totals.jumps++
		events += fmt.Sprintf(", clock %+v", offset)
	}
	if w.disk != nil && index%3 == 1 {
		wait(ctx, time.Duration(w.random.Int64N(int64(length)/3)))
		events += ", " + w.fillDisk(ctx)
		hadFault = true
	}
	wait(ctx, time.Until(deadline))
	return events, hadFault
}

// fillDisk leaves little or no space for some seconds, and then waits until the server accepts writes again.
func (w *world) fillDisk(ctx context.Context) string {
	w.totals.faults++
	w.faults.begin()
	left, name := int64(0), "disk full"
	if w.random.IntN(2) == 0 {
		left, name = minFree-1<<20-w.random.Int64N(minFree/2), "disk nearly full"
	}
	if err := w.disk.fill(left); err != nil {
		w.judge.violation(nil, "filling the disk: %v", err)
	}
	wait(ctx, 2*time.Second+time.Duration(w.random.Int64N(int64(3*time.Second))))
	if err := w.disk.free(); err != nil {
		w.judge.violation(nil, "freeing the disk: %v", err)
	}
	restarted, err := w.recover(ctx)
	w.faults.end()
	if err != nil && ctx.Err() == nil {
		w.judge.violation(nil, "after %s: %v", name, err)
	}
	if restarted {
		name += " and a restart"
	}
	return name
}

// recover waits until the server accepts writes after a disk fault. It restarts the server if /livez fails, as a supervisor does.
func (w *world) recover(ctx context.Context) (restarted bool, err error) {
	for began := time.Now(); time.Since(began) < recoverTimeout; wait(ctx, 100*time.Millisecond) {
		if ctx.Err() != nil {
			return restarted, ctx.Err()
		}
		if _, alive := w.operator.do(ctx, request{method: "GET", path: "/livez"}); alive != nil {
			if err := w.restart(ctx); err != nil {
				return true, fmt.Errorf("restarting: %w", err)
			}
			restarted = true
			w.totals.faultRestarts++
		}
		_, err = w.operator.do(ctx, request{"PATCH", "/api/v1/namespaces/default/configmaps/probe?fieldManager=probe", "application/apply-patch+yaml",
			fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"probe"},"data":{"time":%q}}`, time.Now().UTC())})
		if err == nil {
			_, err = w.operator.do(ctx, request{method: "DELETE", path: "/api/v1/namespaces/default/configmaps/probe"})
		}
		if err == nil {
			return restarted, nil
		}
		if statusOf(err)/100 != 5 {
			return restarted, fmt.Errorf("expected a success or a 5xx: %w", err)
		}
	}
	return restarted, fmt.Errorf("no write succeeds within %v: %w", recoverTimeout, err)
}

// recoverTimeout is the maximum time until the server accepts writes after the disk was freed.
const recoverTimeout = 20 * time.Second

// restart restarts the server under load.
func (w *world) restart(ctx context.Context) error {
	if err := w.end(syscall.SIGTERM, true); err != nil {
		return err
	}
	if _, err := w.startAgain(ctx); err != nil {
		return err
	}
	go w.sampler.run(ctx, w.server.pid())
	return nil
}

// stopHostile ends the hostile user and checks the responses to its requests.
func (w *world) stopHostile(h *hostile, hadFault bool) {
	t, err := h.stop()
	if err != nil {
		w.judge.violation(nil, "the hostile user: %v", err)
		return
	}
	w.totals.hostile.add(t)
	if n := t.Statuses[http.StatusInternalServerError]; n > 0 && !hadFault {
		w.judge.violation(t.Errors, "%d requests of the hostile user resulted in a 500", n)
	}
}
