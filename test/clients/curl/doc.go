// Package curl runs the examples of the README with curl: the scripts in testdata are commands that a reader could
// type.
package curl
