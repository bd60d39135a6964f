package admissiontest

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Signers is an authorizer that allows the user tester to approve and to sign certificates for the signer example.com/mine
// and for all signers of the domain all.example.com. It has no opinion about other requests.
var Signers = authorizer.AuthorizerFunc(func(_ context.Context, at authorizer.Attributes) (authorizer.Decision, string, error) {
	isVerb := at.GetVerb() == "approve" || at.GetVerb() == "sign"
	isSigner := at.IsResourceRequest() && at.GetAPIGroup() == "certificates.k8s.io" && at.GetResource() == "signers" && at.GetSubresource() == ""
	isName := at.GetName() == "example.com/mine" || at.GetName() == "all.example.com/*"
	if isVerb && isSigner && isName && at.GetNamespace() == "" && at.GetUser().GetName() == "tester" {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
})
