// Package kubectl links kubectl from its published module, so that the scripts in testdata run the real client.
package kubectl
