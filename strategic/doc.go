// Package strategic applies and computes the patches that Kubernetes has beside apply: strategic merge patch, JSON merge
// patch (RFC 7396) and JSON patch (RFC 6902).
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
// The package example runs this; example_test.go has more.
//
// # Strategic merge patches
//
// The patch strategy of a list decides whether its items are merged, by the merge key, or replaced. A [Type] has the
// patch strategies of a kind. Values and directives of a patch:
//
//	null                                    the field is removed
//	a map                                   merged, field by field
//	a list                                  merged item by item, or replaced, by its strategy
//	$patch: replace                         in a map: the rest of the map replaces the live one;
//	                                        in an item: the other items replace the live list
//	$patch: delete                          the map is emptied; the item with this merge key is removed
//	$patch: merge                           what would happen anyway
//	$retainKeys: [a, b]                     all other fields of the live map are removed, and the
//	                                        patch may set no others
//	$deleteFromPrimitiveList/names: [a]     these items of a list of scalars are removed
//	$setElementOrder/containers: [{name: a}] the order of a merged list; the items of the patch
//	                                        have to be among them, in the same order
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/strategic.txt. Results equal those of
// apimachinery, except for the differences in differences_test.go. The texts of errors may change in any release.
//
// Concurrency: a [Type] is safe for concurrent use, and so are all functions.
//
// Memory: the result shares the unchanged parts of the object and of the patch and keeps them alive; a patch that changes
// nothing returns the object itself.
package strategic

// Files:
//
//	merge.go        a strategic merge patch into an object; directive.go reads its directives
//	  list.go         lists; keyed.go, of maps with a merge key
//	  order.go        in which order the items end up
//	  identity.go     which items are the same
//	  few.go, flat.go shortcuts for short lists and small items
//	diff.go         a strategic merge patch from two or three objects; difflist.go, its lists
//	  twins.go        lists with items that can't be told apart
//	  threeway.go     the front door of three; conflict.go, who else changed what
//	text.go         all of these from text to text
//	scratch.go      the memory of merges, and of patches in the making
//	jsonmerge.go    a JSON merge patch into an object
//	jsonpatch.go    a JSON patch, operation by operation; node.go is what they work on
//	type.go         the strategies of a kind; gotype.go, from the tags of Go types; openapi.go, from
//	                OpenAPI documents
//	error.go        why a patch was refused
