package strategic

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// The limits of a JSON patch, the same as in Kubernetes.
const (
	// MaxOperations is the maximum number of operations of a patch.
	MaxOperations = 10_000
	// MaxCopiedBytes is the maximum total size, in bytes, of the JSON that copy operations add.
	MaxCopiedBytes = 3 << 20
)

// ApplyJSONPatch applies a JSON patch (RFC 6902) to an object. A patch that changes nothing returns the object
// itself. Errors are of type [*Error]; their path starts with the index of the operation.
//
// As in Kubernetes, ApplyJSONPatch accepts more than the RFC allows: replace adds a missing field, a negative index
// counts from the end, a missing value is null, and so is a missing field that is tested or copied. A null patch has no
// operations.
func ApplyJSONPatch(object, patch document.Value) (document.Value, error) {
	if patch.IsNull() {
		return object, nil
	}
	if patch.Kind() != document.List {
		return document.Value{}, malformed("a list of operations", describe(patch), "")
	}
	operations := make([]operation, patch.Len())
	for i, item := range patch.Items() {
		var err error
		if operations[i], err = readOperation(item); err != nil {
			return document.Value{}, prefixIndex(err, i)
		}
	}
	if len(operations) > MaxOperations {
		return document.Value{}, &Error{Reason: TooLarge, Expected: fmt.Sprintf("at most %d operations", MaxOperations),
			Received: strconv.Itoa(len(operations)), Advice: "send several patches"}
	}
	p := &jsonPatch{root: &node{value: object}}
	for i := range operations {
		if err := p.apply(&operations[i]); err != nil {
			return document.Value{}, prefixIndex(err, i)
		}
	}
	return p.finish(object), nil
}

// operation is one decoded operation of a JSON patch.
type operation struct {
	op         string
	path, from string
	noPath     bool
	noFrom     bool
	value      document.Value // null if the operation has no value
}

// readOperation decodes one operation of a JSON patch.
func readOperation(v document.Value) (o operation, err error) {
	if v.Kind() != document.Map && !v.IsNull() {
		return o, malformed("an operation, a map with op and path", describe(v), "")
	}
	if o.value = v.Get("value"); o.value.IsAbsent() {
		o.value = document.NewNull()
	}
	if o.op, _, err = readText(v, "op"); err != nil {
		return o, err
	}
	if o.path, o.noPath, err = readText(v, "path"); err != nil {
		return o, err
	}
	o.from, o.noFrom, err = readText(v, "from")
	return o, err
}

// readText returns the optional string field name of the operation v. missing reports that v has no such field. It
// returns an error if the field is not a string.
func readText(v document.Value, name string) (text string, missing bool, err error) {
	switch field := v.Get(name); field.Kind() {
	case document.String:
		return field.Text(), false, nil
	case document.Absent, document.Null:
		return "", true, nil
	default:
		return "", false, prefixField(malformed("a string", describe(field), ""), name)
	}
}

// UnknownFields returns the paths of unknown fields in the operations of a JSON patch, such as [1].vaule, for
// warnings. ApplyJSONPatch ignores such fields.
func UnknownFields(patch document.Value) (paths []string) {
	if patch.Kind() != document.List {
		return nil
	}
	for i, item := range patch.Items() {
		if item.Kind() != document.Map {
			continue
		}
		for name := range item.Fields() {
			switch name {
			case "op", "path", "from", "value":
			default:
				paths = append(paths, indexStep(i)+"."+name)
			}
		}
	}
	return paths
}

// jsonPatch is the state of applying a JSON patch.
type jsonPatch struct {
	root   *node
	copied int
	build  fastdoc.Builder
}

// finish returns the patched object, or the original object itself if the patched object equals it.
func (p *jsonPatch) finish(object document.Value) document.Value {
	return liveIfEqual(object, p.root.toValue(&p.build))
}

// apply applies one operation.
func (p *jsonPatch) apply(o *operation) error {
	switch o.op {
	case "add":
		return p.add(o, &node{value: o.value})
	case "remove":
		return p.remove(o)
	case "replace":
		return p.replace(o)
	case "move":
		return p.move(o)
	case "copy":
		return p.copy(o)
	case "test":
		return p.test(o)
	}
	return prefixField(unprocessable("add, remove, replace, move, copy or test", "the operation "+strconv.Quote(clip(o.op)), ""), "op")
}

