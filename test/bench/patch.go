package bench

import (
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/strategic"
	"github.com/cadastre/cadastre/test/bench/fixture"
	"github.com/cadastre/cadastre/test/bench/floor"
)

// Operations on strategic merge patches.
const (
	// Make computes the patch between an object and its next state, as kubectl edit does.
	Make Operation = "make"
	// MakeThreeWay computes the patch of kubectl apply, from the last configuration, the configuration and the live
	// object.
	MakeThreeWay Operation = "make-3way"
	// Merge merges a patch into an object, as the server does.
	Merge Operation = "merge"
)

// PatchOperations lists all operations on patches.
var PatchOperations = []Operation{Make, MakeThreeWay, Merge}

// PatchCase is an operation on patches of an object. The peer is apimachinery's strategicpatch.
type PatchCase struct {
	Object    string
	Operation Operation
	// inputs are: object and next state; last configuration, configuration and object; or object and patch.
	inputs []Input
	kind   reflect.Type
}

// Name returns the name of the case in tables and for the -run flag.
func (c PatchCase) Name() string { return c.Object + "/" + string(c.Operation) }

// Size returns the size of the inputs in bytes.
func (c PatchCase) Size() (size int) {
	for _, input := range c.inputs {
		size += len(input.Bytes)
	}
	return size
}

// PatchCases are the cases of the main table.
var PatchCases = sync.OnceValue(func() []PatchCase {
	var cases []PatchCase
	for _, o := range []*fixture.Object{fixture.Pod(), fixture.Deployment(3), fixture.Node(), fixture.EndpointSlice(1000)} {
		kind := goType(o.Kind)
		threeWay := PatchCase{o.Name, MakeThreeWay, []Input{NewInput(o.Config), NewInput(o.Changed), NewInput(o.Live)}, kind}
		patch, err := threeWay.byPeer()
		if err != nil {
			panic(fmt.Errorf("%s: %w", threeWay.Name(), err))
		}
		cases = append(cases, PatchCase{o.Name, Make, []Input{NewInput(o.Live), NewInput(o.Updated)}, kind},
			threeWay, PatchCase{o.Name, Merge, []Input{NewInput(o.Live), NewInput(patch)}, kind})
	}
	return cases
})

// goType returns the Go type of a built-in kind.
func goType(kind *fixture.Kind) reflect.Type {
	object, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Name))
	if err != nil {
		panic(err)
	}
	return reflect.TypeOf(object).Elem()
}

// PatchLengths are the lengths of the lists in the length table.
var PatchLengths = []int{10, 100, 1000, 10_000}

// LongPatches returns the cases of the length table: a list of that length, all of whose items change their value and
// order.
func LongPatches(length int) []PatchCase {
	pod := goType(&fixture.Kind{APIVersion: "v1", Name: "Pod"})
	before, after := NewInput(variables(length, false)), NewInput(variables(length, true))
	name := fmt.Sprintf("Items/%d", length)
	return []PatchCase{
		{name, Make, []Input{before, after}, pod},
		{name, MakeThreeWay, []Input{before, after, before}, pod},
		{name, Merge, []Input{before, after}, pod},
	}
}

// variables returns a pod with a number of environment variables; with other values and reversed order if other is set.
func variables(length int, other bool) []byte {
	items := make([]document.Value, length)
	for i := range items {
		n, value := i, "old"
		if other {
			n, value = length-1-i, "new"
		}
		items[i] = document.NewMap(document.Field{Name: "name", Value: document.NewString(fmt.Sprintf("VARIABLE_%d", n))},
			document.Field{Name: "value", Value: document.NewString(value)})
	}
	container := document.NewMap(document.Field{Name: "name", Value: document.NewString("main")},
		document.Field{Name: "env", Value: document.NewList(items...)})
	spec := document.NewMap(document.Field{Name: "containers", Value: document.NewList(container)})
	return []byte(document.NewMap(document.Field{Name: "spec", Value: spec}).JSON())
}

// Ours returns the work of our library for the case.
func (c PatchCase) Ours() (Work, error) {
	t, err := strategic.FromGoType(c.kind)
	if err != nil {
		return nil, err
	}
	p := &patcher{kind: t}
	return checked(func() error { _, err := p.do(c); return err })
}

// Peer returns the work of strategicpatch for the case.
func (c PatchCase) Peer() (Work, error) {
	return checked(func() error { _, err := c.byPeer(); return err })
}

// Floor returns the work of parsing the inputs and writing the output of the case.
func (c PatchCase) Floor(library floor.Library) (Work, error) {
	output, err := c.byPeer()
	if err != nil {
		return nil, err
	}
	var inputs [][]byte
	for _, input := range c.inputs {
		inputs = append(inputs, input.Bytes)
	}
	return library.Work(inputs, output)
}

// checked executes the work once, so that a failing work is never measured.
func checked(work Work) (Work, error) { return work, work() }

func (c PatchCase) byPeer() ([]byte, error) {
	object := reflect.New(c.kind).Interface()
	switch c.Operation {
	case Make:
		return strategicpatch.CreateTwoWayMergePatch(c.inputs[0].Bytes, c.inputs[1].Bytes, object)
	case MakeThreeWay:
		meta, err := strategicpatch.NewPatchMetaFromStruct(object)
		if err != nil {
			return nil, err
		}
		return strategicpatch.CreateThreeWayMergePatch(c.inputs[0].Bytes, c.inputs[1].Bytes, c.inputs[2].Bytes, meta, true)
	case Merge:
		return strategicpatch.StrategicMergePatch(c.inputs[0].Bytes, c.inputs[1].Bytes, object)
	}
	panic("unknown operation " + c.Operation)
}

// patcher runs our library, from bytes to bytes.
type patcher struct {
	kind *strategic.Type
	out  []byte // a reused buffer, as in the floor
}

func (p *patcher) do(c PatchCase) (out []byte, err error) {
	in := c.inputs
	switch c.Operation {
	case Make:
		out, err = strategic.AppendDiff(p.out[:0], in[0].Text, in[1].Text, p.kind)
	case MakeThreeWay:
		out, err = strategic.ThreeWay{Type: p.kind, Overwrite: true}.AppendDiff(p.out[:0], in[0].Text, in[1].Text, in[2].Text)
	case Merge:
		out, err = strategic.AppendMerge(p.out[:0], in[0].Text, in[1].Text, p.kind)
	default:
		panic("unknown operation " + c.Operation)
	}
	p.out = out
	return out, err
}
