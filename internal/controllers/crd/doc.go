// Package crd is the controller of CustomResourceDefinitions: it serves the resources that they define. Package api/crd
// implements the resources.
//
// # How a resource is served
//
// [Controller.Load] registers the kinds of all established definitions before the server answers requests;
// [Controller.Run] watches definitions. For each change the controller
//
//  1. accepts the requested names that no other definition of the group has,
//  2. makes the kind of the definition and registers it in place of the one before; package managedfields blocks its
//     writers until managedFields conform to the new schemas, and drains writes by the replaced kind,
//  3. writes accepted names and conditions: a client that reads Established finds the resource in discovery, in OpenAPI and
//     at its path.
//
// Watches end when a kind is replaced or unregistered.
//
// # Deletion
//
// A definition that is deleted gets the finalizer customresourcecleanup.apiextensions.k8s.io. Its kind is replaced by a
// closed one, which accepts no creations; creations in flight are drained; all objects are deleted, and those with
// finalizers are waited for. Then the finalizer is removed, the definition is gone, and the kind is unregistered.
// All state is in the definitions, so a restarted server continues.
//
// # Files
//
//	controller.go  watches and reconciles definitions
//	serve.go       registers and unregisters kinds
//	status.go      writes names and conditions
//	delete.go      deletes the objects of a deleted definition
//	extra.go       what writes of definitions do beyond those of other kinds
//	crdtest/       runs the controllers in tests
package crd
