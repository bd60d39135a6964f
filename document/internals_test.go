package document

import "testing"

// TestRecycledContainers checks that recycled memory holds no references to documents.
func TestRecycledContainers(t *testing.T) {
	var c containers
	for _, count := range []int{3, 200, 5, 1000, 0, 7} {
		for i := range count {
			fields := []Field{{"n", NewInt(int64(i))}}
			if got := c.Map(fields); !Equal(got, NewMap(fields...)) {
				t.Fatalf("Map() = %s, want %s", got, NewMap(fields...))
			}
			if got := c.List(fields); !Equal(got, NewList(fields[0].Value)) {
				t.Fatalf("List() = %s, want %s", got, NewList(fields[0].Value))
			}
		}
		c.Recycle()
		for _, d := range c.docs.Chunk() {
			if d.members != nil {
				t.Fatalf("%d containers: recycled memory holds references to documents, want none", 2*count)
			}
		}
	}
}
