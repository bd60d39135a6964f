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
	"github.com/cadastre/cadastre/test/bench/lowerbound"
)

// The operations on strategic merge patches.
const (
	// Make computes the patch between an object and its modified version, as kubectl edit does.
	Make Operation = "make"
	// MakeThreeWay computes the patch of kubectl apply from three inputs: the last applied configuration, the new
	// configuration and the live object.
	MakeThreeWay Operation = "make-3way"
	// Merge merges a patch into an object, as an API server does.
	Merge Operation = "merge"
)

// PatchOperations lists all operations on strategic merge patches.
var PatchOperations = []Operation{Make, MakeThreeWay, Merge}

// PatchCase is an operation on strategic merge patches of an object. Cadastre is compared with apimachinery's
// strategicpatch.
type PatchCase struct {
	Object    string
	Operation Operation
	// inputs are the arguments of the operation. Make: object and modified object. MakeThreeWay: last applied
	// configuration, new configuration and live object. Merge: object and patch.
	inputs []Input
	kind   reflect.Type
}

// Name returns OBJECT/OPERATION, which tables print and the -run flag selects.
func (c PatchCase) Name() string { return c.Object + "/" + string(c.Operation) }

// Size returns the total size of the inputs in bytes.
func (c PatchCase) Size() (size int) {
	for _, input := range c.inputs {
		size += len(input.Bytes)
	}
	return size
}

// PatchCases returns the cases of the main table that operate on strategic merge patches.
var PatchCases = sync.OnceValue(func() []PatchCase {
	var cases []PatchCase
	for _, o := range []*fixture.Object{fixture.Pod(), fixture.Deployment(3), fixture.Node(), fixture.EndpointSlice(1000)} {
		kind := goType(o.Kind)
		threeWay := PatchCase{o.Name, MakeThreeWay, []Input{NewInput(o.Config), NewInput(o.Changed), NewInput(o.Live)}, kind}
		patch, err := threeWay.runUpstream()
		if err != nil {
			panic(fmt.Errorf("%s: %w", threeWay.Name(), err))
		}
		cases = append(cases, PatchCase{o.Name, Make, []Input{NewInput(o.Live), NewInput(o.Updated)}, kind},
			threeWay, PatchCase{o.Name, Merge, []Input{NewInput(o.Live), NewInput(patch)}, kind})
	}
	return cases
})

// goType returns the Go type of kind, a built-in kind. It panics if client-go's scheme does not contain it.
func goType(kind *fixture.Kind) reflect.Type {
	object, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Name))
	if err != nil {
		panic(err)
	}
	return reflect.TypeOf(object).Elem()
}

// PatchLengths lists the list lengths of the length table.
var PatchLengths = []int{10, 100, 1000, 10_000}

// LongPatches returns the cases of the length table for lists of the given length: each patch changes the value and the
// index of every item.
func LongPatches(length int) []PatchCase {
	pod := goType(&fixture.Kind{APIVersion: "v1", Name: "Pod"})
	before, after := NewInput(podWithVariables(length, false)), NewInput(podWithVariables(length, true))
	name := fmt.Sprintf("Items/%d", length)
	return []PatchCase{
		{name, Make, []Input{before, after}, pod},
		{name, MakeThreeWay, []Input{before, after, before}, pod},
		{name, Merge, []Input{before, after}, pod},
	}
}

// podWithVariables returns a Pod with the given number of environment variables. If changed is set, all variables have
// other values than without it, in reverse order.
func podWithVariables(length int, changed bool) []byte {
	items := make([]document.Value, length)
	for i := range items {
		n, value := i, "old"
		if changed {
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

// Cadastre returns the Work that performs the case with Cadastre's library.
func (c PatchCase) Cadastre() (Work, error) {
	t, err := strategic.FromGoType(c.kind)
	if err != nil {
		return nil, err
	}
	p := &patcher{kind: t}
	return executeOnce(func() error { _, err := p.do(c); return err })
}

// Upstream returns the Work that performs the case with apimachinery's strategicpatch.
func (c PatchCase) Upstream() (Work, error) {
	return executeOnce(func() error { _, err := c.runUpstream(); return err })
}

// LowerBound returns the Work that only parses the inputs of the case and writes its output, with a JSON library.
func (c PatchCase) LowerBound(library lowerbound.Library) (Work, error) {
	output, err := c.runUpstream()
	if err != nil {
		return nil, err
	}
	var inputs [][]byte
	for _, input := range c.inputs {
		inputs = append(inputs, input.Bytes)
	}
	return library.Work(inputs, output)
}

// executeOnce executes work once and returns it with its error, so that work that fails is never measured.
func executeOnce(work Work) (Work, error) { return work, work() }

func (c PatchCase) runUpstream() ([]byte, error) {
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

// patcher performs patch cases with Cadastre's library, from bytes to bytes.
type patcher struct {
	kind *strategic.Type
	out  []byte // a buffer that every call reuses
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
