package main

import "sync"

// disturbance distinguishes times at which requests may fail from times at which they must succeed.
type disturbance struct {
	mu     sync.Mutex
	active int
	epoch  int // changes with every begin and end
}

func (d *disturbance) begin() { d.change(1) }

func (d *disturbance) end() { d.change(-1) }

func (d *disturbance) change(by int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active += by
	d.epoch++
}

// calm is the start of an interval that should be free of disturbances. Its epoch is -1 if a disturbance was active.
type calm struct {
	d     *disturbance
	epoch int
}

// now starts an interval at the current epoch.
func (d *disturbance) now() calm {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.active > 0 {
		return calm{d, -1}
	}
	return calm{d, d.epoch}
}

// lasted reports whether no disturbance was active between the call of now that returned c and this call.
func (c calm) lasted() bool {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.epoch == c.d.epoch
}
