// Package rbac authorizes requests by Roles, ClusterRoles and their bindings, checks impersonation and privilege escalation, and serves
// access reviews.
//
// # How it works
//
// [Authorizer] implements Kubernetes' authorizer.Authorizer. Its index contains, for each user and group in each namespace,
// the bindings of that subject, and each binding refers to its role: authorizing a request reads only the rules of its user
// and allocates no memory. The index follows the watch cache one object at a time; a change takes constant time,
// independently of the number of bindings, and holds the lock for microseconds. [Authorizer.Union] puts the authorizers of an
// embedding program before RBAC.
//
// # Freshness
//
// Authorization does not wait for the index. Instead, a write of a role or binding waits with [Authorizer.Sync], before it is
// acknowledged, until the index includes the write: it applies to all requests that are sent after the acknowledgement.
// Writes of other servers that share the store take effect a moment later, as in Kubernetes.
//
// # Aggregated ClusterRoles
//
// The rules of a ClusterRole with an aggregationRule are computed in the index, even if aggregated roles select each other;
// its stored rules are used for authorization only if the computation would exceed its budget. For clients that read the ClusterRole, [Authorizer.Aggregate] applies
// the computed rules to the object, as the field manager of Kubernetes' controller.
//
// # Invariants
//
//   - An object that cannot be decoded grants nothing. Members of system:masters are always allowed, so that they can repair it.
//   - A binding has one grant per subject, in a list that is copied on write.
//   - A role is in the index while it exists or a binding refers to it.
//
// # Where to look
//
//	attributes.go   the request to authorize, and the 403 for a denied one
//	rule.go         whether a rule allows a request, and whether it covers another rule
//	object.go       decoding of the four kinds
//	index.go        roles and bindings by subject; aggregation.go and aggregator.go, aggregated ClusterRoles
//	authorizer.go   Authorize, PolicyRules, Sync
//	update.go       updates of the index
//	escalation.go   privilege escalation by writes of roles and bindings
//	impersonate.go  impersonation
//	review.go       access reviews and token reviews; access.go, their validation
//	bootstrap.go    the default roles and bindings, parsed from bootstrap.txt; reconcile.go, restoring them
package rbac
