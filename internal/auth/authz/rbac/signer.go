package rbac

import (
	"context"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// AllowsSigner reports whether a user has the permission for a verb, such as approve or sign, on a signer of certificates, or
// on all signers of its domain. An error of the authorizer denies the permission.
func AllowsSigner(ctx context.Context, a authorizer.Authorizer, u user.Info, verb, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	for _, name := range []string{signer, domain + "/*"} {
		decision, _, err := a.Authorize(ctx, authorizer.AttributesRecord{
			User: u, Verb: verb, APIGroup: "certificates.k8s.io", APIVersion: "*", Resource: "signers", Name: name,
			ResourceRequest: true,
		})
		if err == nil && decision == authorizer.DecisionAllow {
			return true
		}
	}
	return false
}
