package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// StoreError returns the API status for an error of the store or the watch cache. An API status is returned unchanged; an
// unknown error becomes a 500.
func StoreError(err error) error {
	var (
		tooNew     *watchcache.TooNewError
		unknown    *storage.UnknownError
		noSpace    *storage.NoSpaceError
		limit      *storage.LimitError
		away       *storage.UnavailableError
		unreadable *watchcache.UnreadableError
	)
	switch {
	case isStatus(err):
		return err
	case errors.As(err, &unknown): // precedes the next case, because an error of unknown outcome may wrap context.Canceled
		status := apierrors.NewTimeoutError("the outcome of the write is unknown: the storage failed or is slow; read the object to find out", 1)
		return &storeFailure{status, err}
	case errors.As(err, &away): // may wrap context.DeadlineExceeded, too
		return &storeFailure{unavailableError(), err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return apierrors.NewTimeoutError("the request took too long", 1)
	case errors.As(err, &noSpace):
		return noSpaceError(noSpace)
	case errors.As(err, &limit):
		return apierrors.NewRequestEntityTooLargeError(limit.Error())
	case errors.Is(err, watchcache.ErrTooOld):
		return apierrors.NewResourceExpired("The provided resource version is too old: " + err.Error())
	case errors.As(err, &tooNew):
		return tooNewError(tooNew)
	case errors.Is(err, watchcache.ErrClosed), errors.Is(err, storage.ErrClosed):
		return apierrors.NewServiceUnavailable("the server is being stopped")
	case errors.As(err, &unreadable) && unreadable.HasReason:
		return &unreadableFailure{apierrors.NewInternalError(fmt.Errorf("%s: %w", unreadable.Key, unreadable.Err)), unreadable}
	default:
		return &storeFailure{apierrors.NewInternalError(errors.New("the storage failed; the server's log has the error")), err}
	}
}

// storeFailure is the 500 for an error of the store. The Status does not contain the error, which may name files; the server
// logs the error. It does not wrap the error, so that a wrapped conflict is not retried.
type storeFailure struct {
	*apierrors.StatusError
	cause error
}

func (f *storeFailure) Error() string { return f.cause.Error() }

// unreadableFailure is the 500 for a stored object that cannot be read, with the reason.
type unreadableFailure struct {
	*apierrors.StatusError
	cause *watchcache.UnreadableError
}

// Unwrap returns the error of the watch cache.
func (f *unreadableFailure) Unwrap() error { return f.cause }

// tooNewError returns Kubernetes' 504 for a read at a resourceVersion that does not exist yet.
func tooNewError(e *watchcache.TooNewError) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", e.Requested, e.Now), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}

// unavailableError returns the 503 for an operation that the store could not perform because it does not respond. Nothing was written.
func unavailableError() *apierrors.StatusError {
	err := apierrors.NewServiceUnavailable("the storage does not respond; nothing was written; retry later")
	err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
	return err
}

// noSpaceError returns the 507 for a write that the store rejects because it is out of space. Kubernetes returns a 500 for the
// corresponding error of etcd.
func noSpaceError(e *storage.NoSpaceError) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInsufficientStorage, Reason: "InsufficientStorage", Message: e.Error(),
	}}
}

// isStatus reports whether an error is an API status.
func isStatus(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}
