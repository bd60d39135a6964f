package encoding

// Shape is the representation of an object: the whole object, a row of a Table, or its metadata. The parameter "as" of an
// Accept clause selects it.
type Shape uint8

// The shapes of a response.
const (
	// Whole is the unmodified object.
	Whole Shape = iota
	// Table represents objects as the rows of a Table.
	Table
	// Partial is the PartialObjectMetadata of an object; PartialList is the PartialObjectMetadataList of a list's objects.
	Partial
	PartialList
)

var shapeNames = [...]string{Whole: "", Table: "Table", Partial: "PartialObjectMetadata", PartialList: "PartialObjectMetadataList"}

// String returns the kind that a response in the shape has, such as Table; "" for whole objects.
func (s Shape) String() string { return shapeNames[s] }

// MetaVersion is the version of the API group meta.k8s.io in which a Table or PartialObjectMetadata is encoded.
type MetaVersion uint8

// The versions of meta.k8s.io.
const (
	MetaV1 MetaVersion = iota
	MetaV1beta1
)

const metaGroup = "meta.k8s.io"

var metaVersions = [...]string{MetaV1: "v1", MetaV1beta1: "v1beta1"}

// APIVersion returns the apiVersion of a response, such as meta.k8s.io/v1.
func (v MetaVersion) APIVersion() string { return metaGroup + "/" + metaVersions[v] }

// Format is the format of a response. The zero value means whole objects as JSON. Formats are comparable.
type Format struct {
	Encoding *Encoding // nil means JSON
	Shape    Shape
	Meta     MetaVersion // used only for shapes other than Whole
	Pretty   bool        // indents the response; only for JSON, and never for watches
	Drop     bool        // omits managedFields
}

func (f Format) encoding() *Encoding {
	if f.Encoding == nil {
		return JSON
	}
	return f.Encoding
}

// ContentType returns the Content-Type of a response that is not a watch.
func (f Format) ContentType() string { return f.encoding().MediaType }

// StreamType returns the Content-Type of a watch response.
func (f Format) StreamType() string { return f.encoding().streamContentType() }
