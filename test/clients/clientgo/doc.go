// Package clientgo has tests that use the server as controllers do: through client-go's typed, dynamic and
// metadata clients, its informers, its leader election and its recorder of events.
package clientgo
