package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Error is what a server refuses.
type Error struct {
	Code int
	// Reason is Kubernetes' word for why, such as NotFound; Message is for people.
	Reason, Message string
	// Causes are the parts of it, such as one for each conflict.
	Causes []Cause
	// Continue is where a list goes on that took too long: with objects as they are now.
	Continue string
	// Request is what was refused.
	Request string
}

// Cause is a part of why a server refuses something.
type Cause struct{ Reason, Field, Message string }

func (e *Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("%s: %d %s", e.Request, e.Code, http.StatusText(e.Code))
	}
	return e.Message
}

// readError reads the answer of a server that refuses a request.
func readError(r request, code int, body string) error {
	e := &Error{Code: code, Request: r.method + " " + r.path}
	status, err := document.ParseJSONLimited(body, document.Limits{MaxBytes: -1})
	if err != nil || status.Get("kind").Text() != "Status" {
		e.Message = fmt.Sprintf("%s: %d %s: %s", e.Request, code, http.StatusText(code), firstLine(body))
		return e
	}
	e.Reason, e.Message = status.Get("reason").Text(), oneLine(status.Get("message").Text())
	if code == http.StatusUnauthorized {
		e.Message = "the server does not accept your credentials, or there are none: " + e.Message
	}
	e.Continue = status.Lookup("metadata", "continue").Text()
	for _, cause := range status.Lookup("details", "causes").Items() {
		e.Causes = append(e.Causes, Cause{cause.Get("reason").Text(), cause.Get("field").Text(), cause.Get("message").Text()})
	}
	return e
}

// oneLine puts what a server says into one line. Kubernetes lists several problems below each other, as "errors:".
func oneLine(message string) string {
	var line strings.Builder
	for part := range strings.Lines(message) {
		part = strings.TrimSpace(part)
		switch {
		case line.Len() == 0 || part == "":
		case strings.HasSuffix(line.String(), ":"):
			line.WriteByte(' ')
		default:
			line.WriteString("; ")
		}
		line.WriteString(strings.TrimSpace(strings.TrimSuffix(part, "errors:")))
	}
	return line.String()
}

// firstLine is the beginning of an answer that is not as Kubernetes answers.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.HasPrefix(line, "<") {
		return "received a page for people: is this a Kubernetes API server?"
	}
	if len(line) > maxLineBytes {
		line = strings.ToValidUTF8(line[:maxLineBytes], "") + "…"
	}
	return line
}

// longestLine is how much is told of it, in bytes.
const maxLineBytes = 200

// IsCode reports whether a server refused something with a status code.
func IsCode(err error, code int) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// NoAnswerError is a request that got no answer: the server is gone, or nobody waits for it any more.
type NoResponseError struct {
	// MayBeDone says that it asked to write, and may have reached the server.
	OutcomeUnknown bool
	Err            error
}

func (e *NoResponseError) Error() string { return e.Err.Error() }
func (e *NoResponseError) Unwrap() error { return e.Err }

// noAnswer is for a request that may have reached the server.
func noResponse(r request, err error) error {
	return &NoResponseError{OutcomeUnknown: r.method != http.MethodGet && r.query.Get("dryRun") == "", Err: err}
}

// notSent is for a request that failed before an answer began: without a connection it was not sent at all.
func notSent(r request, err error) error {
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &dial) && dial.Op == "dial" || errors.As(err, &certificate) {
		return &NoResponseError{Err: err}
	}
	return noResponse(r, err)
}

// orStopped is why nobody waits for the answer any more, if that is so, instead of how that looks.
func orCancelled(ctx context.Context, r request, err error) error {
	if stopped := context.Cause(ctx); stopped != nil {
		return noResponse(r, stopped)
	}
	return err
}

// unwrapURL takes the URL out of an error, which is long and tells little.
func unwrapURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
