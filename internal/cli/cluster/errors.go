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

// Error is an error response of the API server, decoded from its Status.
type Error struct {
	Code int
	// Reason is the StatusReason, such as NotFound. Message is the message of the Status on one line.
	Reason, Message string
	// Causes are the causes in the details of the Status, for instance one per conflict of an apply.
	Causes []Cause
	// Continue is the continue token with which an expired list can be resumed at the current state; "" if there is none.
	Continue string
	// Request is the method and path of the request.
	Request string
}

// Cause is a StatusCause.
type Cause struct{ Reason, Field, Message string }

func (e *Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("%s: %d %s", e.Request, e.Code, http.StatusText(e.Code))
	}
	return e.Message
}

// readError returns the *Error for the error response to r with the status code and body. If body is not a Status, its first
// line becomes the message.
func readError(r request, code int, body string) error {
	e := &Error{Code: code, Request: r.method + " " + r.path}
	status, err := document.ParseJSONLimited(body, document.Limits{MaxBytes: -1})
	if err != nil || status.Get("kind").Text() != "Status" {
		e.Message = fmt.Sprintf("%s: %d %s: %s", e.Request, code, http.StatusText(code), firstLine(body))
		return e
	}
	e.Reason, e.Message = status.Get("reason").Text(), oneLine(status.Get("message").Text())
	if code == http.StatusUnauthorized {
		e.Message = "the server rejected the credentials, or none were sent: " + e.Message
	}
	e.Continue = status.Lookup("metadata", "continue").Text()
	for _, cause := range status.Lookup("details", "causes").Items() {
		e.Causes = append(e.Causes, Cause{cause.Get("reason").Text(), cause.Get("field").Text(), cause.Get("message").Text()})
	}
	return e
}

// oneLine joins the lines of message with semicolons, and removes the word "errors:" that Kubernetes writes before a list of
// errors.
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

// firstLine returns the first line of text, a response body that is not a Status, truncated to maxLineBytes. If text is an
// HTML page, firstLine returns a hint instead.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.HasPrefix(line, "<") {
		return "received an HTML page: is this a Kubernetes API server?"
	}
	if len(line) > maxLineBytes {
		line = strings.ToValidUTF8(line[:maxLineBytes], "") + "…"
	}
	return line
}

// maxLineBytes is the maximum length of the line that firstLine returns, in bytes.
const maxLineBytes = 200

// IsCode reports whether err is an *Error with the HTTP status code.
func IsCode(err error, code int) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// NoResponseError is the error of a request that received no response: the connection failed, or the context was cancelled.
type NoResponseError struct {
	// OutcomeUnknown reports that the request was a write that may have reached the server.
	OutcomeUnknown bool
	Err            error
}

func (e *NoResponseError) Error() string { return e.Err.Error() }
func (e *NoResponseError) Unwrap() error { return e.Err }

// noResponseError returns the NoResponseError of request r, which may have reached the server. Its OutcomeUnknown is true if
// r is a write.
func noResponseError(r request, err error) error {
	return &NoResponseError{OutcomeUnknown: r.method != http.MethodGet && r.query.Get("dryRun") == "", Err: err}
}

// notSentError returns the NoResponseError of request r, which failed with err before a response header was received. If err
// means that no connection was established, r was not sent, so OutcomeUnknown is false.
func notSentError(r request, err error) error {
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &dial) && dial.Op == "dial" || errors.As(err, &certificate) {
		return &NoResponseError{Err: err}
	}
	return noResponseError(r, err)
}

// cancellationOr returns err, or a NoResponseError with the cause of the cancellation if ctx is cancelled.
func cancellationOr(ctx context.Context, r request, err error) error {
	if stopped := context.Cause(ctx); stopped != nil {
		return noResponseError(r, stopped)
	}
	return err
}

// unwrapURL returns the error within err if err wraps a *url.Error, whose message repeats the method and URL. It returns any
// other err unchanged.
func unwrapURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
