package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
)

// hotAppliers is the number of appliers of the hot object, and hotName its name.
const (
	hotAppliers = 6
	hotName     = "hot"
)

// hotObject is the model of an object with several appliers, each of which owns one field with a number.
//
//	confirmed[i] ≤ field i ≤ sent[i]
type hotObject struct {
	namespace string

	mu              sync.Mutex
	confirmed, sent [hotAppliers]int64
	history         []string
}

func hotField(applier int) string { return fmt.Sprintf("field-%d", applier) }

func (h *hotObject) note(format string, args ...any) {
	if h.history = append(h.history, fmt.Sprintf(format, args...)); len(h.history) > maxHistory {
		h.history = h.history[1:]
	}
}

func (h *hotObject) lines() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{h.namespace + "/" + hotName + ":"}, h.history...)
}

// compare compares the fields of the object with the model, and makes them the confirmed ones. No apply may be in progress.
func (h *hotObject) compare(data map[string]string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range hotAppliers {
		value := number(data[hotField(i)])
		h.note("read: %s is %d, confirmed %d, sent %d", hotField(i), value, h.confirmed[i], h.sent[i])
		if value < h.confirmed[i] || value > h.sent[i] {
			return fmt.Errorf("%s/%s: %s: expected a number from %d to %d, received %d", h.namespace, hotName, hotField(i), h.confirmed[i], h.sent[i], value)
		}
		h.confirmed[i] = value
	}
	return nil
}

// begin numbers the next apply of an applier.
func (h *hotObject) begin(applier int) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent[applier]++
	h.note("applier %d sends %d", applier, h.sent[applier])
	return h.sent[applier]
}

// confirm compares the response to an apply with the model: all fields have at least their confirmed numbers.
func (h *hotObject) confirm(applier int, value int64, before [hotAppliers]int64, data map[string]string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note("apply of %d by applier %d confirmed: %v", value, applier, data)
	h.confirmed[applier] = value
	before[applier] = value
	for i := range hotAppliers {
		if got := number(data[hotField(i)]); got < before[i] || got > h.sent[i] {
			return fmt.Errorf("%s/%s: response to applier %d: %s: expected a number from %d to %d, received %d", h.namespace, hotName, applier, hotField(i), before[i], h.sent[i], got)
		}
	}
	return nil
}

func (h *hotObject) snapshot() [hotAppliers]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.confirmed
}

// applyHot applies the field of one applier until the context ends.
func (w *world) applyHot(ctx context.Context, u *user, applier int, random *rand.Rand) {
	for pause(ctx, random) {
		before, value := w.hot.snapshot(), w.hot.begin(applier)
		restarts, faults := w.restarts.now(), w.faults.now()
		text, err := u.do(ctx, request{"PATCH", collection(w.hot.namespace) + "/" + hotName + "?fieldManager=" + hotField(applier), "application/apply-patch+yaml",
			fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{%q:"%d"}}`, hotName, hotField(applier), value)})
		if err != nil {
			status := statusOf(err)
			if isRefusal := status/100 == 4 || status == http.StatusInsufficientStorage; isRefusal {
				w.counts.Refused.Add(1)
			} else {
				w.counts.Unknown.Add(1)
			}
			if ctx.Err() == nil && restarts.lasted() && !(status/100 == 5 && !faults.lasted()) {
				w.judge.violation(w.hot.lines(), "apply of the hot object failed: %v", err)
			}
			continue
		}
		w.counts.Confirmed.Add(1)
		var c configMap
		if err := json.Unmarshal(text, &c); err != nil {
			w.judge.violation(w.hot.lines(), "decoding the hot object: %v", err)
			continue
		}
		if err := w.hot.confirm(applier, value, before, c.Data); err != nil {
			w.judge.violation(w.hot.lines(), "%v", err)
		}
	}
}
