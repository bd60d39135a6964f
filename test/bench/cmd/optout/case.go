package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/cadastre/cadastre/test/bench/serverbench"
)

// The cases are all combinations of these parameters.
var (
	managers = []int{1, 3, 8} // numbers of field managers per object
	watchers = []int{1, fewWatchers, manyWatchers, maxWatchers}
	media    = []serverbench.Media{serverbench.JSON, serverbench.Protobuf, serverbench.CBOR}
)

const (
	// fewWatchers is a number of watchers whose events together cost more CPU time than the write itself.
	fewWatchers = 10
	// manyWatchers is the minimum number of watchers with which the CPU time per watcher can be measured.
	manyWatchers = 100
	// maxWatchers is the number of watchers for which heap allocations per watcher are compared too.
	maxWatchers = 1000
)

// Request types.
const (
	// full requests whole objects.
	full = "full"
	// dropped requests objects without managedFields.
	dropped = "dropped"
	// mixed is a group of watchers of which half request whole objects and half request objects without managedFields.
	mixed = "mixed"
)

// testCase is a read or a watch that is measured with every request type on every server.
type testCase struct {
	verb     string // get, list, watch, or begin: a watch that ends after its initial events
	detail   string // the media type, or for watch the number of watchers
	managers int
	media    serverbench.Media
	watchers int // the number of watchers; 0 unless the verb is watch
}

func (c testCase) name() string { return caseName(c.verb, c.detail, c.managers) }

func caseName(verb, detail string, managers int) string {
	return fmt.Sprintf("%s/%s/%d", verb, detail, managers)
}

// allCases returns all cases, ordered by the number of field managers.
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
			all = append(all, watchCase(media, manyWatchers, m))
		}
	}
	return all
}

// watchCase returns a case with the given number of watchers. The name of the case includes the media type unless it is
// JSON.
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

// objects returns the objects of the case. A watch uses only one object per client, so that a watcher receives few
// initial events.
func (c testCase) objects(o options) serverbench.ManagedObjects {
	if c.verb == "watch" {
		return serverbench.ManagedObjects{Managers: c.managers, Objects: o.Load.Clients}
	}
	return c.listedObjects()
}

// listedObjects returns the 2,000 objects of list cases. They are also enough for a watch whose initial events cost more
// than its connection.
func (c testCase) listedObjects() serverbench.ManagedObjects {
	return serverbench.ManagedObjects{Managers: c.managers, Objects: serverbench.Listed}
}

// requestTypes returns the request types that are measured on a server. kube-apiserver supports only whole objects, the
// lower bound supports only JSON and no initial events, and mixed requires more than one watcher.
func (c testCase) requestTypes(server string) []string {
	switch {
	case server == kubeAPIServerName:
		return []string{full}
	case server == lowerBoundName && (c.media != serverbench.JSON || c.verb == "begin"):
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

// compare measures the case with all request types on all servers, round by round.
func (c testCase) compare(ctx context.Context, o options, servers []serverbench.RunningServer) (*result, error) {
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

// round measures one turn of each request type on each server. The order of the request types alternates, so that no
// request type always benefits from caches that the previous request type has filled.
func (c testCase) round(ctx context.Context, o options, servers []serverbench.RunningServer, r *result, number int) error {
	for _, s := range servers {
		requestTypes := c.requestTypes(s.Name)
		if number%2 == 1 {
			slices.Reverse(requestTypes)
		}
		for _, requestType := range requestTypes {
			// Work that a previous turn left pending, such as garbage collection, must not be attributed to this turn.
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

// measure measures one turn of the case with requestType.
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
		what, times = objects.InitialEvents(formats[0]), float64(objects.Objects)
	}
	r, err := what.Run(ctx, s, load)
	return turn{cpu: r.CPUPerOperation() / times, change: math.NaN(), heap: r.Allocated / times, heapPerWatcher: math.NaN(), resident: math.NaN()}, err
}

// measureWatch measures one turn of a watch case.
func (c testCase) measureWatch(ctx context.Context, o options, s *serverbench.Server, formats []serverbench.Format) (turn, error) {
	load := o.Load
	load.Allocations = true
	r, err := c.objects(o).Watch(ctx, s, c.watchers, load, formats...)
	return turn{
		cpu: r.CPUPerEvent(), change: r.Watched.CPUPerOperation(), heap: r.Watched.Allocated, heapPerWatcher: r.AllocatedPerEvent() / float64(c.watchers), bytes: r.Bytes,
		resident: float64(r.Watched.After.Memory.Resident),
	}, err
}

// measureOnce measures the values that are equal in every round: the size of responses, and the allocations of
// client-go.
func (c testCase) measureOnce(ctx context.Context, o options, s serverbench.RunningServer, row *row) (err error) {
	objects, format := c.objects(o), c.formats(row.requestType)[0]
	if c.verb == "begin" {
		row.event, err = objects.EventSize(ctx, s.Server, format)
		return err
	}
	if c.verb != "watch" {
		object, list, err := objects.Responses(ctx, s.Server, format)
		if err != nil {
			return err
		}
		row.body = object
		if c.verb == "list" {
			row.body = list
		}
	}
	if s.Name == lowerBoundName || row.requestType == mixed || c.watchers > 1 {
		return nil
	}
	row.client, err = c.clientCost(ctx, s.Server, format)
	if err == nil && s.Name == kubeAPIServerName {
		format.Drop = true // the client removes managedFields, because kube-apiserver sends them in any case
		var stripped serverbench.ClientCost
		stripped, err = c.clientCost(ctx, s.Server, format)
		row.stripped = &stripped
	}
	return err
}

func (c testCase) clientCost(ctx context.Context, s *serverbench.Server, format serverbench.Format) (serverbench.ClientCost, error) {
	switch c.verb {
	case "get":
		return c.listedObjects().GetCost(ctx, s, format)
	case "list":
		return c.listedObjects().ListCost(ctx, s, format)
	}
	return c.listedObjects().EventCost(ctx, s, format)
}
