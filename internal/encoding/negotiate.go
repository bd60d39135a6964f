package encoding

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/munnerz/goautoneg"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Endpoint is the type of endpoint for which a response format is negotiated; endpoints differ in the formats that they
// support.
type Endpoint uint8

// The types of endpoints, and the flags that can be added to them.
const (
	// Objects are responses with objects or lists of a kind, which support all shapes.
	Objects Endpoint = iota
	// Watch is a stream of watch events.
	Watch
	// Fixed are responses that have only one shape: discovery documents and Statuses.
	Fixed

	// Untyped is a flag for Objects and Watch: the kind has no Go type, which some encodings need.
	Untyped Endpoint = 1 << 7
	// NoTables is a flag for Objects: the subresource cannot be shown as a Table.
	NoTables Endpoint = 1 << 6
	// IgnoreDrop is a flag for Objects and Watch: the parameter drop is unknown, because its feature gate is disabled.
	IgnoreDrop Endpoint = 1 << 5
)

func (e Endpoint) isWatch() bool   { return e&^(Untyped|IgnoreDrop) == Watch }
func (e Endpoint) isUntyped() bool { return e&Untyped != 0 }

// Negotiate returns the format that an Accept header selects, or an error with status 406. Clauses are tried by descending
// weight; clauses with the same weight are tried in the order of the header. Negotiate sets Format.Pretty only if the header
// requests indented JSON; see also the function Pretty.
func Negotiate(accept string, endpoint Endpoint) (Format, error) {
	key := negotiation{accept, endpoint}
	if format, ok := negotiated.find(key); ok {
		return format, nil
	}
	format, err := negotiate(accept, endpoint)
	if err == nil {
		negotiated.add(key, format)
	}
	return format, err
}

// negotiate implements Negotiate without the cache.
func negotiate(accept string, endpoint Endpoint) (Format, error) {
	if accept == "" {
		return Format{Encoding: JSON}, nil
	}
	for _, clause := range goautoneg.ParseAccept(markDrops(accept)) {
		for _, e := range Encodings {
			if !matches(&clause, e.MediaType) && !(endpoint.isWatch() && matchesStream(&clause, e)) {
				continue
			}
			format, ok := clauseFormat(clause.Params, e, endpoint)
			switch {
			case !ok:
				continue
			case endpoint.isWatch() && e.StreamType == "":
				// As in Kubernetes, the first matching clause decides, even if its encoding does not support watches.
				return Format{}, notAcceptable(StreamTypes()...)
			}
			return format, nil
		}
	}
	return Format{}, notAcceptable(MediaTypes()...)
}

// matches reports whether a clause of an Accept header matches a media type.
func matches(clause *goautoneg.Accept, mediaType string) bool {
	kind, name, _ := strings.Cut(mediaType, "/")
	switch clause.Type {
	case kind:
		return clause.SubType == name || clause.SubType == "*"
	case "*":
		return clause.SubType == "*"
	}
	return false
}

// matchesStream reports whether a clause of an Accept header names the stream type of an encoding.
func matchesStream(clause *goautoneg.Accept, e *Encoding) bool {
	return e.StreamType != "" && clause.Type+"/"+clause.SubType == e.StreamType
}

// clauseFormat returns the format that the parameters of an Accept clause select for an encoding; ok is false if the endpoint
// or the encoding does not support that format. Unknown parameters are ignored.
func clauseFormat(params map[string]string, e *Encoding, endpoint Endpoint) (f Format, ok bool) {
	if stream := params["stream"]; stream != "" && (stream != "watch" || e.StreamType == "") {
		return f, false
	}
	if version := params["sv"]; version != "" && (endpoint == Fixed || version != "v1") {
		return f, false
	}
	drop := params[dropMark]
	if endpoint&IgnoreDrop != 0 {
		drop = ""
	}
	if drop == dropsTwice {
		return f, false
	}
	f = Format{Encoding: e, Pretty: params["pretty"] == "1", Drop: endpoint != Fixed && drop == dropsManagedFields}
	as, hasAs := params["as"]
	group, hasGroup := params["g"]
	version, hasVersion := params["v"]
	if !hasAs && !hasGroup && !hasVersion {
		return f, !e.NeedsGoType || !endpoint.isUntyped()
	}
	meta := slices.Index(metaVersions[:], version)
	if endpoint == Fixed || group != metaGroup || meta < 0 {
		return f, false
	}
	f.Meta = MetaVersion(meta)
	switch as {
	case Table.String():
		f.Shape = Table
		return f, e.Tables && endpoint&NoTables == 0
	case Partial.String():
		f.Shape = Partial
	case PartialList.String():
		f.Shape = PartialList
	default:
		return f, false
	}
	return f, true
}

// Pretty reports whether a response should be indented. If rawQuery contains the parameter pretty, its value decides. If not,
// responses to curl, wget and browsers are indented.
func Pretty(rawQuery, userAgent string) bool {
	if strings.Contains(rawQuery, "pretty") {
		values, _ := url.ParseQuery(rawQuery) // despite an error, values contains the valid part of the query
		if value := values.Get("pretty"); value != "" {
			pretty, err := strconv.ParseBool(value)
			return err == nil && pretty
		}
	}
	return strings.HasPrefix(userAgent, "curl") ||
		strings.HasPrefix(userAgent, "Wget") ||
		strings.HasPrefix(userAgent, "Mozilla/5.0")
}

// NegotiateStatus returns the format for the Status of an error. It returns indented JSON if the client accepts no supported
// encoding.
func NegotiateStatus(accept, rawQuery, userAgent string) Format {
	format, err := Negotiate(accept, Fixed)
	if err != nil {
		return Format{Encoding: JSON, Pretty: true}
	}
	format.Pretty = format.Pretty || Pretty(rawQuery, userAgent)
	return format
}

func notAcceptable(accepted ...string) error {
	return notAcceptableError("only the following media types are accepted: " + strings.Join(accepted, ", "))
}

func notAcceptableError(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotAcceptable,
		Reason:  metav1.StatusReasonNotAcceptable,
		Message: message,
	}}
}

// negotiation is the key of negotiationCache: the arguments of Negotiate.
type negotiation struct {
	accept   string
	endpoint Endpoint
}

// negotiationCache maps Accept headers to their formats. Clients send only a few different headers, but send one with every
// request.
type negotiationCache struct {
	mu    sync.RWMutex
	known map[negotiation]Format
}

// The limits of negotiationCache; they are necessary because clients choose the headers.
const (
	maxNegotiations = 512
	maxHeaderBytes  = 1 << 10
)

var negotiated negotiationCache

func (n *negotiationCache) find(key negotiation) (Format, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	format, ok := n.known[key]
	return format, ok
}

func (n *negotiationCache) add(key negotiation, format Format) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= maxNegotiations || len(key.accept) > maxHeaderBytes {
		return
	}
	if n.known == nil {
		n.known = map[negotiation]Format{}
	}
	n.known[key] = format
}
