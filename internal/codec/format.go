package codec

// Media is what an answer's bytes are.
type Media uint8

// The media that answers can be written in.
const (
	JSON Media = iota
	YAML
	Protobuf
	CBOR
)

var mediaTypes = [...]string{JSON: "application/json", YAML: "application/yaml", Protobuf: "application/vnd.kubernetes.protobuf", CBOR: "application/cbor"}

// String returns the media type.
func (m Media) String() string { return mediaTypes[m] }

// Shape is what is made of objects before they are written.
type Shape uint8

// The shapes. A client asks for one with the parameter as, whose values are the names that
// String returns.
const (
	// Whole objects are written as they are.
	Whole Shape = iota
	// Table makes objects rows.
	Table
	// Partial leaves only the metadata of an object, PartialList that of a list's objects.
	Partial
	PartialList
)

var shapeNames = [...]string{Whole: "", Table: "Table", Partial: "PartialObjectMetadata", PartialList: "PartialObjectMetadataList"}

// String returns the kind that objects get.
func (s Shape) String() string { return shapeNames[s] }

// MetaVersion is the version of meta.k8s.io that a shape is written at.
type MetaVersion uint8

// The versions that there are.
const (
	MetaV1 MetaVersion = iota
	MetaV1beta1
)

const metaGroup = "meta.k8s.io"

var metaVersions = [...]string{MetaV1: "v1", MetaV1beta1: "v1beta1"}

// APIVersion returns the version with its group.
func (v MetaVersion) APIVersion() string { return metaGroup + "/" + metaVersions[v] }

// Format is how an answer is written. The zero value is JSON of whole objects. Formats can be
// compared, and be keys of what is cached.
type Format struct {
	Media  Media
	Shape  Shape
	Meta   MetaVersion // of shapes other than Whole
	Pretty bool        // for people; only JSON, and never in watches
	Drop   bool        // managedFields are left out
}

// ContentType returns the header of an answer in the format.
func (f Format) ContentType() string { return f.Media.String() }

// StreamType returns the header of a watch in the format.
func (f Format) StreamType() string {
	switch f.Media {
	case Protobuf:
		return "application/vnd.kubernetes.protobuf;stream=watch"
	case CBOR:
		return cborSequence
	}
	return f.Media.String()
}

// cborSequence is what a watch in CBOR is: one item after the other.
const cborSequence = "application/cbor-seq"

// canStream reports whether there are watches in a media.
func (m Media) canStream() bool { return m != YAML }
