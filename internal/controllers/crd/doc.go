// Package crd is the controller of CustomResourceDefinitions (CRDs): it registers the resources that they define. Package
// api/crd implements schemas, conversion and validation of these resources.
//
// # How a resource is served
//
// [Controller.Load] registers the kinds of all established CRDs before the server accepts requests;
// [Controller.Run] watches CRDs. For each change the controller
//
//  1. accepts the requested names that no other CRD of the group uses,
//  2. creates the kind of the CRD and registers it in place of the previous kind; package managedfields blocks
//     writes to the new kind until managedFields conform to the new schemas, and waits for writes in flight that use the
//     replaced kind,
//  3. writes accepted names and conditions, so that a client that reads Established=True finds the resource in
//     discovery, in OpenAPI and at its path.
//
// Watches end when a kind is replaced or unregistered.
//
// # Deletion
//
// A CRD that is deleted gets the finalizer customresourcecleanup.apiextensions.k8s.io. Its kind is replaced by
// a kind that rejects creations; the controller waits for creations in flight, deletes all objects and waits for objects
// with finalizers. Then it removes the CRD's finalizer, which deletes the CRD, and unregisters the kind.
// All state is in the CRDs, so a restarted server continues an interrupted deletion.
//
// # Files
//
//	controller.go  watches and reconciles CRDs
//	serve.go       registers and unregisters kinds
//	status.go      writes names and conditions
//	delete.go      deletes the objects of a deleted CRD
//	strategy.go    create, update and delete hooks of CRDs in the registry
//	crdtest/       test helpers that run this controller and the migrator of managed fields
package crd
