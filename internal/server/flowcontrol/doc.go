// Package flowcontrol implements API Priority and Fairness: it bounds the requests that execute at the same time, and shares
// that bound fairly among users. The semantics are those of k8s.io/apiserver/pkg/util/flowcontrol;
// docs/decisions/0015-flowcontrol.md has the reasons for an implementation of our own.
//
// A FlowSchema classifies a request into a flow, which is the FlowSchema and a user or a namespace, and assigns it to a priority
// level. A priority level has a number of seats. A request occupies one or more seats from [Controller.Enter] to
// [Ticket.Release]. If the seats are occupied, the request waits in a queue of its level: shuffle sharding gives each flow a small
// hand of the queues, so that a flow that fills its queues rarely fills all queues of another flow; fair queuing dispatches from
// the queue whose next request finishes first in virtual time. A request that finds its queue full, or waits too long, is rejected.
//
// # Invariants of a level
//
//   - 0 ≤ seats in use; a request is dispatched only if seats in use + its seats ≤ limit, or if no request executes.
//   - No request waits while there are enough free seats for the next request.
//   - Seats and requests of a level are the sums of those of its queues, except for a level without queues.
//
// # Where to look
//
//	controller.go  Controller: Enter, the configuration, and its digest from the API objects
//	classify.go    matching requests with the rules of FlowSchemas
//	ticket.go      Ticket: the seats of a request; Release, Suspend and Resume
//	level.go       a priority level: seats and dispatch
//	queue.go       the queues of a level, virtual time, shuffle sharding
//	work.go        the seats of a request: lists by their size, writes by the number of watches
//	watches.go     the number of watches that a write concerns
//	borrow.go      periodic adjustment of limits: levels without demand lend seats to others
//	retryafter.go  the value of Retry-After
//	debug.go       the tables of /debug/api_priority_and_fairness
//	bootstrap.go   the mandatory and suggested objects, and their maintenance
package flowcontrol
