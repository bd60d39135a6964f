package authn

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The headers of impersonation, in their canonical form. impersonateExtra is the prefix of a header name.
const (
	impersonateUser  = "Impersonate-User"
	impersonateUID   = "Impersonate-Uid"
	impersonateGroup = "Impersonate-Group"
	impersonateExtra = "Impersonate-Extra-"
)

// Impersonation returns the user that the impersonation headers of a request describe, nil if there are no such headers, and
// removes the headers. It does not check whether the impersonation is allowed. Headers without a user name are a 400.
func Impersonation(header http.Header) (*User, error) {
	target := &User{Name: header.Get(impersonateUser), UID: header.Get(impersonateUID), Groups: header[impersonateGroup]}
	hasHeaders := target.UID != "" || len(target.Groups) > 0
	for name, values := range header {
		key, ok := strings.CutPrefix(name, impersonateExtra)
		if !ok {
			continue
		}
		hasHeaders = true
		if len(values) > 0 {
			addExtra(target, extraKey(key), values)
		}
	}
	if target.Name != "" {
		removeImpersonation(header)
		return target, nil
	}
	if hasHeaders {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("requested uid %q, groups %q and extra %q without impersonating a user name", target.UID, target.Groups, target.Extra))
	}
	return nil, nil
}

func addExtra(u *User, key string, values []string) {
	if u.Extra == nil {
		u.Extra = map[string][]string{}
	}
	u.Extra[key] = append(u.Extra[key], values...)
}

// extraKey decodes the key of an extra field from the suffix of its header name, which is percent-encoded and not
// case-sensitive. A suffix that cannot be decoded is used as it is, in lower case.
func extraKey(encoded string) string {
	lower := strings.ToLower(encoded)
	if key, err := url.PathUnescape(lower); err == nil {
		return key
	}
	return lower
}

func removeImpersonation(header http.Header) {
	for name := range header {
		if name == impersonateUser || name == impersonateUID || name == impersonateGroup || strings.HasPrefix(name, impersonateExtra) {
			delete(header, name)
		}
	}
}
