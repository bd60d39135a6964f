package serverbench

// A Media is how answers are written.
type Media string

// The media that all servers have.
const (
	JSON     Media = jsonType
	Protobuf Media = "application/vnd.kubernetes.protobuf"
	CBOR     Media = "application/cbor"
)

// Name is short.
func (m Media) Name() string {
	switch m {
	case Protobuf:
		return "protobuf"
	case CBOR:
		return "cbor"
	}
	return "json"
}

// A Wish is how a client wants objects: in a media, whole or without managedFields.
type Wish struct {
	Media Media
	Drop  bool
}

// Accept is the header that says so.
func (w Wish) Accept() string {
	if w.Drop {
		return string(w.Media) + ";drop=metadata.managedFields"
	}
	return string(w.Media)
}

// Name says what is left out.
func (w Wish) Name() string {
	if w.Drop {
		return "dropped"
	}
	return "full"
}
