package builtin

import "strings"

// hasLatestTag tells whether an image has the tag latest, or gets it because it has neither tag nor
// digest. What is no reference to an image has not got it.
//
//	[DOMAIN/]NAME[/NAME…][:TAG][@ALGORITHM:HEX]
func hasLatestTag(image string) bool {
	rest, digest, hasDigest := strings.Cut(image, "@")
	slash := strings.LastIndexByte(rest, '/')
	tag := ""
	if colon := strings.LastIndexByte(rest, ':'); colon > slash {
		rest, tag = rest[:colon], rest[colon+1:]
		if tag != "latest" {
			return false
		}
	} else if hasDigest {
		return false
	}
	return isRepository(rest) && (!hasDigest || isDigest(digest)) && !isIdentifier(image)
}

// isRepository checks the domain and the names. What looks like a domain but can not be one may
// still be a name.
func isRepository(text string) bool {
	domain, rest, found := strings.Cut(text, "/")
	switch {
	case !found || !isDomain(domain):
		domain, rest = "docker.io", text
	case !isHost(domain):
		domain, rest = "", text
	}
	if (domain == "docker.io" || domain == "index.docker.io") && !strings.Contains(rest, "/") {
		rest = "library/" + rest // which it is short for
	}
	const longest = 255
	if len(rest) > longest {
		return false
	}
	for name := range strings.SplitSeq(rest, "/") {
		if !isName(name) {
			return false
		}
	}
	return true
}

// isDomain tells a domain from the first of the names.
func isDomain(text string) bool {
	return strings.ContainsAny(text, ".:") || text == "localhost" || strings.ToLower(text) != text
}

// isHost checks a domain: names of letters, digits and dashes with dots between, or an IPv6 address
// in brackets, and perhaps a port.
func isHost(text string) bool {
	host, port, hasPort := text, "", false
	if colon := strings.LastIndexByte(text, ':'); colon > strings.LastIndexByte(text, ']') {
		host, port, hasPort = text[:colon], text[colon+1:], true
	}
	if hasPort && (port == "" || strings.Trim(port, "0123456789") != "") {
		return false
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		return ok && inner != "" && strings.Trim(inner, "0123456789abcdefABCDEF:") == ""
	}
	for part := range strings.SplitSeq(host, ".") {
		if part == "" || part[0] == '-' || part[len(part)-1] == '-' || !isMadeOf(part, isLetterDigitOrDash) {
			return false
		}
	}
	return true
}

// isName checks a name: small letters and digits, with one dot, one or two underscores, or any
// number of dashes between.
func isName(text string) bool {
	for {
		end := 0
		for end < len(text) && isSmallOrDigit(text[end]) {
			end++
		}
		if end == 0 {
			return false
		}
		text = text[end:]
		if text == "" {
			return true
		}
		switch {
		case strings.HasPrefix(text, "__"):
			text = text[2:]
		case text[0] == '.' || text[0] == '_':
			text = text[1:]
		default:
			dashes := len(text) - len(strings.TrimLeft(text, "-"))
			if dashes == 0 {
				return false
			}
			text = text[dashes:]
		}
	}
}

// isDigest checks a digest of one of the algorithms that are in use.
func isDigest(text string) bool {
	algorithm, digits, _ := strings.Cut(text, ":")
	size := map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}[algorithm]
	return size > 0 && len(digits) == size && isMadeOf(digits, isHexDigit)
}

// isIdentifier tells whether a text is the identifier of an image rather than a name.
func isIdentifier(text string) bool { return len(text) == 64 && isMadeOf(text, isHexDigit) }

func isMadeOf(text string, is func(byte) bool) bool {
	for i := range len(text) {
		if !is(text[i]) {
			return false
		}
	}
	return true
}

func isSmallOrDigit(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
func isHexDigit(c byte) bool     { return c >= 'a' && c <= 'f' || c >= '0' && c <= '9' }
func isLetterDigitOrDash(c byte) bool {
	return isSmallOrDigit(c) || c >= 'A' && c <= 'Z' || c == '-'
}
