// Package helm tests the server with Helm: the scripts in testdata install, upgrade, roll back and uninstall small
// charts, and check the resulting objects.
//
// The go command builds Helm from its published module. The module in program/ requires the release, so that Helm's
// many dependencies do not determine the versions of other clients.
package helm
