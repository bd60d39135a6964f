package authn

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The headers by which somebody asks to be taken for somebody else.
const (
	impersonateUser  = "Impersonate-User"
	impersonateUID   = "Impersonate-Uid"
	impersonateGroup = "Impersonate-Group"
	impersonateExtra = "Impersonate-Extra-"
)

// Impersonation returns whom the sender of a request asks to be taken for, as it was asked, nil if
// there is no such wish; whether it is granted is for package rbac to say. The headers are removed:
// whoever comes next need not know.
func Impersonation(header http.Header) (*User, error) {
	wanted := &User{Name: header.Get(impersonateUser), UID: header.Get(impersonateUID), Groups: header[impersonateGroup]}
	asks := wanted.UID != "" || len(wanted.Groups) > 0
	for name, values := range header {
		key, ok := strings.CutPrefix(name, impersonateExtra)
		if !ok {
			continue
		}
		asks = true
		if len(values) > 0 {
			wanted.addExtra(extraKey(key), values)
		}
	}
	if wanted.Name != "" {
		clearImpersonation(header)
		return wanted, nil
	}
	if asks {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("requested uid %q, groups %q and extra %q without impersonating a user name", wanted.UID, wanted.Groups, wanted.Extra))
	}
	return nil, nil
}

func (u *User) addExtra(key string, values []string) {
	if u.Extra == nil {
		u.Extra = map[string][]string{}
	}
	u.Extra[key] = append(u.Extra[key], values...)
}

// extraKey returns what a part of a header's name means: names of headers have no case, and can't
// have all characters. What can't be decoded means itself.
func extraKey(encoded string) string {
	lower := strings.ToLower(encoded)
	if key, err := url.PathUnescape(lower); err == nil {
		return key
	}
	return lower
}

func clearImpersonation(header http.Header) {
	for name := range header {
		if name == impersonateUser || name == impersonateUID || name == impersonateGroup || strings.HasPrefix(name, impersonateExtra) {
			delete(header, name)
		}
	}
}
