package watchcache

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/internal/storage"
)

var (
	// ErrTooOld says that what was asked for is older than what is kept, or that a watcher
	// was too slow. Whoever gets it lists anew and goes on from there.
	ErrTooOld = errors.New("cache: the revision is older than the history that is kept; list again and go on from there")
	// ErrClosed says that the cache has been closed.
	ErrClosed = errors.New("cache: closed")
)

// TooNewError says that a revision was asked for that has not been.
type TooNewError struct{ Wanted, Now storage.Revision }

func (e *TooNewError) Error() string {
	return fmt.Sprintf("cache: expected a revision up to %d, received %d; try again later, or ask for a revision that has been", e.Now, e.Wanted)
}

// errExactly says that there is only one current version of an object.
var errExactly = errors.New("cache: expected a freshness other than Exactly, which is for lists")

// fromStore turns the store's errors into the cache's.
func fromStore(err error) error {
	switch {
	case errors.Is(err, storage.ErrCompacted):
		return ErrTooOld
	case errors.Is(err, storage.ErrClosed):
		return ErrClosed
	}
	return err
}

// UnreadableError says that the store has something that is not an object.
type UnreadableError struct {
	Key string
	Err error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("cache: %s: not a readable object: %v; delete it, or write it anew", e.Key, e.Err)
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// UnknownFieldError says that objects of a kind can't be selected by a field.
type UnknownFieldError struct {
	Kind, Field string
	Known       []string
}

func (e *UnknownFieldError) Error() string {
	return fmt.Sprintf("cache: %s: can't be selected by field %q; expected one of %s", e.Kind, e.Field, strings.Join(e.Known, ", "))
}
