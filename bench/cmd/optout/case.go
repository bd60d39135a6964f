package main

import (
	"context"
	"fmt"
	"math"

	"github.com/cadastre/cadastre/bench/serverbench"
)

// What is varied.
var (
	managers = []int{1, 3, 8}
	watchers = []int{1, 10, 100, 1000}
	media    = []serverbench.Media{serverbench.JSON, serverbench.Protobuf, serverbench.CBOR}
)

// The ways in which answers are asked for. Mixed watchers are half and half.
const (
	full    = "full"
	dropped = "dropped"
	mixed   = "mixed"
)

// A testCase is something that is measured in every way on every server.
type testCase struct {
	verb     string // get, list, watch
	detail   string // the media, or how many watchers
	managers int
	media    serverbench.Media
	watchers int // of a watch
}

func (c testCase) name() string { return caseName(c.verb, c.detail, c.managers) }

func caseName(verb, detail string, managers int) string {
	return fmt.Sprintf("%s/%s/%d", verb, detail, managers)
}

// allCases are those of few managers first.
func allCases() (all []testCase) {
	for _, m := range managers {
		for _, verb := range []string{"get", "list"} {
			for _, media := range media {
				all = append(all, testCase{verb: verb, detail: media.Name(), managers: m, media: media})
			}
		}
		for _, n := range watchers {
			all = append(all, testCase{verb: "watch", detail: fmt.Sprint(n), managers: m, media: serverbench.JSON, watchers: n})
		}
	}
	return all
}

func selectedCases(o options) (selected []testCase) {
	for _, c := range allCases() {
		if o.selected.MatchString(c.name()) {
			selected = append(selected, c)
		}
	}
	return selected
}

// objects are what the case is about: few of those that are watched, so that each watcher hears of all when it
// begins.
func (c testCase) objects(o options) serverbench.Managed {
	if c.verb == "watch" {
		return serverbench.Managed{Managers: c.managers, Objects: o.load.Clients}
	}
	return c.many()
}

// many are objects enough for a list, and for a watch to begin with more events than connecting costs.
func (c testCase) many() serverbench.Managed {
	return serverbench.Managed{Managers: c.managers, Objects: serverbench.Listed}
}

// ways are those in which a server is asked: kube-apiserver has only one, and the floor is for JSON.
func (c testCase) ways(server string) []string {
	switch {
	case server == peerName:
		return []string{full}
	case server == floorName && c.media != serverbench.JSON:
		return nil
	case c.verb == "watch":
		return []string{full, dropped, mixed}
	}
	return []string{full, dropped}
}

func (c testCase) wishes(way string) []serverbench.Wish {
	whole, less := serverbench.Wish{Media: c.media}, serverbench.Wish{Media: c.media, Drop: true}
	switch way {
	case full:
		return []serverbench.Wish{whole}
	case dropped:
		return []serverbench.Wish{less}
	}
	return []serverbench.Wish{whole, less}
}

// compare lets all ways of all servers take turns.
func (c testCase) compare(ctx context.Context, o options, servers []serverbench.Contender) (*result, error) {
	r := &result{testCase: c}
	for _, s := range servers {
		for _, way := range c.ways(s.Name) {
			row := &row{server: s.Name, way: way}
			if err := c.measureOnce(ctx, o, s, row); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", s.Name, way, err)
			}
			r.rows = append(r.rows, row)
		}
	}
	for range o.rounds {
		if err := c.round(ctx, o, servers, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// round lets each take a turn.
func (c testCase) round(ctx context.Context, o options, servers []serverbench.Contender, r *result) error {
	for _, s := range servers {
		for _, way := range c.ways(s.Name) {
			// What another turn left to do, such as collecting garbage, is not this one's.
			if err := s.Server.Settle(ctx); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			t, err := c.measure(ctx, o, s.Server, way)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", s.Name, way, err)
			}
			row := r.find(s.Name, way)
			row.turns = append(row.turns, t)
		}
	}
	return nil
}

// measure puts the load on a server.
func (c testCase) measure(ctx context.Context, o options, s *serverbench.Server, way string) (turn, error) {
	load, objects, wishes := o.load, c.objects(o), c.wishes(way)
	if c.verb == "watch" {
		return c.measureWatch(ctx, o, s, wishes)
	}
	load.Allocations = true
	what := objects.Get(wishes[0])
	if c.verb == "list" {
		what = objects.List(wishes[0])
	}
	r, err := what.Run(ctx, s, load)
	return turn{cpu: r.CPUPerOperation(), heap: r.Allocated}, err
}

// measureWatch does it twice. Memory is measured with one client that makes changes: with more, watchers get several events
// at once, the more the slower they are, and what an event takes would depend on that.
func (c testCase) measureWatch(ctx context.Context, o options, s *serverbench.Server, wishes []serverbench.Wish) (turn, error) {
	objects, load := c.objects(o), o.load
	r, err := objects.Watch(ctx, s, c.watchers, load, wishes...)
	t := turn{cpu: r.CPUPerEvent(), heap: math.NaN(), bytes: r.Bytes}
	if err != nil || !s.TellsAllocations() {
		return t, err
	}
	load.Clients, load.Allocations = 1, true
	r, err = objects.Watch(ctx, s, c.watchers, load, wishes...)
	t.heap = r.AllocatedPerEvent() / float64(c.watchers)
	return t, err
}

// measureOnce finds out what is the same in every round: how long answers are, and what clients allocate.
func (c testCase) measureOnce(ctx context.Context, o options, s serverbench.Contender, row *row) (err error) {
	objects, wish := c.objects(o), c.wishes(row.way)[0]
	if c.verb != "watch" {
		object, list, err := objects.Answers(ctx, s.Server, wish)
		if err != nil {
			return err
		}
		row.answer = object
		if c.verb == "list" {
			row.answer = list
		}
	}
	if s.Name == floorName || row.way == mixed || c.watchers > 1 {
		return nil
	}
	row.client, err = c.clientCost(ctx, s.Server, wish)
	if err == nil && s.Name == peerName {
		wish.Drop = true // which the client does by itself
		var stripped serverbench.ClientCost
		stripped, err = c.clientCost(ctx, s.Server, wish)
		row.stripped = &stripped
	}
	return err
}

func (c testCase) clientCost(ctx context.Context, s *serverbench.Server, wish serverbench.Wish) (serverbench.ClientCost, error) {
	switch c.verb {
	case "get":
		return c.many().GetCost(ctx, s, wish)
	case "list":
		return c.many().ListCost(ctx, s, wish)
	}
	return c.many().EventCost(ctx, s, wish)
}
