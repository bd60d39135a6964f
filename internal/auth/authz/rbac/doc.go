// Package rbac says what users may do, by the roles and bindings that are objects of the server.
//
// # Vocabulary
//
//   - [Attributes] are who wants to do what. A rule allows some of it; a role is a list of rules;
//     a binding gives a role to subjects, which are users, groups and service accounts.
//   - A role may gather the rules of others, which it selects by labels. Kubernetes calls that
//     aggregation.
//   - A subject holds a rule if a binding gives it a role that has it. To escalate is to give away
//     what one does not hold.
//   - A review is a question about who somebody is or what they may, asked by creating an object
//     that is nowhere kept.
//
// # How it is fast
//
// The index has, for each user and group in each namespace, the bindings that it is a subject of,
// and each of these has its role. So the question of a request looks at the user's own rules only,
// and allocates nothing. It is kept up to date one object at a time, by what the cache tells of the
// four kinds: a change costs the same whatever the number of bindings. A change holds the lock
// that questions read under, for microseconds.
//
// # How fresh it is
//
// Questions do not wait for the index. Instead who writes a role or binding waits with [Authorizer.Sync],
// before the write is acknowledged, until the index has it: so every request that is sent after
// the acknowledgement is judged by it, and reads cost nothing for it. What other processes write to a
// shared store is seen a moment later, as in Kubernetes.
//
// # Roles that gather others' rules
//
// What such a role allows is what the selected roles allow now: the index works that out itself,
// also through roles that gather in turn, and never looks at the rules that the object has. So
// that users can read them there, [Authorizer.Aggregate] has them applied to the object by the
// manager that does so in Kubernetes.
//
// # What holds
//
//   - What can't be read gives nothing to anybody. Members of system:masters may do everything, so
//     that they can repair it.
//   - A grant is in the index once for a binding and a subject, in a list that is replaced and
//     not changed.
//   - A role is in the index as long as it exists or a binding refers to it.
//
// # Where to look
//
//	attributes.go   who wants to do what, and the error if they may not
//	rule.go         what a rule allows, and which rules cover which
//	object.go       the four kinds, as they are read
//	index.go        roles and bindings by subject; aggregation.go, the gathered rules
//	authorizer.go   Allowed, RulesFor, Sync
//	follow.go       keeps the index up to date
//	escalation.go   who may write roles and bindings
//	impersonate.go  who may be taken for somebody else
//	review.go       answers to reviews; access.go, of what is asked in them
//	bootstrap.go    what is there from the start, read from bootstrap.txt
//	reconcile.go    what to do so that it is there
package rbac
