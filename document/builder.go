package document

// Builder makes containers out of existing values with few allocations: fields and
// items are collected on one stack, then moved to memory that many containers
// share. It trusts its user: fields must come in the order of names, each once.
//
//	mark := b.Mark()
//	b.Push("image", image)
//	b.Push("name", name)
//	container := b.Map(mark)
//
// Containers may be built inside each other. The zero Builder is ready to use.
type Builder struct {
	stack   []member
	high    int           // how much of the stack has been used
	members arena[member] // of finished containers
	docs    arena[doc]    // the containers themselves
}

// Mark starts a container.
func (b *Builder) Mark() int { return len(b.stack) }

// Push adds a field to the innermost container; the name is ignored in a list.
// Absent values are left out.
func (b *Builder) Push(name string, v Value) {
	if v.d != nil {
		b.stack = append(b.stack, member{name, v})
	}
}

// PushAll adds the fields or items of a container from one number up to, but without,
// another.
func (b *Builder) PushAll(container Value, from, end int) {
	if container.d == nil || container.d.nodes == nil {
		if from < end {
			b.stack = append(b.stack, container.d.members[from:end]...)
		}
		return
	}
	for i := from; i < end; i++ {
		name, value := container.Field(i)
		b.stack = append(b.stack, member{name, value})
	}
}

// Pushed returns how many fields or items the container at mark has so far.
func (b *Builder) Pushed(mark int) int { return len(b.stack) - mark }

// Drop gives the container at mark up.
func (b *Builder) Drop(mark int) { b.pop(mark) }

// pop takes the container at mark off the stack.
func (b *Builder) pop(mark int) {
	b.high = max(b.high, len(b.stack))
	b.stack = b.stack[:mark]
}

// MapIf finishes the container at mark as a map if it differs from a value that it was
// made from; otherwise it gives the container up and returns the value.
func (b *Builder) MapIf(differs bool, mark int, from Value) Value {
	if !differs {
		b.Drop(mark)
		return from
	}
	return b.Map(mark)
}

// ListIf does for a list what MapIf does for a map.
func (b *Builder) ListIf(differs bool, mark int, from Value) Value {
	if !differs {
		b.Drop(mark)
		return from
	}
	return b.List(mark)
}

// Reset makes the builder ready for other documents, and keeps nothing of those that it has
// built: what is left of the memory that it made for them goes with them.
func (b *Builder) Reset() {
	b.empty()
	b.members, b.docs = arena[member]{}, arena[doc]{}
}

// Recycle is Reset for when nothing that was built is needed any more, nor anything that was
// made of its parts: the memory is used again, so that it would show parts of other documents.
func (b *Builder) Recycle() {
	b.empty()
	b.members.recycle(maxScratch / 2)
	b.docs.recycle(maxScratch / 8)
}

// maxChunk is how many containers there is memory made for at once.
const maxChunk = 64

// empty gives up what is not finished.
func (b *Builder) empty() {
	b.pop(0)
	clear(b.stack[:b.high])
	if cap(b.stack) > maxScratch/8 {
		b.stack = nil
	}
	b.high = 0
}

// Map finishes the container at mark as a map.
func (b *Builder) Map(mark int) Value {
	if len(b.stack) == mark {
		return Value{d: &emptyMap}
	}
	return b.finish(Map, mark)
}

// MapOf makes a map of one field, without a container of its own on the stack.
func (b *Builder) MapOf(name string, v Value) Value {
	members := b.members.take(1, 4*maxChunk)
	members[0] = member{name, v}
	d := &b.docs.take(1, maxChunk)[0]
	d.kind, d.members = Map, members
	return Value{d: d}
}

// SortedMap finishes the container at mark as a map whose fields may have come in any
// order; of fields with the same name the last stays.
func (b *Builder) SortedMap(mark int) Value {
	b.pop(mark + len(sortMembers(b.stack[mark:])))
	return b.Map(mark)
}

// List finishes the container at mark as a list.
func (b *Builder) List(mark int) Value {
	if len(b.stack) == mark {
		return Value{d: &emptyList}
	}
	return b.finish(List, mark)
}

func (b *Builder) finish(kind Kind, mark int) Value {
	d := &b.docs.take(1, maxChunk)[0]
	d.kind, d.members = kind, b.settle(mark)
	return Value{d: d}
}

// settle moves what is on the stack from mark on to its final place.
func (b *Builder) settle(mark int) []member {
	members := b.members.take(len(b.stack)-mark, 4*maxChunk)
	copy(members, b.stack[mark:])
	b.pop(mark)
	return members
}
