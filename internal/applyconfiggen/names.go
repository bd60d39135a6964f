package applyconfiggen

import (
	"slices"
	"strings"
	"unicode"
)

// initialisms are words that Kubernetes' Go types write in capital letters.
var initialisms = []string{
	"acl", "acme", "api", "arn", "aws", "ca", "cidr", "cpu", "crd", "css", "dns", "gcp", "gid", "grpc", "gvk", "hpa", "html", "http",
	"https", "iam", "id", "ip", "iscsi", "json", "jwks", "jwt", "kms", "nfs", "oci", "oidc", "os", "pem", "pid", "qps", "rbac", "rbd",
	"saml", "sdk", "sni", "sql", "ssh", "ssl", "tcp", "tls", "ttl", "udp", "uid", "uri", "url", "uuid", "vm", "xml", "yaml",
}

// goName returns the exported Go name of a JSON name: caBundle becomes CABundle, x-y.z becomes XYZ.
func goName(json string) string {
	var name strings.Builder
	for _, word := range words(json) {
		switch {
		case slices.Contains(initialisms, strings.ToLower(word)):
			word = strings.ToUpper(word)
		default:
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		name.WriteString(word)
	}
	switch text := name.String(); {
	case text == "":
		return "Field"
	case unicode.IsDigit(rune(text[0])):
		return "Field" + text
	default:
		return text
	}
}

// words splits a JSON name at characters that are not letters or digits, and before capital letters that follow a
// lower-case letter. Letters outside of ASCII are separators as well.
func words(json string) []string {
	var all []string
	start := -1
	flush := func(end int) {
		if start >= 0 {
			all = append(all, json[start:end])
		}
		start = -1
	}
	for i := range len(json) {
		c := json[i]
		switch isLetter := c|0x20 >= 'a' && c|0x20 <= 'z'; {
		case !isLetter && (c < '0' || c > '9'):
			flush(i)
		case start >= 0 && c >= 'A' && c <= 'Z' && json[i-1] >= 'a':
			flush(i)
			start = i
		case start < 0:
			start = i
		}
	}
	flush(len(json))
	return all
}

// nameFields sets the Go names of fields from their JSON names. A name that is equal to that of another field or of a
// generated method gets the suffix Field.
func nameFields(t *Type) {
	taken := map[string]bool{
		"UnsetMarks": true, "Unset": true, "MarshalJSON": true, "UnmarshalJSON": true, "IsApplyConfiguration": true,
		"GetKind": true, "GetAPIVersion": true, "GetName": true, "GetNamespace": true,
	}
	for _, f := range t.Fields {
		if f.Embedding == NotEmbedded {
			for _, method := range []string{"With" + goName(f.JSON), "Unset" + goName(f.JSON), "Unset" + goName(f.JSON) + "Entry"} {
				taken[method] = true
			}
			continue
		}
		for _, inner := range f.Type.Target.Fields {
			for _, name := range []string{inner.Name, "With" + inner.Name, "Unset" + inner.Name, "Unset" + inner.Name + "Entry"} {
				taken[name] = true
			}
		}
	}
	for _, f := range t.Fields {
		if f.Embedding != NotEmbedded {
			continue
		}
		f.Name = goName(f.JSON)
		for taken[f.Name] || "Unset"+f.Name == "UnsetMarks" { // UnsetMarks is a field of every generated struct
			f.Name += "Field"
		}
		taken[f.Name] = true
	}
}
