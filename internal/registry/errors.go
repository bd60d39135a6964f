package objects

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/store"
)

// StoreError says to a client why something can't be read, or was not written.
func StoreError(err error) error {
	var (
		tooNew  *cache.TooNewError
		unknown *store.UnknownError
	)
	switch {
	case isStatus(err):
		return err
	case errors.As(err, &unknown): // before its reason, such as a context that has ended
		return apierrors.NewTimeoutError(fmt.Sprintf("nobody can tell whether this was written: %v; read the object to find out", err), 1)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return apierrors.NewTimeoutError("the request took too long", 1)
	case errors.Is(err, cache.ErrTooOld):
		return apierrors.NewResourceExpired("The provided resource version is too old: " + err.Error())
	case errors.As(err, &tooNew):
		return tooNewError(tooNew)
	case errors.Is(err, cache.ErrClosed), errors.Is(err, store.ErrClosed):
		return apierrors.NewServiceUnavailable("the server is being stopped")
	default:
		return apierrors.NewInternalError(err)
	}
}

// tooNewError is for reads at a revision that has not been: the client may try again.
func tooNewError(e *cache.TooNewError) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", e.Wanted, e.Now), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}

// isStatus reports whether an error is made for clients already.
func isStatus(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}
