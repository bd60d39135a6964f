package differential

import (
	"math/rand/v2"
	"sync"

	"github.com/cadastre/cadastre/document"
)

// History is a sequence of requests for one object.
type History struct {
	Seed uint64
	// Resource is the name of the resource in request paths.
	Resource string
	Steps    []Step
}

// Step is one request of a history.
type Step struct {
	Verb, Address, Manager string
	Force, DryRun          bool
	// Validation is the fieldValidation parameter. It is empty if the parameter is not sent.
	Validation string
	// Agent is the User-Agent header. It determines the field manager if Manager is empty.
	Agent string
	// Media is the Content-Type header, and Accept the Accept header. If they are empty, the default of the verb is
	// used.
	Media, Accept string
	Body          document.Value
}

// objectName is the name of the object of every history. Each history has its own namespace.
const objectName = "shared"

var managers = []string{"alice", "bob", "carol"}

var vocabulary = sync.OnceValues(readKinds)

// generator generates a history from one random source, so that the seed determines the history.
type generator struct {
	*rand.Rand
	kind kind
	// exists reports whether the first request has been generated, after which the object exists.
	exists bool
	// scales reports whether the history scales the object; it then creates the object with apply.
	scales bool
	// applied maps a field manager and an API version, as "MANAGER APIVERSION", to the parts of its last apply.
	applied map[string][]document.Value
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, choices []T) T { return choices[g.IntN(len(choices))] }

// Generate returns the history that seed determines.
func Generate(seed uint64) (History, error) {
	kinds, err := vocabulary()
	if err != nil {
		return History{}, err
	}
	g := &generator{Rand: rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15)), applied: map[string][]document.Value{}}
	g.kind = pick(g, kinds)
	g.scales = g.kind.scale && g.chance(40)
	h := History{Seed: seed, Resource: g.kind.resource, Steps: []Step{g.vary(g.createStep())}}
	g.exists = true
	for range 3 + g.IntN(8) {
		h.Steps = append(h.Steps, g.vary(g.nextStep()))
	}
	return h, nil
}

// createStep returns the step that creates the object.
func (g *generator) createStep() Step {
	v := pick(g, g.kind.versions)
	if g.scales || g.chance(60) {
		return g.apply(v)
	}
	return g.send("CREATE", g.kind.address(v, ""), g.object(v, g.parts(v.parts, 4)))
}

// weightedStep is a kind of step and its relative frequency.
type weightedStep struct {
	weight int
	step   func(version) Step
}

func (g *generator) nextStep() Step {
	v := pick(g, g.kind.versions)
	choices := []weightedStep{{40, g.apply}, {2, g.read}}
	switch {
	case g.scales:
		choices = append(choices, weightedStep{20, g.scale}, weightedStep{5, g.merge}, weightedStep{5, g.strategic}, weightedStep{3, g.edit}, weightedStep{3, g.update})
	default:
		choices = append(choices, weightedStep{8, g.update}, weightedStep{10, g.edit}, weightedStep{10, g.merge}, weightedStep{12, g.strategic}, weightedStep{8, g.jsonPatch})
	}
	if len(v.status) > 0 {
		choices = append(choices, weightedStep{16, g.status})
	}
	if !g.kind.neverDeleted {
		choices = append(choices, weightedStep{3, g.remove})
	}
	total := 0
	for _, w := range choices {
		total += w.weight
	}
	at := g.IntN(total)
	for _, w := range choices {
		if at -= w.weight; at < 0 {
			return w.step(v)
		}
	}
	panic("unreachable: at is less than the total of the weights")
}

// send returns a step with the given request and a random field manager. Sometimes the step is a dry run, sets
// fieldValidation, or has an unknown field in its body.
func (g *generator) send(verb, address string, body document.Value) Step {
	s := Step{Verb: verb, Address: address, Manager: pick(g, managers), Body: body, DryRun: g.chance(5)}
	if g.chance(8) {
		s.Validation = pick(g, validations)
	}
	if g.chance(3) && body.Kind() == document.Map {
		s.Body = g.withUnknown(body)
	}
	return s
}

