package encoding

// raw is an object in the form of JSON text.
type raw string

func (r raw) AppendJSON(dst []byte) []byte { return append(dst, r...) }
func (r raw) JSONSize() int                { return len(r) }
