package applytest

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// verb is the first word of a request line, such as APPLY, and the HTTP request that it sends.
type verb struct {
	method    string
	mediaType string // mediaType is the default Content-Type of the body
	asJSON    bool   // asJSON means that the body is YAML in the script and sent as JSON
	edits     bool   // edits means that the body is merged into the live object, which is then sent
	watches   bool
}

// verbs are the verbs that scripts can use. They include the HTTP methods; for these, the body is sent unchanged.
var verbs = map[string]verb{
	"APPLY":     {method: http.MethodPatch, mediaType: "application/apply-patch+yaml"},
	"CREATE":    {method: http.MethodPost, mediaType: "application/json", asJSON: true},
	"UPDATE":    {method: http.MethodPut, mediaType: "application/json", asJSON: true},
	"EDIT":      {method: http.MethodPut, mediaType: "application/json", asJSON: true, edits: true},
	"MERGE":     {method: http.MethodPatch, mediaType: "application/merge-patch+json", asJSON: true},
	"STRATEGIC": {method: http.MethodPatch, mediaType: "application/strategic-merge-patch+json", asJSON: true},
	"JSONPATCH": {method: http.MethodPatch, mediaType: "application/json-patch+json", asJSON: true},
	"DELETE":    {method: http.MethodDelete, mediaType: "application/json", asJSON: true},
	"WATCH":     {method: http.MethodGet, watches: true},
	"GET":       {method: http.MethodGet},
	"POST":      {method: http.MethodPost},
	"PUT":       {method: http.MethodPut},
	"PATCH":     {method: http.MethodPatch},
}

// request is the parsed request of a step. Its variables are not expanded.
type request struct {
	verb    verb
	path    string // an absolute path
	query   []pair
	headers []pair
	body    string
	kind    string        // the kind of a short address, such as "apps/v1 deployments"
	wait    time.Duration // the duration of WAIT, which sends no request
	// eventually means that the request is repeated until the response meets the expectations.
	eventually bool
	// times is the number of times that the request is sent; only the last response is compared with the expectations.
	times int
}

type pair struct{ name, value string }

func parseRequest(text string) (request, error) {
	head, body, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n\n")
	line, headers, _ := strings.Cut(strings.TrimRight(head, "\n"), "\n")
	words, err := splitWords(line)
	if err != nil {
		return request{}, err
	}
	if len(words) == 2 && words[0] == "WAIT" {
		wait, err := time.ParseDuration(words[1])
		if err != nil || wait <= 0 {
			return request{}, fmt.Errorf("expected a time such as 1.1s after WAIT, received %q", words[1])
		}
		return request{wait: wait}, nil
	}
	r := request{body: body, times: 1}
	if words, err = r.readPrefix(words); err != nil {
		return request{}, err
	}
	if len(words) < 2 {
		return request{}, fmt.Errorf("expected a request such as %q, received %q; the names of expectations are %s",
			"APPLY configmaps/shared as alice", line, expectationNames())
	}
	var ok bool
	if r.verb, ok = verbs[words[0]]; !ok {
		return request{}, fmt.Errorf("expected one of %s, received %q; the names of expectations are %s",
			verbNames(), words[0], expectationNames())
	}
	if err := r.readOptions(r.readAddress(words[1:])); err != nil {
		return request{}, err
	}
	if r.headers, err = parseHeaders(headers); err != nil {
		return request{}, fmt.Errorf("%w, with an empty line before the body", err)
	}
	return r, nil
}

// parseHeaders parses HTTP headers, one per line.
func parseHeaders(text string) ([]pair, error) {
	var headers []pair
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.Contains(name, " ") {
			return nil, fmt.Errorf("expected a header such as %q, received %q", "Content-Type: application/json", line)
		}
		headers = append(headers, pair{name, strings.TrimSpace(value)})
	}
	return headers, nil
}

