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

// continueToken is where a list goes on. Clients send it back as they got it.
type continueToken struct {
	Version string `json:"v"`
	// Revision is that of the first page; -1 means that the rest may be newer.
	Revision int64 `json:"rv"`
	// After is the key of the last object that the client has.
	After string `json:"after"`
}

const (
	continueVersion = "cadastre/v1"
	newest          = -1
)

// writeContinue returns the token for what comes after a page.
func writeContinue(list watchcache.List) string {
	return continueToken{continueVersion, int64(list.Revision), list.Objects[len(list.Objects)-1].Key()}.String()
}

func (t continueToken) String() string {
	text, err := json.Marshal(t)
	if err != nil {
		panic(err) // it is made of strings and numbers
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// readContinue reads a token. It must be about the kind that is listed.
func readContinue(o listOptions, kind string) (after string, f watchcache.Freshness, err error) {
	var t continueToken
	text, err := base64.RawURLEncoding.DecodeString(o.Continue)
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil || t.Version != continueVersion || t.Revision <= 0 && t.Revision != newest || !strings.HasPrefix(t.After, kind+"/") {
		return "", f, apierrors.NewBadRequest(fmt.Sprintf("invalid continue token: continue key is not valid: expected what a list of %s returned as metadata.continue, received %q", kind, o.Continue))
	}
	if o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return "", f, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	if t.Revision == newest {
		return t.After, watchcache.Latest, nil
	}
	return t.After, watchcache.Exactly(storage.Revision(t.Revision)), nil
}

// expiredContinue tells a client that the state of its first page is forgotten. It may begin
// anew, or go on with the state of now.
func expiredContinue(after string) error {
	err := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, " +
		"or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - " +
		"objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	err.ErrStatus.ListMeta.Continue = continueToken{continueVersion, newest, after}.String()
	return err
}
