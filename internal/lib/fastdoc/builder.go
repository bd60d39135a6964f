package fastdoc

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/access"
	"github.com/cadastre/cadastre/internal/lib/arena"
)

// Builder builds lists and maps ("containers") from existing values with few allocations: fields and items are
// collected on one stack, then moved to memory that many containers share. The caller must push the fields of a map
// sorted by name and without duplicates, unless it calls SortedMap; this is not checked.
//
//	mark := b.Mark()
//	b.Push("image", image)
//	b.Push("name", name)
//	container := b.Map(mark)
//
// Containers may be built inside each other. The zero Builder is ready to use. It is not safe for concurrent use.
type Builder struct {
	stack      []document.Field
	highWater  int // the maximum length of the stack since the last Reset or Recycle
	members    arena.Arena[document.Field]
	containers access.Containers[document.Value, document.Field] // nil until the first container
}

// maxChunk is the maximum number of fields and items in one chunk of the arena members.
const maxChunk = 256

// maxRecycled is the maximum number of fields for which Recycle keeps memory. maxStack is the maximum capacity, in
// fields, of the stack that Reset and Recycle keep.
const (
	maxRecycled = 1 << 17
	maxStack    = 1 << 15
)

// Mark starts a container and returns its mark, which the methods that finish or discard the container require.
func (b *Builder) Mark() int { return len(b.stack) }

// Push adds a field or item to the innermost container; the name is ignored in a list. An absent value is left out.
func (b *Builder) Push(name string, v document.Value) {
	if !v.IsAbsent() {
		b.stack = append(b.stack, document.Field{Name: name, Value: v})
	}
}

// PushAll adds the fields or items of an existing container at the indexes from ≤ i < end.
func (b *Builder) PushAll(container document.Value, from, end int) {
	if from >= end {
		return
	}
	if members := library.Members(container); members != nil {
		b.stack = append(b.stack, members[from:end]...)
		return
	}
	for i := from; i < end; i++ {
		name, value := container.Field(i)
		b.stack = append(b.stack, document.Field{Name: name, Value: value})
	}
}

// Pushed returns the number of fields or items that have been pushed since mark.
func (b *Builder) Pushed(mark int) int { return len(b.stack) - mark }

// Drop discards the fields or items that have been pushed since mark.
func (b *Builder) Drop(mark int) { b.pop(mark) }

// pop removes the fields or items of the container at mark from the stack.
func (b *Builder) pop(mark int) {
	b.highWater = max(b.highWater, len(b.stack))
	b.stack = b.stack[:mark]
}

// MapIf finishes the container at mark as a map if differs is true; otherwise it discards the container and returns
// from.
func (b *Builder) MapIf(differs bool, mark int, from document.Value) document.Value {
	if !differs {
		b.Drop(mark)
		return from
	}
	return b.Map(mark)
}

// ListIf finishes the container at mark as a list if differs is true; otherwise it discards the container and returns
// from.
func (b *Builder) ListIf(differs bool, mark int, from document.Value) document.Value {
	if !differs {
		b.Drop(mark)
		return from
	}
	return b.List(mark)
}

// Map finishes the container at mark as a map.
func (b *Builder) Map(mark int) document.Value {
	if len(b.stack) == mark {
		return document.NewMap()
	}
	return b.allocator().Map(b.moveMembers(mark))
}

// MapOf returns a map with one field. It may be called while other containers are being built.
func (b *Builder) MapOf(name string, v document.Value) document.Value {
	members := b.members.Take(1, maxChunk)
	members[0] = document.Field{Name: name, Value: v}
	return b.allocator().Map(members)
}

// SortedMap finishes the container at mark as a map; its fields may have been pushed in any order. Of fields with the
// same name the last one is used.
func (b *Builder) SortedMap(mark int) document.Value {
	b.pop(mark + len(sortFields(b.stack[mark:])))
	return b.Map(mark)
}

// List finishes the container at mark as a list.
func (b *Builder) List(mark int) document.Value {
	if len(b.stack) == mark {
		return document.NewList()
	}
	return b.allocator().List(b.moveMembers(mark))
}

// moveMembers moves the fields or items of the container at mark from the stack to shared memory.
func (b *Builder) moveMembers(mark int) []document.Field {
	members := b.members.Take(len(b.stack)-mark, maxChunk)
	copy(members, b.stack[mark:])
	b.pop(mark)
	return members
}

func (b *Builder) allocator() access.Containers[document.Value, document.Field] {
	if b.containers == nil {
		b.containers = library.NewContainers()
	}
	return b.containers
}

// Reset prepares the builder for other documents. It drops the references to the values that were built, which stay
// valid.
func (b *Builder) Reset() {
	b.empty()
	b.members = arena.Arena[document.Field]{}
	if b.containers != nil {
		b.containers.Reset()
	}
}

// Recycle is Reset for a caller that no longer uses the built values, nor values that share parts with them: Recycle
// makes the memory of the built values available for further values.
func (b *Builder) Recycle() {
	b.empty()
	b.members.Recycle(maxRecycled)
	if b.containers != nil {
		b.containers.Recycle()
	}
}

// empty discards the unfinished containers and drops the stack's references to values.
func (b *Builder) empty() {
	b.pop(0)
	clear(b.stack[:b.highWater])
	if cap(b.stack) > maxStack {
		b.stack = nil
	}
	b.highWater = 0
}

// maxInsertionSort is the maximum number of fields that are sorted by insertion sort.
const maxInsertionSort = 12

// sortFields sorts fields by name; of fields with the same name it keeps the last one. The result is a prefix of
// fields.
func sortFields(fields []document.Field) []document.Field {
	if len(fields) <= maxInsertionSort {
		insertionSort(fields)
	} else {
		slices.SortStableFunc(fields, func(a, b document.Field) int { return strings.Compare(a.Name, b.Name) })
	}
	kept := fields[:0]
	for i := range fields {
		if i+1 == len(fields) || fields[i].Name != fields[i+1].Name {
			kept = append(kept, fields[i])
		}
	}
	return kept
}

// insertionSort sorts fields by name; it is fast for few fields that are mostly sorted.
func insertionSort(fields []document.Field) {
	for i := 1; i < len(fields); i++ {
		for k := i; k > 0 && fields[k].Name < fields[k-1].Name; k-- {
			fields[k], fields[k-1] = fields[k-1], fields[k]
		}
	}
}
