package custom

import (
	"context"
	"errors"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/cache/cachetest"
)

// TestWhatCountsAsAnAnswer: who stands before a webhook and says that it is not there has not answered for it.
func TestWhatCountsAsAnAnswer(t *testing.T) {
	status := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "post", schema.GroupResource{}, "", "", 0, true)
	}
	for _, test := range []struct {
		err        error
		isAnswered bool
	}{
		{errors.New("connection refused"), false},
		{context.DeadlineExceeded, false},
		{status(http.StatusServiceUnavailable), false},
		{status(http.StatusBadGateway), false},
		{status(http.StatusGatewayTimeout), false},
		{status(http.StatusTooManyRequests), false},
		{status(http.StatusInternalServerError), true},
		{status(http.StatusBadRequest), true},
	} {
		k, h := openHooked(t, cachetest.OpenStore(t))
		k.mustCreate("v1", "one", "")
		h.set(func(context.Context, string) error { return test.err }, nil)
		if _, err := k.shown("v2", "one"); err == nil || isUnanswered(err) == test.isAnswered {
			t.Errorf("%v: it counts as an answer: %t, expected %t", err, !isUnanswered(err), test.isAnswered)
		}
		k.stop()
	}
}
