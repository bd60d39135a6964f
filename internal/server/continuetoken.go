package server

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// continueToken is the position of the next page of a list. Clients receive it, encoded, as metadata.continue.
type continueToken struct {
	// Version is the version of the token's format; it is always continueVersion.
	Version string `json:"v"`
	// Revision is the revision of the first page, at which the next page is read, or latestRevision if the next page is read at
	// the latest revision.
	Revision int64 `json:"rv"`
	// After is the key of the last object of the previous page.
	After string `json:"after"`
}

const (
	continueVersion = "cadastre/v1"
	latestRevision  = -1
)

// newContinue returns the encoded token of the page after list, which must not be empty.
func newContinue(list watchcache.List) string {
	return continueToken{continueVersion, int64(list.Revision), list.Objects[len(list.Objects)-1].Key()}.String()
}

// String returns the token encoded as base64.
func (t continueToken) String() string {
	text, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// parseContinue decodes the continue token of a list request. It returns the key after which the page starts and the revision
// to read, or a 400 for an invalid token and for a token of another resource.
func parseContinue(o listOptions, kind string) (after string, f watchcache.Freshness, err error) {
	var t continueToken
	text, err := base64.RawURLEncoding.DecodeString(o.Continue)
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil || t.Version != continueVersion || t.Revision <= 0 && t.Revision != latestRevision || !strings.HasPrefix(t.After, kind+"/") {
		return "", f, apierrors.NewBadRequest(fmt.Sprintf("invalid continue token: continue key is not valid: expected what a list of %s returned as metadata.continue, received %q", kind, o.Continue))
	}
	if o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return "", f, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	if t.Revision == latestRevision {
		return t.After, watchcache.Latest, nil
	}
	return t.After, watchcache.Exactly(storage.Revision(t.Revision)), nil
}

// expiredContinue returns the 410 for a continue token whose revision was compacted. The Status contains a new token with
// which the client can continue after the key of the expired token, at the latest revision.
func expiredContinue(after string) error {
	err := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, " +
		"or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - " +
		"objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	err.ErrStatus.ListMeta.Continue = continueToken{continueVersion, latestRevision, after}.String()
	return err
}
