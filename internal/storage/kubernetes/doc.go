// Package kubernetes stores objects as kube-apiserver does, in a store that both servers use: a [Store] wraps another store, and
// translates keys and values.
//
//   - The key core/pods/default/web of an item becomes pods/default/web, below the prefix of the wrapped store. [Layout] has the table.
//     Keys below the prefix that are not those of objects, such as ranges/serviceips, are invisible.
//   - A [Codec] translates values. Items have canonical JSON at the storage version of their resource, which the watch cache requires;
//     kube-apiserver writes protobuf or JSON in the order of its Go types, at other versions after an upgrade.
//
// Revisions are those of the wrapped store. Lists are ordered by the keys of the wrapped store, which is the order of item keys within
// each resource. A value that the Codec cannot decode is returned unchanged and logged: the watch cache reports its object as
// unreadable.
package kubernetes
