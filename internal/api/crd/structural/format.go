package structural

import (
	"strings"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// format is the keyword format of a schema.
type format struct {
	// name is the value of the keyword; "" if the schema has no format, or a format that does not exist for its type.
	name string
	// accepts reports whether a string has the format; nil for formats of numbers.
	accepts func(string) bool
}

// textFormats maps the names of the string formats that kube-apiserver supports, without dashes, to their functions. These
// functions avoid the lock of strfmt's format registry. The function is nil for formats for which strfmt exports no function;
// these are checked through the registry.
var textFormats = map[string]func(string) bool{
	"bsonobjectid": strfmt.IsBSONObjectID,
	"date":         strfmt.IsDate,
	"datetime":     strfmt.IsDateTime,
	"duration":     strfmt.IsDuration,
	"email":        strfmt.IsEmail,
	"hostname":     strfmt.IsHostname,
	"k8slongname":  strfmt.IsLongName,
	"k8sshortname": strfmt.IsShortName,
	"password":     func(string) bool { return true },
	"uuid":         strfmt.IsUUID,
	"uuid3":        strfmt.IsUUID3,
	"uuid4":        strfmt.IsUUID4,
	"uuid5":        strfmt.IsUUID5,

	"byte": nil, "cidr": nil, "creditcard": nil, "hexcolor": nil, "ipv4": nil, "ipv6": nil, "isbn": nil, "isbn10": nil,
	"isbn13": nil, "mac": nil, "rgbcolor": nil, "ssn": nil, "uri": nil,
}

// formatOf returns the format with the given name for values of the given types; the zero value if the types have no such
// format.
func formatOf(k kinds, name string) format {
	switch k {
	case integer:
		if name == "int32" || name == "int64" {
			return format{name: name}
		}
	case number:
		if name == "float" || name == "double" {
			return format{name: name}
		}
	case 0, text, integer | text:
		plain := strings.ReplaceAll(name, "-", "")
		accepts, known := textFormats[plain]
		if !known {
			return format{}
		}
		if accepts == nil {
			accepts = func(s string) bool { return strfmt.Default.Validates(plain, s) }
		}
		return format{name: strings.Clone(name), accepts: accepts}
	}
	return format{}
}
