// Package cel is the package into which the parent package compiles Kubernetes' integration tests of admission policies.
package cel
