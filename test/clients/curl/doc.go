// Package curl tells the story of the README with plain curl: the scripts in testdata are what a reader
// could type.
package curl
