package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/cadastre/cadastre/test/bench/serverbench"
)

// The parameters of the cases.
var (
	managers = []int{1, 3, 8}
	watchers = []int{1, fewWatchers, many, maxWatchers}
	media    = []serverbench.Media{serverbench.JSON, serverbench.Protobuf, serverbench.CBOR}
)

// fewWatchers is the minimum number of watchers whose CPU time exceeds that of the write; many watchers use more CPU, and
// maxWatchers also more heap.
const (
	fewWatchers = 10
	many        = 100
	maxWatchers = 1000
)

// The types of requests: whole objects, without managedFields, and, for watchers, half of each.
const (
	full    = "full"
	dropped = "dropped"
	mixed   = "mixed"
)

// testCase is a case that is measured with every type of request on every server.
type testCase struct {
	verb     string // get, list, watch; begin: a watch that ends after its initial events
	detail   string // the media type, or the number of watchers
	managers int
	media    serverbench.Media
	watchers int // for watch
}

func (c testCase) name() string { return caseName(c.verb, c.detail, c.managers) }

func caseName(verb, detail string, managers int) string {
	return fmt.Sprintf("%s/%s/%d", verb, detail, managers)
}

// allCases returns the cases, ordered by the number of field managers.
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

// watchCase returns a watch case. Its name has no media type for JSON.
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

// objects returns the objects of the case; for watch only a few, so that a watcher has few initial events.
func (c testCase) objects(o options) serverbench.Managed {
	if c.verb == "watch" {
		return serverbench.Managed{Managers: c.managers, Objects: o.Load.Clients}
	}
	return c.many()
}

// many returns enough objects for a list, and for a watch whose initial events cost more than its connection.
func (c testCase) many() serverbench.Managed {
	return serverbench.Managed{Managers: c.managers, Objects: serverbench.Listed}
}

// requestTypes returns the types of requests for a server: kube-apiserver supports only whole objects, the floor supports
// only JSON and no initial events, and mixed needs several watchers.
func (c testCase) requestTypes(server string) []string {
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

func (c testCase) formats(requestType string) []serverbench.Format {
	whole, less := serverbench.Format{Media: c.media}, serverbench.Format{Media: c.media, Drop: true}
	switch requestType {
	case full:
		return []serverbench.Format{whole}
	case dropped:
		return []serverbench.Format{less}
	}
	return []serverbench.Format{whole, less}
}

// compare measures all types of requests on all servers, taking turns.
func (c testCase) compare(ctx context.Context, o options, servers []serverbench.Contender) (*result, error) {
	r := &result{testCase: c}
	for _, s := range servers {
		for _, requestType := range c.requestTypes(s.Name) {
			row := &row{server: s.Name, requestType: requestType}
			if err := c.measureOnce(ctx, o, s, row); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", s.Name, requestType, err)
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

// round runs one turn of each. The order of types alternates, so that none benefits from caches that the previous one
// has filled.
func (c testCase) round(ctx context.Context, o options, servers []serverbench.Contender, r *result, number int) error {
	for _, s := range servers {
		requestTypes := c.requestTypes(s.Name)
		if number%2 == 1 {
			slices.Reverse(requestTypes)
		}
		for _, requestType := range requestTypes {
			// Pending work of another turn, such as garbage collection, must not be attributed to this one.
			if err := s.Server.Settle(ctx); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			t, err := c.measure(ctx, o, s.Server, requestType)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", s.Name, requestType, err)
			}
			row := r.find(s.Name, requestType)
			row.turns = append(row.turns, t)
		}
	}
	return nil
}

// measure measures a turn.
func (c testCase) measure(ctx context.Context, o options, s *serverbench.Server, requestType string) (turn, error) {
	load, objects, formats := o.Load, c.objects(o), c.formats(requestType)
	load.Allocations = true
	what, times := objects.Get(formats[0]), 1.0
	switch c.verb {
	case "watch":
		return c.measureWatch(ctx, o, s, formats)
	case "list":
		what = objects.List(formats[0])
	case "begin":
		what, times = objects.Begin(formats[0]), float64(objects.Objects)
	}
	r, err := what.Run(ctx, s, load)
	return turn{cpu: r.CPUPerOperation() / times, change: math.NaN(), heap: r.Allocated / times, heapPerWatcher: math.NaN(), resident: math.NaN()}, err
}

// measureWatch measures a turn with watchers.
func (c testCase) measureWatch(ctx context.Context, o options, s *serverbench.Server, formats []serverbench.Format) (turn, error) {
	load := o.Load
	load.Allocations = true
	r, err := c.objects(o).Watch(ctx, s, c.watchers, load, formats...)
	return turn{
		cpu: r.CPUPerEvent(), change: r.Watched.CPUPerOperation(), heap: r.Watched.Allocated, heapPerWatcher: r.AllocatedPerEvent() / float64(c.watchers), bytes: r.Bytes,
		resident: float64(r.Watched.After.Memory.Resident),
	}, err
}

// measureOnce measures what is the same in every round: the size of responses, and the allocations of clients.
func (c testCase) measureOnce(ctx context.Context, o options, s serverbench.Contender, row *row) (err error) {
	objects, format := c.objects(o), c.formats(row.requestType)[0]
	if c.verb == "begin" {
		row.event, err = objects.EventSize(ctx, s.Server, format)
		return err
	}
	if c.verb != "watch" {
		object, list, err := objects.Answers(ctx, s.Server, format)
		if err != nil {
			return err
		}
		row.answer = object
		if c.verb == "list" {
			row.answer = list
		}
	}
	if s.Name == floorName || row.requestType == mixed || c.watchers > 1 {
		return nil
	}
	row.client, err = c.clientCost(ctx, s.Server, format)
	if err == nil && s.Name == peerName {
		format.Drop = true // done by the client, because kube-apiserver ignores it
		var stripped serverbench.ClientCost
		stripped, err = c.clientCost(ctx, s.Server, format)
		row.stripped = &stripped
	}
	return err
}

func (c testCase) clientCost(ctx context.Context, s *serverbench.Server, format serverbench.Format) (serverbench.ClientCost, error) {
	switch c.verb {
	case "get":
		return c.many().GetCost(ctx, s, format)
	case "list":
		return c.many().ListCost(ctx, s, format)
	}
	return c.many().EventCost(ctx, s, format)
}
