// Package admit has what those need who have a say in writes and are not the server itself: webhooks and policies, which
// users make as objects. It says what they are asked, and which of them are asked.
//
// # Vocabulary
//
//   - question: a write that is not done yet, as it is put to somebody.
//   - criteria: which questions somebody wants to be asked: rules (operations and resources), selectors and conditions.
//   - form: the version of a kind at which somebody wants to see objects. Criteria that match a kind at another version
//     than that of the request, since they match equivalents, want that other one.
//
// # Cost
//
// A question is made only if there is somebody whose rules match; see internal/objects. Conditions are compiled when they
// are first asked.
//
// # Where to look
//
//	question.go    what is asked
//	rules.go       whether rules match, and in which form
//	criteria.go    whether somebody is asked
//	attributes.go  a question as Kubernetes' CEL library takes it
//	condition.go   conditions
//	user.go        users and what they may, as that library takes them
package admit
