package schema

// Cursor finds the fields of a map that are asked for in the order of their names,
// as the fields of a document come.
type Cursor struct {
	m    *Map
	next int
}

// Cursor returns a Cursor at the first field.
func (m *Map) Cursor() Cursor { return Cursor{m: m} }

// Next does what TypeOf does, for a name that comes after all those that were
// asked for before.
func (c *Cursor) Next(name string) (t *Type, declared bool) {
	fields := c.m.Fields
	low, high := c.next, len(fields)
	// Look nearby first: documents often have most of the fields.
	for step := 1; low < high; step *= 2 {
		probe := low + step - 1
		if probe >= high {
			break
		}
		if fields[probe].Name >= name {
			high = probe + 1
			break
		}
		low = probe + 1
	}
	for low < high {
		middle := int(uint(low+high) >> 1)
		if fields[middle].Name < name {
			low = middle + 1
		} else {
			high = middle
		}
	}
	c.next = low
	if low < len(fields) && fields[low].Name == name {
		c.next++
		return fields[low].Type, true
	}
	return c.m.Element, false
}
