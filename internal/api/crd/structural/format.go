package structural

import (
	"strings"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// format is how a text, or a number, is to be written.
type format struct {
	// name is what the schema calls it; empty if there is none, or if it is not known for the type.
	name string
	// accepts is nil unless the format is one of texts.
	accepts func(string) bool
}

// textFormats are the formats that kube-apiserver knows, without dashes. The functions are those of the registry of
// formats, which would run them one at a time; where there is none, the registry has to be asked.
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

// formatOf returns the format of that name for values of these types. Formats that are not known say nothing.
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
