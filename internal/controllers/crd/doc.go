// Package crd is the controller of CustomResourceDefinitions: it registers the resources that they define. Package
// api/crd implements the resources.
//
// # How a resource is served
//
// [Controller.Load] registers the kinds of all established definitions before the server accepts requests;
// [Controller.Run] watches definitions. For each change the controller
//
//  1. accepts the requested names that no other definition of the group uses,
//  2. creates the kind of the definition and registers it in place of the previous one; package managedfields blocks
//     its writers until managedFields conform to the new schemas, and drains writes by the replaced kind,
//  3. writes accepted names and conditions: a client that reads Established finds the resource in discovery, in
//     OpenAPI and at its path.
//
// Watches end when a kind is replaced or unregistered.
//
// # Deletion
//
// A definition that is deleted gets the finalizer customresourcecleanup.apiextensions.k8s.io. Its kind is replaced by
// a closed one that rejects creations; creations in flight are drained; all objects are deleted, and the controller
// waits for those with finalizers. Then the finalizer is removed, which deletes the definition, and the kind is
// unregistered. All state is in the definitions, so a restarted server continues.
//
// # Files
//
//	controller.go  watches and reconciles definitions
//	serve.go       registers and unregisters kinds
//	status.go      writes names and conditions
//	delete.go      deletes the objects of a deleted definition
//	strategy.go    registry strategy of definitions
//	crdtest/       runs the controllers in tests
package crd
