// Package follow keeps something that is made of all objects of some kinds up to date: who may do what, who has a say in
// writes.
//
// # Invariants
//
//   - The keeper is told of all objects of each kind before Start returns, of every change after that, in order, and
//     never of two things at once.
//   - Sync returns when the keeper was told of a write, so that whoever wrote is judged by it.
//   - What can't be read changes nothing: the keeper has what it had, and it is tried again.
package follow
