// Package commandline tests the product's command line next to kubectl, on any server: the scripts in testdata run
// its verbs on objects that real clients wrote.
package commandline
