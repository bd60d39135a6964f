//go:build !linux

package cli

// forgetStartPages is for Linux: see there.
func forgetStartPages() {}