// vary sometimes adds preconditions or managedFields to the request s, replaces its field manager with a User-Agent, or
// changes its media type.
func (g *generator) vary(s Step) Step {
	s = g.withMediaType(g.withManagedFields(g.withPrecondition(s)))
	if s.Verb != "APPLY" && s.Manager != "" && g.chance(8) {
		s.Manager, s.Agent = "", pick(g, []string{"erin/1.2 (linux)", "alice/0.1"})
	}
	return s
}

var validations = []string{"Strict", "Warn", "Ignore"}

// objectAddress returns the address of the object at the API version of v, in the format of scripts.
func (g *generator) objectAddress(v version) string { return g.kind.address(v, g.kind.name()) }

// apply returns an apply of the parts that its field manager applied last, with one part added or removed, or an apply
// of new parts.
func (g *generator) apply(v version) Step {
	s := g.send("APPLY", g.objectAddress(v), document.Value{})
	s.Force = g.chance(40)
	key := s.Manager + " " + v.apiVersion
	parts := g.applied[key]
	switch {
	case len(parts) == 0 || g.chance(20):
		parts = g.parts(v.parts, 5)
	case g.chance(50):
		parts = without(parts, g.IntN(len(parts)))
	default:
		parts = append(without(parts, len(parts)), g.substitute(pick(g, v.parts)))
	}
	g.applied[key] = parts
	s.Body = g.object(v, parts)
	if g.chance(15) {
		s.Body = g.withIdentity(v, mergeParts(document.NewMap(), parts...)) // a partial configuration may lack required fields
	}
	return s
}

func (g *generator) update(v version) Step {
	return g.send("UPDATE", g.objectAddress(v), g.object(v, g.parts(v.parts, 4)))
}

func (g *generator) edit(v version) Step {
	return g.send("EDIT", g.objectAddress(v), g.withoutContainers(mergeParts(document.NewMap(), g.parts(v.parts, 3)...)))
}

func (g *generator) merge(v version) Step {
	return g.send("MERGE", g.objectAddress(v), g.withNulls(mergeParts(document.NewMap(), g.parts(v.parts, 3)...)))
}

func (g *generator) strategic(v version) Step {
	body := g.withDirectives(mergeParts(document.NewMap(), g.parts(v.parts, 3)...))
	return g.send("STRATEGIC", g.objectAddress(v), g.withNulls(g.withContainerDirectives(body)))
}

func (g *generator) jsonPatch(v version) Step {
	return g.send("JSONPATCH", g.objectAddress(v), g.operations(mergeParts(document.NewMap(), g.parts(v.parts, 2)...)))
}

func (g *generator) remove(v version) Step {
	return Step{Verb: "DELETE", Address: g.objectAddress(v), DryRun: g.chance(10)}
}

func (g *generator) read(v version) Step {
	return Step{Verb: "GET", Address: g.objectAddress(v)}
}

// status returns a write to the status subresource, sometimes with fields outside of the status.
func (g *generator) status(v version) Step {
	parts := g.parts(v.status, 2)
	if g.chance(20) {
		parts = append(parts, g.substitute(pick(g, v.parts)))
	}
	body := mergeParts(document.NewMap(), parts...)
	verb := pick(g, []string{"APPLY", "APPLY", "MERGE", "STRATEGIC", "EDIT", "UPDATE", "JSONPATCH"})
	switch verb {
	case "UPDATE":
		body = g.object(v, parts)
	case "JSONPATCH":
		body = g.operations(body)
	}
	s := g.send(verb, g.objectAddress(v)+"/status", body)
	if verb == "APPLY" {
		s.Body, s.Force = g.withIdentity(v, s.Body), g.chance(40)
	}
	return s
}

func (g *generator) scale(v version) Step {
	body := field("spec", field("replicas", document.NewInt(int64(g.IntN(4)))))
	verb := pick(g, []string{"APPLY", "MERGE", "EDIT", "UPDATE", "STRATEGIC", "JSONPATCH"})
	s := g.send(verb, g.objectAddress(v)+"/scale", body)
	v.apiVersion, v.kind = "autoscaling/v1", "Scale"
	switch verb {
	case "APPLY":
		s.Body, s.Force = g.withIdentity(v, s.Body), g.chance(40)
	case "UPDATE":
		s.Body = g.withIdentity(v, s.Body)
	case "JSONPATCH":
		s.Body = g.operations(body)
	}
	return s
}
