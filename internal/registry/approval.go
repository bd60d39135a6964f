package registry

// approvalSubresource approves or denies a certificate signing request: only conditions may change, and Approved, Denied and
// Failed may not be removed. The kind's reset fields and strategy restore the rest and set the times of conditions.
func approvalSubresource() *Subresource {
	return &Subresource{
		Name:     "approval",
		Verbs:    []string{"get", "patch", "update"},
		NoTables: true,
		Validate: validateAt("approval"),
	}
}
