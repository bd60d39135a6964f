package admissiontest

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Signers allows the user of the tests to approve and to sign certificates of the signer example.com/mine and of all signers
// of the domain all.example.com.
var Signers = authorizer.AuthorizerFunc(func(_ context.Context, at authorizer.Attributes) (authorizer.Decision, string, error) {
	isVerb := at.GetVerb() == "approve" || at.GetVerb() == "sign"
	isSigner := at.IsResourceRequest() && at.GetAPIGroup() == "certificates.k8s.io" && at.GetResource() == "signers" && at.GetSubresource() == ""
	isName := at.GetName() == "example.com/mine" || at.GetName() == "all.example.com/*"
	if isVerb && isSigner && isName && at.GetNamespace() == "" && at.GetUser().GetName() == "tester" {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
})
