package serverbench

// Media is the media type of a response.
type Media string

// The media types that Cadastre and kube-apiserver support.
const (
	JSON     Media = jsonType
	Protobuf Media = "application/vnd.kubernetes.protobuf"
	CBOR     Media = "application/cbor"
)

// Name returns the short name of the media type: json, protobuf or cbor.
func (m Media) Name() string {
	switch m {
	case Protobuf:
		return "protobuf"
	case CBOR:
		return "cbor"
	}
	return "json"
}

// Format is the requested format of objects: the media type, and whether managedFields are omitted (Drop).
type Format struct {
	Media Media
	Drop  bool
}

// Accept returns the value of the Accept header.
func (f Format) Accept() string {
	if f.Drop {
		return string(f.Media) + ";drop=metadata.managedFields"
	}
	return string(f.Media)
}

// Name returns "dropped" if managedFields are omitted, and otherwise "full".
func (f Format) Name() string {
	if f.Drop {
		return "dropped"
	}
	return "full"
}
