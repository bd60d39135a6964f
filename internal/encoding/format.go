package encoding

// Shape is the representation of an object: the whole object, a row of a Table, or its metadata. The parameter as of an
// Accept clause selects it.
type Shape uint8

// The shapes.
const (
	// Whole is the unmodified object.
	Whole Shape = iota
	// Table represents objects as the rows of a Table.
	Table
	// Partial is the metadata of an object, PartialList the metadata of a list's objects.
	Partial
	PartialList
)

var shapeNames = [...]string{Whole: "", Table: "Table", Partial: "PartialObjectMetadata", PartialList: "PartialObjectMetadataList"}

// String returns the kind of a response in the shape; "" for whole objects.
func (s Shape) String() string { return shapeNames[s] }

// MetaVersion is the version of meta.k8s.io of a Table or PartialObjectMetadata.
type MetaVersion uint8

// The versions of meta.k8s.io.
const (
	MetaV1 MetaVersion = iota
	MetaV1beta1
)

const metaGroup = "meta.k8s.io"

var metaVersions = [...]string{MetaV1: "v1", MetaV1beta1: "v1beta1"}

// APIVersion returns the apiVersion.
func (v MetaVersion) APIVersion() string { return metaGroup + "/" + metaVersions[v] }

// Format is the format of a response. The zero value is JSON of whole objects. Formats are comparable.
type Format struct {
	Encoding *Encoding // nil means JSON
	Shape    Shape
	Meta     MetaVersion // for shapes other than Whole
	Pretty   bool        // indented; JSON only, and never in watches
	Drop     bool        // omit managedFields
}

func (f Format) encoding() *Encoding {
	if f.Encoding == nil {
		return JSON
	}
	return f.Encoding
}

// ContentType returns the Content-Type of a response.
func (f Format) ContentType() string { return f.encoding().MediaType }

// StreamType returns the Content-Type of a watch.
func (f Format) StreamType() string { return f.encoding().streamContentType() }
