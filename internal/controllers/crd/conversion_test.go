package crd_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// TestUnavailableWebhook: IsUnavailable reports true for a conversion webhook that failed with a connection error, a timeout, 429
// or a gateway error of a proxy (502, 503, 504), and false for any other error, because the webhook itself has returned it.
func TestUnavailableWebhook(t *testing.T) {
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
		h := &crdtest.Webhooks{}
		k := crdtest.OpenWith(t, watchcachetest.OpenStore(t), h)
		k.DefineWidgets(crdtest.TwoSizes, ","+crdtest.ConversionBy("first"))
		k.MustCreate("v1", "one", "")
		h.Fail(func(context.Context, string) error { return test.err })
		if _, err := k.Served("v2", "one"); err == nil || crd.IsUnavailable(err) == test.isAnswered {
			t.Errorf("IsUnavailable(%v) = %t, want %t", err, crd.IsUnavailable(err), !test.isAnswered)
		}
		k.Stop()
	}
}
