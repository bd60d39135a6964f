package watchcache

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/internal/storage"
)

var (
	// ErrTooOld reports that the requested revision is older than the retained history, or that a watcher was too slow. The
	// client must list again and watch from the revision of that list.
	ErrTooOld = errors.New("cache: the revision is older than the retained history; list again and watch from the revision of the list")
	// ErrClosed reports that the cache or the watcher has been closed.
	ErrClosed = errors.New("cache: the cache or the watch is closed")
)

// TooNewError reports that the requested revision is in the future. Requested is the requested revision; Now is the current
// revision of the cache.
type TooNewError struct{ Requested, Now storage.Revision }

func (e *TooNewError) Error() string {
	return fmt.Sprintf("cache: expected a revision up to %d, received %d; retry later, or request an earlier revision", e.Now, e.Requested)
}

// errExactly is returned by Get and Watch if Freshness is Exactly, because they read only current objects.
var errExactly = errors.New("cache: expected a freshness other than Exactly, which only List supports")

// translateError returns the error of the cache that corresponds to err, an error of the store.
func translateError(err error) error {
	switch {
	case errors.Is(err, storage.ErrCompacted):
		return ErrTooOld
	case errors.Is(err, storage.ErrClosed):
		return ErrClosed
	}
	return err
}

// UnreadableError reports that the value of a key in the store cannot be read as an object.
type UnreadableError struct {
	Key string
	Err error
	// HasReason reports whether the store has returned Err for this value. Err then contains nothing of the value, and names what
	// makes the value readable.
	HasReason bool
}

func (e *UnreadableError) Error() string {
	if e.HasReason {
		return fmt.Sprintf("cache: %s: expected an object, received an unreadable value: %v", e.Key, e.Err)
	}
	return fmt.Sprintf("cache: %s: expected an object, received an unreadable value: %v; delete or replace it", e.Key, e.Err)
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// UnknownFieldError reports that a field selector contains a field that is not a selectable field of the resource. Known
// lists the selectable fields.
type UnknownFieldError struct {
	Kind, Field string
	Known       []string
}

func (e *UnknownFieldError) Error() string {
	return fmt.Sprintf("cache: %s: field selector: expected one of %s, received %q", e.Kind, strings.Join(e.Known, ", "), e.Field)
}
