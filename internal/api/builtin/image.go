package builtin

import "strings"

// hasLatestTag reports whether an image reference has the tag latest, or neither a tag nor a digest, which means latest. It
// returns false for invalid references. The syntax of references is
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

// isRepository reports whether a string is a valid repository: an optional domain and a path. The first component is either a
// domain or a component of the path.
func isRepository(text string) bool {
	domain, rest, found := strings.Cut(text, "/")
	switch {
	case !found || !isDomain(domain):
		domain, rest = "docker.io", text
	case !isHost(domain):
		domain, rest = "", text
	}
	if (domain == "docker.io" || domain == "index.docker.io") && !strings.Contains(rest, "/") {
		rest = "library/" + rest // images without a path belong to Docker Hub's repository library
	}
	const maxLength = 255
	if len(rest) > maxLength {
		return false
	}
	for name := range strings.SplitSeq(rest, "/") {
		if !isName(name) {
			return false
		}
	}
	return true
}

// isDomain reports whether the first component of a repository is a domain instead of a component of the path.
func isDomain(text string) bool {
	return strings.ContainsAny(text, ".:") || text == "localhost" || strings.ToLower(text) != text
}

// isHost reports whether a string is a host with an optional port: labels of letters, digits and dashes separated by
// dots, or an IPv6 address in brackets.
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
		if part == "" || part[0] == '-' || part[len(part)-1] == '-' || !consistsOf(part, isLetterDigitOrDash) {
			return false
		}
	}
	return true
}

// isName reports whether a string is a valid component of a repository's path: groups of lower-case letters and digits that
// are separated by one dot, one or two underscores, or any number of dashes.
func isName(text string) bool {
	for {
		end := 0
		for end < len(text) && isLowerOrDigit(text[end]) {
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

// isDigest reports whether a string is a digest of a registered algorithm.
func isDigest(text string) bool {
	algorithm, digits, _ := strings.Cut(text, ":")
	size := map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}[algorithm]
	return size > 0 && len(digits) == size && consistsOf(digits, isHexDigit)
}

// isIdentifier reports whether a string is an image ID instead of a reference.
func isIdentifier(text string) bool { return len(text) == 64 && consistsOf(text, isHexDigit) }

func consistsOf(text string, matches func(byte) bool) bool {
	for i := range len(text) {
		if !matches(text[i]) {
			return false
		}
	}
	return true
}

func isLowerOrDigit(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
func isHexDigit(c byte) bool     { return c >= 'a' && c <= 'f' || c >= '0' && c <= '9' }
func isLetterDigitOrDash(c byte) bool {
	return isLowerOrDigit(c) || c >= 'A' && c <= 'Z' || c == '-'
}
