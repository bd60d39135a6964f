// Package helm tries the server with Helm as its users have it: the scripts in testdata install, upgrade, roll
// back and uninstall small charts, and look at what that leaves in the objects.
//
// Helm's program is built from its published module by the go command, into its cache. The module in program/
// pins the release: Helm has many dependencies, and the other clients should not get their versions from there.
package helm
