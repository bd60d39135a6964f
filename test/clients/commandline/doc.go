// Package commandline is the product's own command line beside kubectl, against any server: the scripts in
// testdata show what its verbs make of objects that real clients wrote.
package commandline
