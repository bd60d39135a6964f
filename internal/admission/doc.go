// Package admission does to objects what Kubernetes has admission plugins for that are on by
// default: it amends and refuses them in view of other objects.
//
// # Where to look
//
//	pods.go        what pods get: tolerations, and a priority
//	claims.go      which claims of volumes may have more
//	nodes.go       what nodes get: a taint
//	priorities.go  classes of priority
package admission
