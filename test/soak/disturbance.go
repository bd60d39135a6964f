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

// calm is a time without a disturbance.
type calm struct {
	d     *disturbance
	epoch int
}

// now returns the current time for lasted.
func (d *disturbance) now() calm {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.active > 0 {
		return calm{d, -1}
	}
	return calm{d, d.epoch}
}

// lasted reports whether there was no disturbance from now to this call.
func (c calm) lasted() bool {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.epoch == c.d.epoch
}
