package server

import (
	"io"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/internal/encoding"
)

// memoryBudget bounds the memory of all request bodies, and of the documents that are decoded from them. A request that does not
// fit is rejected with a 429 at once. It is safe for concurrent use.
//
//	0 ≤ used = sum of users
type memoryBudget struct {
	total int64 // the limit of all requests in bytes; one user can have half of it

	mu    sync.Mutex
	used  int64
	users map[string]int64 // reserved bytes by user name
}

// smallReservation is the maximum size of a small reservation. A quarter of the budget is available to small reservations
// only, so that large bodies of hostile clients do not block ordinary writes.
const smallReservation = 256 << 10

func newMemoryBudget(total int64) *memoryBudget {
	return &memoryBudget{total: total, users: map[string]int64{}}
}

// reservation is the part of a memoryBudget that a request uses. Its methods are called by the goroutine of the request.
type reservation struct {
	budget *memoryBudget
	user   string
	held   int64
}

// grow increases the reservation by n bytes. It returns a 429 if the budget is exhausted. If no other request is active, the
// request can exceed the budget; if the user has no other active request, it can exceed the share of the user.
func (r *reservation) grow(n int64) error {
	b := r.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	all, own := b.used-r.held, b.users[r.user]-r.held // reservations of all other requests, and of other requests of the user
	total := b.total
	if r.held+n > smallReservation {
		total -= total / 4
	}
	if all > 0 && b.used+n > total || own > 0 && b.users[r.user]+n > total/2 {
		return apierrors.NewTooManyRequests("too many large bodies at once; try again in a second", 1)
	}
	r.held += n
	b.used += n
	b.users[r.user] += n
	return nil
}

// release ends the reservation.
func (r *reservation) release() {
	b := r.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= r.held
	if b.users[r.user] -= r.held; b.users[r.user] == 0 {
		delete(b.users, r.user)
	}
	r.held = 0
}

// limitMemory reserves memory for the body of the request while it is read, and for the documents that are decoded from it, until
// the request ends.
func limitMemory(q *request, next handler) error {
	if q.r.Body == nil || q.r.ContentLength == 0 {
		return next(q)
	}
	q.memory = &reservation{budget: q.h.memory, user: userName(q.user)}
	defer q.memory.release()
	q.r.Body = &chargedBody{ReadCloser: q.r.Body, memory: q.memory}
	return next(q)
}

func userName(u user.Info) string {
	if u == nil {
		return ""
	}
	return u.GetName()
}

// copiesOfBody is the maximum memory in bytes for reading one byte of a body: a growing buffer, and the text.
const copiesOfBody = 3

// chargedBody is a body whose bytes are reserved when they are read.
type chargedBody struct {
	io.ReadCloser
	memory *reservation
}

// Read implements io.Reader. It returns a 429 if the budget is exhausted.
func (c *chargedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if n > 0 {
		if refused := c.memory.grow(int64(n) * copiesOfBody); refused != nil {
			return n, refused
		}
	}
	return n, err
}

// reserveDecoding reserves memory for the documents of a body before it is decoded.
func (q *request) reserveDecoding(e *encoding.Encoding, text string) error {
	if q.memory == nil {
		return nil
	}
	return q.memory.grow(decodedBytes(e, text))
}

// The memory of a write per byte and per value of a text body, in bytes. TestDecodedBytes compares them with measurements.
const (
	bytesPerByte      = 8   // per byte: copies of the text when it is decoded, merged and encoded
	bytesPerValue     = 150 // per value of JSON: nodes of documents, defaults, errors
	bytesPerYAMLValue = 350 // per value of YAML: also the nodes of the YAML parser
)

// decodedBytes estimates the memory in bytes that the stages of a write need for a body.
func decodedBytes(e *encoding.Encoding, text string) int64 {
	size := int64(len(text))
	switch {
	case e.BytesPerByte > 0:
		return size * e.BytesPerByte
	case e.YAML && !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{"):
		return size*bytesPerByte + valuesIn(text, ",\n{[&*")*bytesPerYAMLValue
	}
	return size*bytesPerByte + valuesIn(text, ",{[")*bytesPerValue
}

// valuesIn counts the characters in a text that separate values.
func valuesIn(text, separators string) (n int64) {
	for i := range len(separators) {
		n += int64(strings.Count(text, separators[i:i+1]))
	}
	return n
}
