// Package crd parses CustomResourceDefinitions and implements the resources that they define. It performs no I/O except
// calls of conversion webhooks; package controllers/crd watches and updates definitions.
//
// # Types
//
//   - [Definition] is a parsed CustomResourceDefinition. Its schemas are parsed lazily, because they are large and most are
//     never needed. [Definition.Decide] computes accepted names and conditions.
//   - [Resource] is the resource that one generation of a Definition defines. It compiles the schema of a version on
//     first use, and is immutable except for MarkCurrent and MarkStale.
//   - [Kind] is the kind of CustomResourceDefinitions itself; [Definition.NewKind] is the kind of custom resources.
//
// # Conversion
//
// Whole objects are converted: by changing apiVersion (strategy None), or by a webhook, which may change everything
// except metadata other than labels and annotations. A request is merged, defaulted and validated at its own version.
// If the webhook fails, the request fails with the webhook's message, and nothing is changed.
//
// # Stored objects and the current schema
//
// An object is stored at the storage version, in the form of the schema at that time. It is pruned, defaulted and
// converted when it is first read with the current schema, and the watch cache retains the result. An object that would
// be stored differently today is written even if a request changes nothing: storage version migration relies on it.
//
// # Files
//
//	definition.go        Definition and its parts; names.go, accepted names; status.go and conditions.go, conditions
//	kind.go              the kind of definitions; definitionvalues.go, their decoding, defaulting and validation
//	resource.go          Resource: compiled versions, reading and storing objects; values.go, its strategy.Values
//	conversion.go        conversion and its errors; webhook.go, by webhook; conversionreview.go, ConversionReview v1, v1beta1
//	openapi.go           the published OpenAPI schema
//	structural/          structural schemas: pruning, defaulting, validation, CEL rules, topology
package crd
