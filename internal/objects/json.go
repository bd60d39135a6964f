package objects

import (
	"bytes"
	"sync"

	"github.com/cadastre/cadastre/apply"
)

// largestRoom is how much memory is kept to write in.
const largestRoom = 256 << 10

var rooms = sync.Pool{New: func() any { return new([]byte) }}

// jsonOf returns the JSON of an object. It is written where there is room, and then copied, so that it need
// not be measured before.
func jsonOf(o apply.Object) []byte {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	text := o.AppendJSON((*room)[:0])
	if cap(text) <= largestRoom {
		*room = text
	}
	return bytes.Clone(text)
}
