package builtin

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	netutils "k8s.io/utils/net"
)

// format is a string format. problems returns kube-apiserver's messages for a string that does not have the format, and nil
// for a valid string. accepts, if not nil, is a fast check that returns true only for valid strings, and may return false for
// valid strings. origin is the origin of the errors; "" if declarative validation has no such format.
type format struct {
	accepts  func(string) bool
	problems func(string) []string
	origin   string
}

func (f format) check(text string) []string {
	if f.accepts != nil && f.accepts(text) {
		return nil
	}
	return f.problems(text)
}

// pathSegment is the format that the names of objects of all kinds must have; most kinds require a stricter format.
var pathSegment = format{accepts: isDNSSubdomain, problems: content.IsPathSegmentName}

// segmentPrefix is the format of a generateName of any kind: ".." is valid, because a generated name is longer.
var segmentPrefix = format{accepts: isDNSSubdomain, problems: content.IsPathSegmentPrefix}

// formats maps the names of formats in rules to the formats.
var formats = map[string]format{
	"dns-label":                {isDNSLabel, validation.IsDNS1123Label, "format=k8s-short-name"},
	"dns-subdomain":            {isDNSSubdomain, validation.IsDNS1123Subdomain, "format=k8s-long-name"},
	"dns-subdomain-underscore": {isDNSSubdomain, validation.IsDNS1123SubdomainWithUnderscore, ""},
	"dns1035-label":            {nil, validation.IsDNS1035Label, ""},
	"dns-prefix":               {isDNSSubdomain, dnsPrefixProblems, ""},
	"wildcard-subdomain":       {nil, validation.IsWildcardDNS1123Subdomain, ""},
	"host":                     {isDNSSubdomain, hostProblems, ""},
	"dns-name":                 {nil, dnsNameProblems, ""},
	"path-segment":             pathSegment,
	"qualified-name":           {isLabelKey, content.IsLabelKey, "format=k8s-label-key"},
	"qualified-name-any-case":  {isLabelKey, func(s string) []string { return content.IsLabelKey(strings.ToLower(s)) }, ""},
	"label-value":              {isLabelValue, content.IsLabelValue, ""},
	"env-name":                 {isCIdentifier, validation.IsRelaxedEnvVarName, ""},
	"data-key":                 {isDataKey, validation.IsConfigMapKey, ""},
	"port-name":                {isPortName, validation.IsValidPortName, ""},
	"header-name":              {nil, validation.IsHTTPHeaderName, ""},
	"relative-path":            {nil, descendingProblems, ""},
	"relative-file":            {nil, localFileProblems, ""},
	"no-backsteps":             {nil, backstepProblems, ""},
	"timezone":                 {nil, timeZoneProblems, ""},
	"cron-schedule":            {nil, scheduleProblems, ""},
	"semantic-version":         {isSemanticVersion, semanticVersionProblems, ""},
}

// isDNSLabel, isDNSSubdomain, isLabelKey and isLabelValue are fast checks that accept common names. The names that they do not
// accept are checked with the regular expressions of apimachinery, which are many times slower.
func isDNSLabel(s string) bool {
	return len(s) <= 63 && len(s) > 0 && isLowerAlnum(s[0]) && isLowerAlnum(s[len(s)-1]) && allBytes(s, isLowerAlnumOrDash)
}

func isDNSSubdomain(s string) bool {
	if len(s) > 253 {
		return false
	}
	for {
		label, rest, more := strings.Cut(s, ".")
		if len(label) == 0 || !isLowerAlnum(label[0]) || !isLowerAlnum(label[len(label)-1]) || !allBytes(label, isLowerAlnumOrDash) {
			return false
		}
		if !more {
			return true
		}
		s = rest
	}
}

func isLabelKey(s string) bool {
	prefix, name, qualified := strings.Cut(s, "/")
	if !qualified {
		name = prefix
	} else if !isDNSSubdomain(prefix) {
		return false
	}
	return name != "" && isLabelValue(name)
}

func isLabelValue(s string) bool {
	return s == "" || len(s) <= 63 && isAlnum(s[0]) && isAlnum(s[len(s)-1]) && allBytes(s, isNameByte)
}

// isPortName is a fast check that accepts port names without dashes.
func isPortName(s string) bool {
	return len(s) <= 15 && allBytes(s, isLowerAlnum) && !allBytes(s, isDigit)
}

func isCIdentifier(s string) bool {
	return s != "" && !isDigit(s[0]) && allBytes(s, func(b byte) bool { return isAlnum(b) || b == '_' })
}

func isDataKey(s string) bool {
	return len(s) <= 253 && s != "" && s[0] != '.' && allBytes(s, isNameByte)
}

func allBytes(s string, matches func(byte) bool) bool {
	for i := range len(s) {
		if !matches(s[i]) {
			return false
		}
	}
	return true
}

func isDigit(b byte) bool            { return '0' <= b && b <= '9' }
func isLowerAlnum(b byte) bool       { return 'a' <= b && b <= 'z' || isDigit(b) }
func isLowerAlnumOrDash(b byte) bool { return isLowerAlnum(b) || b == '-' }
func isAlnum(b byte) bool            { return isLowerAlnum(b) || 'A' <= b && b <= 'Z' }
func isNameByte(b byte) bool         { return isAlnum(b) || b == '-' || b == '_' || b == '.' }

// dnsPrefixProblems returns the messages for a generateName that is not a prefix of a DNS subdomain.
func dnsPrefixProblems(s string) []string {
	return validation.IsDNS1123Subdomain(replaceTrailingDash(s))
}

// replaceTrailingDash returns s, a generateName, with a letter instead of a dash at its end and the character before that dash,
// as in kube-apiserver, so that the result can be validated as a name.
func replaceTrailingDash(s string) string {
	if len(s) > 1 && strings.HasSuffix(s, "-") {
		return s[:len(s)-2] + "a"
	}
	return s
}

// hostProblems returns the messages for an invalid host, which may start with a wildcard.
func hostProblems(s string) []string {
	if strings.Contains(s, "*") {
		return validation.IsWildcardDNS1123Subdomain(s)
	}
	return validation.IsDNS1123Subdomain(s)
}

func dnsNameProblems(s string) []string {
	if netutils.ParseIPSloppy(s) != nil {
		return []string{"must be a DNS name, not an IP address"}
	}
	return nil
}

func descendingProblems(s string) (problems []string) {
	if strings.HasPrefix(s, "/") {
		problems = append(problems, "must be a relative path")
	}
	return append(problems, backstepProblems(s)...)
}

func localFileProblems(s string) []string {
	problems := descendingProblems(s)
	if strings.HasPrefix(s, "..") && !strings.HasPrefix(s, "../") {
		problems = append(problems, "must not start with '..'")
	}
	return problems
}

func backstepProblems(s string) []string {
	for part := range strings.SplitSeq(s, "/") {
		if part == ".." {
			return []string{"must not contain '..'"}
		}
	}
	return nil
}