// target is the location that a JSON pointer selects: a container, and the field name or index in it.
type target struct {
	container *node
	step      string
}

// find returns the target of a JSON pointer. The container that the target names must exist; the field or item in the
// container need not exist.
func (p *jsonPatch) find(pointer string, missing bool) (target, error) {
	if missing {
		return target{}, unprocessable("a pointer such as /metadata/labels", "none", "")
	}
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return target{}, unprocessable("a pointer to a field or an item, which starts with /", strconv.Quote(clip(pointer)), "")
	}
	at := p.root
	for {
		step, more, deeper := strings.Cut(rest, "/")
		step = unescape(step)
		if !at.expand() {
			return target{}, unprocessable("a map or a list before "+strconv.Quote(clip(step)), describe(at.value), "")
		}
		if !deeper {
			return target{at, step}, nil
		}
		next, err := at.get(step)
		if err != nil {
			return target{}, err
		}
		if next == nil {
			return target{}, unprocessable("an existing path", strconv.Quote(clip(pointer))+" without the field "+strconv.Quote(clip(step)),
				"add the containing maps first")
		}
		at, rest = next, more
	}
}

// unescape decodes a reference token of a JSON pointer (~0 and ~1). An invalid escape is kept unchanged.
func unescape(step string) string {
	if !strings.Contains(step, "~") {
		return step
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
}

func (p *jsonPatch) findPath(o *operation) (target, error) {
	at, err := p.find(o.path, o.noPath)
	if err != nil {
		return at, prefixField(err, "path")
	}
	return at, nil
}

func (p *jsonPatch) findFrom(o *operation) (target, error) {
	at, err := p.find(o.from, o.noFrom)
	if err != nil {
		return at, prefixField(err, "from")
	}
	return at, nil
}

func (p *jsonPatch) add(o *operation, value *node) error {
	at, err := p.findPath(o)
	if err != nil {
		return err
	}
	if err := at.container.add(at.step, value); err != nil {
		return prefixField(err, "path")
	}
	return nil
}

func (p *jsonPatch) remove(o *operation) error {
	at, err := p.findPath(o)
	if err != nil {
		return err
	}
	if err := at.container.remove(at.step); err != nil {
		return prefixField(err, "path")
	}
	return nil
}

func (p *jsonPatch) replace(o *operation) error {
	if o.path == "" && !o.noPath {
		if k := o.value.Kind(); k != document.Map && k != document.List {
			return prefixField(unprocessable("a map or a list as the new object", describe(o.value), ""), "value")
		}
		p.root = &node{value: o.value}
		return nil
	}
	at, err := p.findPath(o)
	if err != nil {
		return err
	}
	if err := at.container.set(at.step, &node{value: o.value}); err != nil {
		return prefixField(err, "path")
	}
	return nil
}

func (p *jsonPatch) move(o *operation) error {
	at, err := p.findFrom(o)
	if err != nil {
		return err
	}
	value, err := at.container.get(at.step)
	if err == nil {
		err = at.container.remove(at.step)
	}
	if err != nil {
		return prefixField(err, "from")
	}
	return p.add(o, value)
}

func (p *jsonPatch) copy(o *operation) error {
	at, err := p.findFrom(o)
	if err != nil {
		return err
	}
	from, err := at.container.get(at.step)
	if err != nil {
		return prefixField(err, "from")
	}
	value := document.NewNull()
	if from != nil {
		value = from.toValue(&p.build)
	}
	if p.copied += value.JSONSize(); p.copied > MaxCopiedBytes {
		return unprocessable(fmt.Sprintf("at most %d bytes copied by one patch", MaxCopiedBytes),
			strconv.Itoa(p.copied), "send several patches")
	}
	return p.add(o, &node{value: value})
}

func (p *jsonPatch) test(o *operation) error {
	received := p.root
	if o.path != "" || o.noPath {
		at, err := p.findPath(o)
		if err != nil {
			return err
		}
		if received, err = at.container.get(at.step); err != nil {
			return prefixField(err, "path")
		}
	}
	value := document.NewNull()
	if received != nil {
		value = received.toValue(&p.build)
	}
	if !document.Equal(value, o.value) {
		return &Error{
			Reason: TestFailed, Expected: "the value " + show(o.value) + " at " + strconv.Quote(clip(o.path)), Received: show(value),
			Advice: "the test operation failed",
		}
	}
	return nil
}
