// Package apply is the engine of Server-Side Apply: pure functions from a live
// object and a request to a new object.
package apply
