package differential

import (
	"math/rand/v2"
	"sync"

	"github.com/cadastre/cadastre/document"
)

// A History is requests about one object, in their order.
type History struct {
	Seed uint64
	// Resource is what the object's kind is called in addresses.
	Resource string
	Steps    []Step
}

// A Step is a request, in the words of scripts.
type Step struct {
	Verb, Address, Manager string
	Force, DryRun          bool
	// Validation is what shall become of fields that the kind does not have; empty if nothing is said.
	Validation string
	// Agent is sent as the name of the program. It is the manager where there is no other.
	Agent string
	// Media is what the body is sent as, and Accept what the answer shall be; empty if it is what the verb has.
	Media, Accept string
	Body          document.Value
}

// objectName is that of every history's object: each has a namespace of its own.
const objectName = "shared"

var managers = []string{"alice", "bob", "carol"}

var vocabulary = sync.OnceValues(readKinds)

// generator draws everything from one source, so that a seed tells a whole history.
type generator struct {
	*rand.Rand
	kind kind
	// isMade says that there was a request already.
	isMade bool
	// scales says that the object is scaled, and otherwise only applied.
	scales bool
	// chosen are the parts that a manager applied last, by manager and version.
	chosen map[string][]document.Value
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func one[T any](g *generator, choices []T) T { return choices[g.IntN(len(choices))] }

// Generate makes the history of a seed.
func Generate(seed uint64) (History, error) {
	kinds, err := vocabulary()
	if err != nil {
		return History{}, err
	}
	g := &generator{Rand: rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15)), chosen: map[string][]document.Value{}}
	g.kind = one(g, kinds)
	g.scales = g.kind.scale && g.chance(40)
	h := History{Seed: seed, Resource: g.kind.resource, Steps: []Step{g.varied(g.first())}}
	g.isMade = true
	for range 3 + g.IntN(8) {
		h.Steps = append(h.Steps, g.varied(g.step()))
	}
	return h, nil
}

// first makes the object.
func (g *generator) first() Step {
	v := one(g, g.kind.versions)
	if g.scales || g.chance(60) {
		return g.apply(v)
	}
	return g.send("CREATE", g.kind.address(v, ""), g.object(v, g.parts(v.parts, 4)))
}

// A way is something that can be asked, and how often it is.
type way struct {
	weight int
	step   func(version) Step
}

func (g *generator) step() Step {
	v := one(g, g.kind.versions)
	ways := []way{{40, g.apply}, {2, g.read}}
	switch {
	case g.scales:
		ways = append(ways, way{20, g.scale}, way{5, g.merge}, way{5, g.strategic}, way{3, g.edit}, way{3, g.update})
	default:
		ways = append(ways, way{8, g.update}, way{10, g.edit}, way{10, g.merge}, way{12, g.strategic}, way{8, g.jsonPatch})
	}
	if len(v.status) > 0 {
		ways = append(ways, way{16, g.status})
	}
	if !g.kind.stays {
		ways = append(ways, way{3, g.remove})
	}
	total := 0
	for _, w := range ways {
		total += w.weight
	}
	at := g.IntN(total)
	for _, w := range ways {
		if at -= w.weight; at < 0 {
			return w.step(v)
		}
	}
	panic("unreachable: at was less than the total")
}

// send is a request by one of the managers.
func (g *generator) send(verb, address string, body document.Value) Step {
	s := Step{Verb: verb, Address: address, Manager: one(g, managers), Body: body, DryRun: g.chance(5)}
	if g.chance(8) {
		s.Validation = one(g, validations)
	}
	if g.chance(3) && body.Kind() == document.Map {
		s.Body = g.withUnknown(body)
	}
	return s
}

// varied sometimes says more about the object as it is, or is by a program that does not say its name, or in another form.
func (g *generator) varied(s Step) Step {
	s = g.inAnotherForm(g.withOwners(g.withCondition(s)))
	if s.Verb != "APPLY" && s.Manager != "" && g.chance(8) {
		s.Manager, s.Agent = "", one(g, []string{"erin/1.2 (linux)", "alice/0.1"})
	}
	return s
}

var validations = []string{"Strict", "Warn", "Ignore"}

// here is the address of the object.
func (g *generator) here(v version) string { return g.kind.address(v, g.kind.name()) }

// apply sends what the manager applied last with a part more or less, or something new.
func (g *generator) apply(v version) Step {
	s := g.send("APPLY", g.here(v), document.Value{})
	s.Force = g.chance(40)
	who := s.Manager + " " + v.apiVersion
	parts := g.chosen[who]
	switch {
	case len(parts) == 0 || g.chance(20):
		parts = g.parts(v.parts, 5)
	case g.chance(50):
		parts = without(parts, g.IntN(len(parts)))
	default:
		parts = append(without(parts, len(parts)), g.drawn(one(g, v.parts)))
	}
	g.chosen[who] = parts
	s.Body = g.object(v, parts)
	if g.chance(15) {
		s.Body = g.named(v, merged(document.NewMap(), parts...)) // without what makes the object valid
	}
	return s
}

func (g *generator) update(v version) Step {
	return g.send("UPDATE", g.here(v), g.object(v, g.parts(v.parts, 4)))
}

func (g *generator) edit(v version) Step {
	return g.send("EDIT", g.here(v), g.withoutWholes(merged(document.NewMap(), g.parts(v.parts, 3)...)))
}

func (g *generator) merge(v version) Step {
	return g.send("MERGE", g.here(v), g.withNulls(merged(document.NewMap(), g.parts(v.parts, 3)...)))
}

func (g *generator) strategic(v version) Step {
	body := g.withDirectives(merged(document.NewMap(), g.parts(v.parts, 3)...))
	return g.send("STRATEGIC", g.here(v), g.withNulls(g.withOrders(body)))
}

func (g *generator) jsonPatch(v version) Step {
	return g.send("JSONPATCH", g.here(v), g.operations(merged(document.NewMap(), g.parts(v.parts, 2)...)))
}

func (g *generator) remove(v version) Step {
	return Step{Verb: "DELETE", Address: g.here(v), DryRun: g.chance(10)}
}

func (g *generator) read(v version) Step {
	return Step{Verb: "GET", Address: g.here(v)}
}

// status writes to the subresource, sometimes also what may not be written there.
func (g *generator) status(v version) Step {
	parts := g.parts(v.status, 2)
	if g.chance(20) {
		parts = append(parts, g.drawn(one(g, v.parts)))
	}
	body := merged(document.NewMap(), parts...)
	verb := one(g, []string{"APPLY", "APPLY", "MERGE", "STRATEGIC", "EDIT", "UPDATE", "JSONPATCH"})
	switch verb {
	case "UPDATE":
		body = g.object(v, parts)
	case "JSONPATCH":
		body = g.operations(body)
	}
	s := g.send(verb, g.here(v)+"/status", body)
	if verb == "APPLY" {
		s.Body, s.Force = g.named(v, s.Body), g.chance(40)
	}
	return s
}

func (g *generator) scale(v version) Step {
	body := field("spec", field("replicas", document.NewInt(int64(g.IntN(4)))))
	verb := one(g, []string{"APPLY", "MERGE", "EDIT", "UPDATE", "STRATEGIC", "JSONPATCH"})
	s := g.send(verb, g.here(v)+"/scale", body)
	v.apiVersion, v.kind = "autoscaling/v1", "Scale"
	switch verb {
	case "APPLY":
		s.Body, s.Force = g.named(v, s.Body), g.chance(40)
	case "UPDATE":
		s.Body = g.named(v, s.Body)
	case "JSONPATCH":
		s.Body = g.operations(body)
	}
	return s
}
