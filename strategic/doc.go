// Package strategic applies and computes the patch types of Kubernetes other than apply: strategic merge patch, JSON
// merge patch (RFC 7396) and JSON patch (RFC 6902).
//
//	deployment, err := strategic.FromGoType(reflect.TypeFor[appsv1.Deployment]())
//	if err != nil {
//		return err
//	}
//	patched, err := strategic.Merge(object, patch, deployment)
//	if err != nil {
//		return err // a *strategic.Error with the path in the patch and the HTTP status
//	}
//	patch, err = strategic.Diff(object, patched, deployment)
//
// The package example runs this code; example_test.go contains more.
//
// # Strategic merge patches
//
// The patch strategy of a list determines whether its items are merged, by the merge key, or replaced. A [Type] contains
// the patch strategies of a kind. Values and directives of a patch:
//
//	null                                    removes the field
//	a map                                   is merged, field by field
//	a list                                  is merged item by item, or replaced, according to its strategy
//	$patch: replace                         in a map: the map replaces the live one;
//	                                        in a list item: the other items replace the live list
//	$patch: delete                          in a map: empties the live map;
//	                                        in a list item: removes the item with this merge key
//	$patch: merge                           has no effect: merging is the default
//	$retainKeys: [a, b]                     removes all other fields of the live map; the patch must
//	                                        not set other fields
//	$deleteFromPrimitiveList/names: [a]     removes items of the list of scalars in the field names
//	$setElementOrder/containers: [{name: a}] sets the order of a merged list; it must include the items
//	                                        of the patch, in the same order
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/strategic.txt. Results equal those
// of apimachinery, except for the differences in differences_test.go. The texts of errors may change in any release.
//
// Concurrency: a [Type] is safe for concurrent use, and so are all functions.
//
// Memory: the result shares the unchanged parts of the object and of the patch and keeps them alive; a patch that
// changes nothing returns the object itself.
package strategic

// Files:
//
//	merge.go        Merge: strategic merge patches; directive.go parses directives
//	  list.go         merging lists; keyed.go: lists with a merge key
//	  order.go        the order of merged lists
//	  identity.go     identity of list items, and a hash table of identities
//	  shortlist.go    fast path for short lists; flat.go: fast path for items with only scalars
//	diff.go         Diff: patches from two or three objects; difflist.go: their lists
//	  duplicates.go   lists with duplicate merge keys
//	  threeway.go     ThreeWay; conflict.go: conflicts with changes by other writers
//	text.go         AppendMerge and AppendDiff: Merge and Diff from JSON to JSON
//	scratch.go      pooled scratch memory
//	jsonmerge.go    MergeJSON
//	jsonpatch.go    ApplyJSONPatch; node.go: the mutable tree that it works on
//	type.go         Type; gotype.go: from Go struct tags; openapi.go: from OpenAPI documents
//	error.go        Error and Reason
