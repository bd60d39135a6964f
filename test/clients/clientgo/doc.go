// Package clientgo tests the server with client-go, as controllers use it: typed, dynamic and metadata clients,
// informers, leader election and event recorders.
package clientgo
