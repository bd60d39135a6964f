// Package kubectl is kubectl as its users have it, compiled from its published module, so that the scripts
// in testdata run the real client.
package kubectl
