package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/cadastre/cadastre/test/bench/serverbench"
)

// What is varied.
var (
	managers = []int{1, 3, 8}
	watchers = []int{1, few, many, most}
	media    = []serverbench.Media{serverbench.JSON, serverbench.Protobuf, serverbench.CBOR}
)

// few watchers take so much CPU that it can be told from that of the write that they hear of, many take more, and most
// also more of the heap.
const (
	few  = 10
	many = 100
	most = 1000
)

// The ways in which answers are asked for. Mixed watchers are half and half.
const (
	full    = "full"
	dropped = "dropped"
	mixed   = "mixed"
)

// A testCase is something that is measured in every way on every server.
type testCase struct {
	verb     string // get, list, watch; begin: a watch of one that hears of many objects and goes
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
		for _, verb := range []string{"get", "list", "begin"} {
			for _, media := range media {
				all = append(all, testCase{verb: verb, detail: media.Name(), managers: m, media: media})
			}
		}
		for _, n := range watchers {
			all = append(all, watchCase(serverbench.JSON, n, m))
		}
		for _, media := range media[1:] {
			all = append(all, watchCase(media, many, m))
		}
	}
	return all
}

// watchCase is called by its number of watchers alone if they want JSON.
func watchCase(media serverbench.Media, watchers, managers int) testCase {
	detail := fmt.Sprint(watchers)
	if media != serverbench.JSON {
		detail += "-" + media.Name()
	}
	return testCase{verb: "watch", detail: detail, managers: managers, media: media, watchers: watchers}
}

func selectedCases(o options) (selected []testCase) {
	for _, c := range allCases() {
		if o.Selected.MatchString(c.name()) {
			selected = append(selected, c)
		}
	}
	return selected
}

// objects are what the case is about: few of those that are watched, so that each watcher hears of all when it
// begins.
func (c testCase) objects(o options) serverbench.Managed {
	if c.verb == "watch" {
		return serverbench.Managed{Managers: c.managers, Objects: o.Load.Clients}
	}
	return c.many()
}

// many are objects enough for a list, and for a watch to begin with more events than connecting costs.
func (c testCase) many() serverbench.Managed {
	return serverbench.Managed{Managers: c.managers, Objects: serverbench.Listed}
}

// ways are those in which a server is asked: kube-apiserver has only one, the floor is for JSON and begins with
// nothing, and one watcher is not half and half.
func (c testCase) ways(server string) []string {
	switch {
	case server == peerName:
		return []string{full}
	case server == floorName && (c.media != serverbench.JSON || c.verb == "begin"):
		return nil
	case c.watchers > 1:
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
	for number := range o.Rounds {
		if err := c.round(ctx, o, servers, r, number); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// round lets each take a turn. Ways go first in turns, so that none gains by what the one before it left warm.
func (c testCase) round(ctx context.Context, o options, servers []serverbench.Contender, r *result, number int) error {
	for _, s := range servers {
		ways := c.ways(s.Name)
		if number%2 == 1 {
			slices.Reverse(ways)
		}
		for _, way := range ways {
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
	load, objects, wishes := o.Load, c.objects(o), c.wishes(way)
	load.Allocations = true
	what, times := objects.Get(wishes[0]), 1.0
	switch c.verb {
	case "watch":
		return c.measureWatch(ctx, o, s, wishes)
	case "list":
		what = objects.List(wishes[0])
	case "begin":
		what, times = objects.Begin(wishes[0]), float64(objects.Objects)
	}
	r, err := what.Run(ctx, s, load)
	return turn{cpu: r.CPUPerOperation() / times, change: math.NaN(), heap: r.Allocated / times, heard: math.NaN(), resident: math.NaN()}, err
}

// measureWatch measures watchers, whose events are a few at a time.
func (c testCase) measureWatch(ctx context.Context, o options, s *serverbench.Server, wishes []serverbench.Wish) (turn, error) {
	load := o.Load
	load.Allocations = true
	r, err := c.objects(o).Watch(ctx, s, c.watchers, load, wishes...)
	return turn{
		cpu: r.CPUPerEvent(), change: r.Watched.CPUPerOperation(), heap: r.Watched.Allocated, heard: r.AllocatedPerEvent() / float64(c.watchers), bytes: r.Bytes,
		resident: float64(r.Watched.After.Memory.Resident),
	}, err
}

// measureOnce finds out what is the same in every round: how long answers are, and what clients allocate.
func (c testCase) measureOnce(ctx context.Context, o options, s serverbench.Contender, row *row) (err error) {
	objects, wish := c.objects(o), c.wishes(row.way)[0]
	if c.verb == "begin" {
		row.event, err = objects.EventSize(ctx, s.Server, wish)
		return err
	}
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
