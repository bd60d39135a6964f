package encoding

// rawJSON is an Object that consists of JSON text.
type rawJSON string

func (r rawJSON) AppendJSON(dst []byte) []byte { return append(dst, r...) }
func (r rawJSON) JSONSize() int                { return len(r) }
