package fieldset

import "sync"

// IsFieldsV1 reports whether the set is written as exactly this text. A set may
// also be equal to one that is written otherwise; then the answer is no.
func (s Set) IsFieldsV1(text string) bool {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = s.AppendFieldsV1((*buffer)[:0])
	return string(*buffer) == text
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}
