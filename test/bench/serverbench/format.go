package serverbench

// Media is the media type of a response.
type Media string

// The media types that all servers support.
const (
	JSON     Media = jsonType
	Protobuf Media = "application/vnd.kubernetes.protobuf"
	CBOR     Media = "application/cbor"
)

// Name returns the short name of the media type.
func (m Media) Name() string {
	switch m {
	case Protobuf:
		return "protobuf"
	case CBOR:
		return "cbor"
	}
	return "json"
}

// Format is the requested format of objects: the media type, with or without managedFields.
type Format struct {
	Media Media
	Drop  bool
}

// Accept returns the Accept header.
func (w Format) Accept() string {
	if w.Drop {
		return string(w.Media) + ";drop=metadata.managedFields"
	}
	return string(w.Media)
}

// Name returns "dropped" without managedFields, otherwise "full".
func (w Format) Name() string {
	if w.Drop {
		return "dropped"
	}
	return "full"
}