// readPrefix parses "EVENTUALLY" or "TIMES n" at the start of words, before the verb, and returns the remaining words.
func (r *request) readPrefix(words []string) ([]string, error) {
	switch {
	case len(words) > 0 && words[0] == "EVENTUALLY":
		r.eventually = true
		return words[1:], nil
	case len(words) > 1 && words[0] == "TIMES":
		times, err := strconv.Atoi(words[1])
		if err != nil || times < 1 {
			return nil, fmt.Errorf("expected a number after TIMES, received %q", words[1])
		}
		r.times = times
		return words[2:], nil
	}
	return words, nil
}

func verbNames() string {
	return strings.Join(slices.Sorted(maps.Keys(verbs)), ", ") + ", WAIT"
}

// groupVersion matches an API version such as "apps/v1" or "v1", which distinguishes it from the name of a resource.
var groupVersion = regexp.MustCompile(`^((\$NAMESPACE\.)?[a-z0-9.-]+/)?v[0-9]+((alpha|beta)[0-9]+)?$`)

// readAddress parses the address at the start of words, and returns the remaining words. The address is a path, or a short
// address in the script's namespace: optionally a version (default v1), then resource, name and subresource.
func (r *request) readAddress(words []string) (rest []string) {
	if strings.HasPrefix(words[0], "/") {
		path, query, _ := strings.Cut(words[0], "?")
		r.path = path
		for part := range strings.SplitSeq(query, "&") {
			if part != "" {
				name, value, _ := strings.Cut(part, "=")
				r.query = append(r.query, pair{unescape(name), unescape(value)})
			}
		}
		return words[1:]
	}
	version := "v1"
	if groupVersion.MatchString(words[0]) && len(words) > 1 {
		version, words = words[0], words[1:]
	}
	resource, _, _ := strings.Cut(words[0], "/")
	r.kind = version + " " + resource
	r.path = versionPath(version) + "/namespaces/$NAMESPACE/" + words[0]
	return words[1:]
}

// versionPath returns the URL path of an API version such as "v1" or "apps/v1".
func versionPath(version string) string {
	if strings.Contains(version, "/") {
		return "/apis/" + version
	}
	return "/api/" + version
}

// unescape decodes text, a percent-encoded query parameter. If an escape is invalid, it returns text unchanged.
func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// readOptions parses the words after the address: "as NAME", "force", "dryRun" and query parameters "name=value".
func (r *request) readOptions(words []string) error {
	for i := 0; i < len(words); i++ {
		switch name, value, hasValue := strings.Cut(words[i], "="); {
		case hasValue:
			r.query = append(r.query, pair{name, value})
		case name == "as" && i+1 < len(words):
			i++
			r.query = append(r.query, pair{"fieldManager", words[i]})
		case name == "force":
			r.query = append(r.query, pair{"force", "true"})
		case name == "dryRun":
			r.query = append(r.query, pair{"dryRun", "All"})
		default:
			return fmt.Errorf("expected \"as NAME\", \"force\", \"dryRun\" or \"name=value\", received %q", words[i])
		}
	}
	if r.verb.watches {
		r.query = append(r.query, pair{"watch", "true"})
	}
	return nil
}

// splitWords splits line at spaces. Spaces in a Go string in double quotes, or in a variable ${…}, do not separate words.
func splitWords(line string) ([]string, error) {
	var words []string
	word, inWord := strings.Builder{}, false
	for line != "" {
		if at := variable.FindStringIndex(line); at != nil && at[0] == 0 {
			word.WriteString(line[:at[1]])
			line, inWord = line[at[1]:], true
			continue
		}
		switch line[0] {
		case ' ', '\t', '\r':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			line, inWord = line[1:], false
		case '"':
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("expected a closing quote: %s", line)
			}
			text, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, err
			}
			word.WriteString(text)
			line, inWord = line[len(quoted):], true
		default:
			word.WriteByte(line[0])
			line, inWord = line[1:], true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// isDryRun reports whether the request has the query parameter dryRun, with any value.
func (r *request) isDryRun() bool {
	return slices.ContainsFunc(r.query, func(p pair) bool { return p.name == "dryRun" && p.value != "" })
}

func (r *request) header(name string) (string, bool) {
	for _, h := range r.headers {
		if strings.EqualFold(h.name, name) {
			return h.value, true
		}
	}
	return "", false
}
