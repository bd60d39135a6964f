package bench

import (
	"sync"

	"github.com/cadastre/cadastre/test/bench/fixture"
)

// Operation names the operation that a case measures.
type Operation string

// The operations on apply engines.
const (
	Create   Operation = "create"   // apply of an object that does not exist
	Change   Operation = "change"   // apply that changes fields which only its field manager owns
	NoOp     Operation = "no-op"    // apply of the same configuration again
	Conflict Operation = "conflict" // apply that fails with a conflict
	Update   Operation = "update"   // replacement of the whole object
	Unset    Operation = "unset"    // apply with unset markers
)

// Operations lists all operations on apply engines.
var Operations = []Operation{Create, Change, NoOp, Conflict, Update, Unset}

// Case is an operation on an object, measured with apply engines.
type Case struct {
	Object    *fixture.Object
	Operation Operation
}

// Name returns OBJECT/OPERATION, which tables print and the -run flag selects.
func (c Case) Name() string { return c.Object.Name + "/" + string(c.Operation) }

// Size returns the size of the live object in bytes.
func (c Case) Size() int { return len(c.Object.Live) }

// request contains the arguments of one call of an Engine.
type request struct {
	live, sent Input
	manager    string
	force      bool
	isUpdate   bool
}

// request returns the request of the case. hasUnset reports whether the engine supports unset markers; for an engine
// without them, the unset operation sets new values instead.
func (c Case) request(hasUnset bool) request {
	o := c.Object
	switch c.Operation {
	case Create:
		return request{sent: NewInput(o.Config), manager: o.Manager}
	case Change:
		return request{live: NewInput(o.Live), sent: NewInput(o.Changed), manager: o.Manager}
	case NoOp:
		return request{live: NewInput(o.Live), sent: NewInput(o.Config), manager: o.Manager}
	case Conflict:
		return request{live: NewInput(o.Live), sent: NewInput(o.Foreign), manager: "intruder"}
	case Update:
		return request{live: NewInput(o.Live), sent: NewInput(o.Updated), manager: "editor", isUpdate: true}
	case Unset:
		sent := o.Overridden
		if hasUnset {
			sent = o.Unset
		}
		return request{live: NewInput(o.Live), sent: NewInput(sent), manager: o.Manager, force: true}
	}
	panic("unknown operation " + c.Operation)
}

func (r request) do(engine Engine) ([]byte, error) {
	if r.isUpdate {
		return engine.Update(r.live, r.sent, r.manager)
	}
	return engine.Apply(r.live, r.sent, r.manager, r.force)
}

// Cases returns the cases of the main table: every object with every operation.
var Cases = sync.OnceValue(func() []Case {
	return allOperations(
		fixture.Pod(),
		fixture.Deployment(1),
		fixture.Deployment(3),
		fixture.Deployment(8),
		fixture.Node(),
		fixture.EndpointSlice(1000),
		fixture.Definition(),
		fixture.Fleet("CustomResource", 190),
	)
})

// Scales are the scale factors of the linearity table.
var Scales = []int{1, 10, 100}

// ScaledCases returns the cases of the linearity table, one slice for each element of Scales: fleets of 10, 100 and
// 1,000 units.
var ScaledCases = sync.OnceValue(func() [][]Case {
	var byScale [][]Case
	for _, scale := range Scales {
		byScale = append(byScale, allOperations(fixture.Fleet("Fleet", 10*scale)))
	}
	return byScale
})

func allOperations(objects ...*fixture.Object) []Case {
	var cases []Case
	for _, o := range objects {
		for _, operation := range Operations {
			cases = append(cases, Case{Object: o, Operation: operation})
		}
	}
	return cases
}
