package custom

import (
	"github.com/cadastre/cadastre/document"
)

// newConverter returns what a definition converts its objects by.
func newConverter(r *reading, webhooks Webhooks) converter {
	if r.conversion.Get("strategy").Text() == "Webhook" {
		return newWebhook(r, webhooks)
	}
	return none{}
}

// none is the conversion of definitions whose versions are all alike: only the apiVersion changes.
type none struct{}

// Convert implements converter.
func (none) Convert(doc document.Value, to string) (document.Value, error) {
	return doc.With("apiVersion", document.NewString(to)), nil
}
