package api

import (
	"encoding/base64"

	"github.com/cadastre/cadastre/document"
)

// Normalize returns an object, at the storage version, in which fields with more than one representation have the
// stored representation, as after decoding by Kubernetes. Whole objects are normalized before the merge. Apply
// configurations are not, so that appliers own the fields that they wrote; the merged object is normalized before it is
// prepared. Normalize is idempotent.
func (k *Kind) Normalize(obj document.Value) document.Value {
	if k.podSpec != nil {
		obj = normalizePodSpec(obj, k.podSpec)
	}
	if k.normalize != nil {
		obj = k.normalize(obj)
	}
	return obj
}

// normalizeSecret moves stringData, which is write-only, to data.
func normalizeSecret(obj document.Value) document.Value {
	plain := obj.Get("stringData")
	if plain.IsAbsent() {
		return obj
	}
	data := obj.Get("data")
	for name, value := range plain.Fields() {
		data = data.With(name, document.NewString(base64.StdEncoding.EncodeToString([]byte(value.Text()))))
	}
	obj = obj.Without("stringData")
	if plain.Len() > 0 {
		obj = obj.With("data", data)
	}
	return obj
}

// normalizePodSpec copies serviceAccountName to its legacy name serviceAccount, or the reverse, in the pod spec at a
// path.
func normalizePodSpec(obj document.Value, path []string) document.Value {
	spec := obj.Lookup(path...)
	if spec.Kind() != document.Map {
		return obj
	}
	name, legacy := spec.Get("serviceAccountName"), spec.Get("serviceAccount")
	if name.Text() == legacy.Text() {
		return obj
	}
	if name.Text() == "" {
		return put(obj, legacy, append(path[:len(path):len(path)], "serviceAccountName")...)
	}
	return put(obj, name, append(path[:len(path):len(path)], "serviceAccount")...)
}

// normalizePod raises a negative termination grace period to 1, and makes podIP equal to the first of podIPs.
func normalizePod(obj document.Value) document.Value {
	if n, ok := obj.Lookup("spec", "terminationGracePeriodSeconds").Int64(); ok && n < 0 {
		obj = put(obj, document.NewInt(1), "spec", "terminationGracePeriodSeconds")
	}
	ip := func(address document.Value) document.Value {
		return document.NewMap(document.Field{Name: "ip", Value: address})
	}
	return syncFirst(obj, "status", "podIP", "podIPs", ip, func(item document.Value) document.Value { return item.Get("ip") })
}

// normalizeNode makes podCIDR equal to the first of podCIDRs.
func normalizeNode(obj document.Value) document.Value {
	itself := func(v document.Value) document.Value { return v }
	return syncFirst(obj, "spec", "podCIDR", "podCIDRs", itself, itself)
}

// syncFirst makes a singular field of part equal to the first item of a plural field. If both are set and differ, the
// singular field is used.
func syncFirst(obj document.Value, part, singular, plural string, item, value func(document.Value) document.Value) document.Value {
	first, all := obj.Lookup(part, singular), obj.Lookup(part, plural)
	var firstOfAll document.Value
	if all.Kind() == document.List && all.Len() > 0 {
		firstOfAll = value(all.At(0))
	}
	switch {
	case first.Text() == firstOfAll.Text():
		return obj
	case first.Text() == "":
		return put(obj, firstOfAll, part, singular)
	}
	return put(obj, document.NewList(item(first)), part, plural)
}

// normalizeDaemonSet sets a missing template generation to 0.
func normalizeDaemonSet(obj document.Value) document.Value {
	return putIfAbsent(obj, document.NewString("0"), templateGeneration...)
}
