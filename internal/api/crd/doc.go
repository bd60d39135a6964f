// Package crd parses CustomResourceDefinitions and implements the resources that they define. It performs no I/O except
// calls to conversion webhooks; package controllers/crd watches CustomResourceDefinitions and updates their status.
//
// # Types
//
//   - [Definition] is a parsed CustomResourceDefinition. Schemas are parsed on first use, because they are large and most are never used. [Definition.Decide] computes accepted names and conditions.
//   - [Resource] is the resource that one generation of a Definition defines. It compiles the schema of a version on
//     first use, and is immutable except for MarkCurrent and MarkStale.
//   - [Kind] returns the kind CustomResourceDefinition itself; [Definition.NewKind] returns the kind that a
//     CustomResourceDefinition defines.
//
// # Conversion
//
// Objects are converted as a whole: by changing the apiVersion (strategy None), or by a webhook, which can change all fields
// except metadata, of which it can change labels and annotations. A request is merged, defaulted and validated at its own
// version. If the webhook fails, the request fails with the webhook's message, and nothing is written.
//
// # Stored objects and the current schema
//
// A stored object conforms to the storage version and the schema that were current when it was written. When it is first
// read with the current schema, it is pruned, defaulted and converted, and the watch cache retains the result. A no-op
// request writes an object whose current encoding differs from the stored one: storage version migration relies on this.
//
// # Files
//
//	definition.go        Definition: a parsed CustomResourceDefinition
//	names.go             accepted names of a CustomResourceDefinition
//	status.go            conditions that follow from a CustomResourceDefinition; conditions.go, writing conditions
//	kind.go              the kind CustomResourceDefinition
//	definitionvalues.go  decoding, defaulting and validation of CustomResourceDefinitions
//	resource.go          Resource: compiled versions of a custom resource, and conversion from and to storage
//	values.go            decoding, defaulting and validation of custom resources
//	conversion.go        conversion strategies and conversion errors
//	webhook.go           conversion by webhook; conversionreview.go, ConversionReview v1 and v1beta1
//	openapi.go           the published OpenAPI schema
//	structural/          structural schemas: pruning, defaulting, validation, CEL rules, topology
package crd
