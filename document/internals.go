package document

import (
	"github.com/cadastre/cadastre/internal/lib/access"
	"github.com/cadastre/cadastre/internal/lib/arena"
)

// internals makes unexported parts of this package available to internal/lib/fastdoc: parsing into reused memory,
// parsing with a base document, unparsed values, and building containers without copies.
type internals struct{}

func init() { access.RegisterDocument[Value, Field, Limits](internals{}) }

func (internals) ParseJSON(text string, limits Limits, base Value, unparsedPath []string) (Value, error) {
	return parseJSON(nil, text, limits, unparsedPath, base)
}

func (internals) NewParser() access.Parser[Value, Limits] { return new(reusableParser) }

func (internals) NewContainers() access.Containers[Value, Field] { return new(containers) }

func (internals) Members(container Value) []Field {
	if container.d == nil {
		return nil
	}
	return container.d.members
}

func (internals) HasPlainNames(v Value) bool {
	if v.d == nil || v.d.nodes == nil {
		return false
	}
	for i, children := 0, v.children(); i < len(children); i++ {
		if children[i].form&escapableName != 0 {
			return false
		}
	}
	return true
}

func (internals) ScalarDifferences(a, b Value) (differ uint64, ok bool) {
	return scalarDifferences(a, b)
}

// containers allocates, in chunks, lists and maps that consist of existing fields or items instead of parsed text.
type containers struct{ docs arena.Arena[doc] }

// maxContainers is the maximum number of docs in one chunk of the allocator.
const maxContainers = 64

func (c *containers) Map(fields []Field) Value { return c.container(Map, fields) }

func (c *containers) List(items []Field) Value { return c.container(List, items) }

func (c *containers) container(kind Kind, members []Field) Value {
	d := &c.docs.Take(1, maxContainers)[0]
	d.kind, d.members = kind, members
	return Value{d: d}
}

func (c *containers) Reset() { c.docs = arena.Arena[doc]{} }

func (c *containers) Recycle() { c.docs.Recycle(maxScratch / 8) }
