package codec

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Endpoint is what an answer is about, as far as its format depends on that.
type Endpoint uint8

// The endpoints.
const (
	// Objects are those of a kind, in every shape.
	Objects Endpoint = iota
	// Watch is a stream of events about objects.
	Watch
	// Fixed answers have one shape: discovery, errors.
	Fixed

	// Untyped is added to Objects and Watch for kinds that have no protobuf but that of their metadata.
	Untyped Endpoint = 1 << 7
)

// isWatch and isUntyped tell what an endpoint is.
func (e Endpoint) isWatch() bool   { return e&^Untyped == Watch }
func (e Endpoint) isUntyped() bool { return e&Untyped != 0 }

// Negotiate returns the format that an Accept header asks for, or an error with the status 406 if
// there is none. Clauses are tried by their weight and then in their order. Whether the answer is for people
// depends on more than the header: see Pretty.
func Negotiate(accept string, endpoint Endpoint) (Format, error) {
	asked := question{accept, endpoint}
	if format, ok := answered.find(asked); ok {
		return format, nil
	}
	format, err := negotiate(accept, endpoint)
	if err == nil {
		answered.add(asked, format)
	}
	return format, err
}

// negotiate is Negotiate for headers that nobody has sent before.
func negotiate(accept string, endpoint Endpoint) (Format, error) {
	if accept == "" {
		return Format{}, nil
	}
	for _, clause := range goautoneg.ParseAccept(markDrops(accept)) {
		if endpoint.isWatch() && clause.Type+"/"+clause.SubType == cborSequence {
			clause.SubType = "cbor" // who means the sequence may say so
		}
		for media := range Media(len(mediaTypes)) {
			if !covers(&clause, media) {
				continue
			}
			format, ok := clauseFormat(clause.Params, media, endpoint)
			switch {
			case !ok:
				continue
			case endpoint.isWatch() && !media.canStream():
				// The first clause that fits counts, even if it can't be streamed.
				return Format{}, notAcceptable(streamTypes()...)
			}
			return format, nil
		}
	}
	return Format{}, notAcceptable(mediaTypes[:]...)
}

// streamTypes are the media that watches can be written in.
func streamTypes() (types []string) {
	for media, name := range mediaTypes {
		switch {
		case Media(media) == CBOR:
			types = append(types, cborSequence)
		case Media(media).canStream():
			types = append(types, name+";stream=watch")
		}
	}
	return types
}

// covers reports whether a clause means a media type, perhaps among others.
func covers(clause *goautoneg.Accept, media Media) bool {
	kind, name, _ := strings.Cut(media.String(), "/")
	switch clause.Type {
	case kind:
		return clause.SubType == name || clause.SubType == "*"
	case "*":
		return clause.SubType == "*"
	}
	return false
}

// clauseFormat returns the format that the parameters of a clause ask for; ok is false if the
// endpoint doesn't have it. Parameters that nobody knows mean nothing.
func clauseFormat(params map[string]string, media Media, endpoint Endpoint) (f Format, ok bool) {
	if stream := params["stream"]; stream != "" && (stream != "watch" || !media.canStream()) {
		return f, false
	}
	if version := params["sv"]; version != "" && (endpoint == Fixed || version != "v1") {
		return f, false
	}
	f = Format{Media: media, Pretty: params["pretty"] == "1", Drop: endpoint != Fixed && params[dropMark] != ""}
	as, hasAs := params["as"]
	group, hasGroup := params["g"]
	version, hasVersion := params["v"]
	if !hasAs && !hasGroup && !hasVersion {
		return f, media != Protobuf || !endpoint.isUntyped()
	}
	if endpoint == Fixed || group != metaGroup {
		return f, false
	}
	switch version {
	case "v1":
		f.Meta = MetaV1
	case "v1beta1":
		f.Meta = MetaV1beta1
	default:
		return f, false
	}
	switch as {
	case "Table":
		f.Shape = Table
		return f, !f.isPacked()
	case "PartialObjectMetadata":
		f.Shape = Partial
	case "PartialObjectMetadataList":
		f.Shape = PartialList
	default:
		return f, false
	}
	return f, true
}

// Pretty reports whether an answer is for a person: the query says so, or the client is one that
// people type into.
func Pretty(rawQuery, userAgent string) bool {
	if strings.Contains(rawQuery, "pretty") {
		// A query that can't be read in full still has what can be read.
		values, _ := url.ParseQuery(rawQuery)
		if wish := values.Get("pretty"); wish != "" {
			pretty, err := strconv.ParseBool(wish)
			return err == nil && pretty
		}
	}
	return strings.HasPrefix(userAgent, "curl") ||
		strings.HasPrefix(userAgent, "Wget") ||
		strings.HasPrefix(userAgent, "Mozilla/5.0")
}

// NegotiateStatus returns the format of an error. An error is always told: to who accepts nothing
// that we can write, as JSON for people.
func NegotiateStatus(accept, rawQuery, userAgent string) Format {
	format, err := Negotiate(accept, Fixed)
	if err != nil {
		return Format{Pretty: true}
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

// AcceptsGzip reports whether an Accept-Encoding header allows gzip. What it says of gzip counts more than what it says of
// all that it does not name.
func AcceptsGzip(header string) bool {
	others := false
	for clause := range strings.SplitSeq(header, ",") {
		coding, parameters, _ := strings.Cut(clause, ";")
		switch coding = strings.TrimSpace(coding); {
		case strings.EqualFold(coding, "gzip"):
			return hasWeight(parameters)
		case coding == "*":
			others = hasWeight(parameters)
		}
	}
	return others
}

// hasWeight reports whether the parameters of a clause give it any weight. Without a weight that can be read it has all.
func hasWeight(parameters string) bool {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return err != nil || weight > 0
	}
	return true
}
