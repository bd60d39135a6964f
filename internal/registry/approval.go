package registry

// approvalSubresource is the subresource approval, which approves or denies a CertificateSigningRequest. Only conditions can
// change, and the conditions Approved, Denied and Failed cannot be removed. The kind's reset fields and Prepare function restore
// other fields and set the times of conditions.
func approvalSubresource() *Subresource {
	return &Subresource{
		Name:     "approval",
		Verbs:    []string{"get", "patch", "update"},
		NoTables: true,
		Validate: validateAt("approval"),
	}
}
