package custom

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/internal/store"
	"github.com/cadastre/cadastre/internal/webhook"
)

// mapped are two versions that a webhook converts, with a map, and one in the status.
const mapped = `{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer"},
    "map":{"type":"object",%[1]s"additionalProperties":{"type":"integer"}},"status":{"type":"object","properties":{"map":{"type":"object",%[1]s"additionalProperties":{"type":"integer"}}}}}}}},
  {"name":"v2","served":true,"storage":false,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{"sizes":{"type":"integer"},
    "map":{"type":"object",%[1]s"additionalProperties":{"type":"integer"}},"status":{"type":"object","properties":{"map":{"type":"object",%[1]s"additionalProperties":{"type":"integer"}}}}}}}}`

const (
	wholeMap = `"f:map":{}`
	eachOfIt = `"f:map":{"f:x":{}}`
)

func versionsAs(merging string) string { return fmt.Sprintf(mapped, merging) }

func (k *kit) mergeVersions(versions string) {
	k.Helper()
	k.mergeDefinition("widgets", `{"spec":{"versions":[`+versions+`]}}`)
}

// hooks are webhooks that answer as they are told to, and note what they are asked.
type hooks struct {
	mu    sync.Mutex
	sizes []int // of each review
	// fail says why a review has no answer, refuse why objects of these names are not converted; nil if they do.
	fail   func(ctx context.Context, url string) error
	refuse func(name string) bool
}

func (h *hooks) Call(ctx context.Context, target *webhook.Target, review, answer runtime.Object) error {
	h.mu.Lock()
	h.sizes = append(h.sizes, len(review.(*apiextensionsv1.ConversionReview).Request.Objects))
	fail, refuse := h.fail, h.refuse
	h.mu.Unlock()
	if fail != nil {
		if err := fail(ctx, target.URL); err != nil {
			return err
		}
	}
	converts := counted{answer: func(names []string, response *apiextensionsv1.ConversionResponse) error {
		if refuse != nil && slices.ContainsFunc(names, refuse) {
			response.Result = metav1.Status{Status: metav1.StatusFailure, Message: "not this one"}
		}
		return nil
	}}
	return converts.Call(ctx, target, review, answer)
}

func (h *hooks) set(fail func(context.Context, string) error, refuse func(string) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fail, h.refuse, h.sizes = fail, refuse, nil
}

func (h *hooks) reviews() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.sizes)
}

func isDown(context.Context, string) error { return errors.New("connection refused") }

func isLate(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }

// byHooks is what a definition says that is converted by a webhook at a path.
func byHooks(path string) string {
	return `"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://hooks.example.com/` + path + `"}}}`
}

// openHooked returns a kit whose widgets are converted by hooks, with a map that is atomic.
func openHooked(t *testing.T, over store.Store) (*kit, *hooks) {
	t.Helper()
	h := &hooks{}
	return openWith(t, over, h).hooked(), h
}

func (k *kit) hooked() *kit {
	k.Helper()
	k.defineWidgets(versionsAs(mapAsAtom), ","+byHooks("first"))
	return k
}
