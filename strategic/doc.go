// Package strategic patches documents in the three ways that Kubernetes has beside apply:
// strategic merge patch, JSON merge patch (RFC 7396) and JSON patch (RFC 6902).
//
// # Vocabulary
//
//   - A patch is a document that says how an object changes.
//   - A patch strategy is what a kind declares about a field: merge (the items of a list are
//     merged with those that are there), replace, retainKeys (see below). A merge key is the
//     field that tells the items of a list apart. A [Type] has the strategies of a kind.
//   - A directive is a field of a strategic merge patch that is about the patch, not about the
//     object. Directives start with a dollar sign.
//   - The live object, or list, is what a patch is merged into.
//
// # The language of strategic merge patches
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
// # What holds
//
//	what a patch does not touch is shared with the object, and spelt as it was
//	a patch that changes nothing returns the object itself
//	neither directives nor nulls of a patch get into an object
//	merging costs what the touched maps and lists are long, whatever the patch says
//
// # Where to look
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
package strategic
