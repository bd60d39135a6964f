package api

import (
	"encoding/base64"

	"github.com/cadastre/cadastre/document"
)

// Normalize returns an object, at the storage version, in which fields with more than one representation have the stored
// representation, as after decoding by Kubernetes. Whole objects are normalized before the merge. Apply configurations are
// not normalized, so a field manager owns exactly the fields that it applies; the merged object is normalized before it is
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

// normalizeSecret moves the values of stringData, which is write-only, base64-encoded to data.
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

// normalizePodSpec makes serviceAccountName and its deprecated alias serviceAccount equal in the pod spec at a path. If they
// differ, serviceAccountName takes precedence unless it is empty.
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

// normalizePod sets a negative terminationGracePeriodSeconds to 1, and makes status.podIP equal to the first item of
// status.podIPs.
func normalizePod(obj document.Value) document.Value {
	if n, ok := obj.Lookup("spec", "terminationGracePeriodSeconds").Int64(); ok && n < 0 {
		obj = put(obj, document.NewInt(1), "spec", "terminationGracePeriodSeconds")
	}
	ip := func(address document.Value) document.Value {
		return document.NewMap(document.Field{Name: "ip", Value: address})
	}
	return syncFirst(obj, "status", "podIP", "podIPs", ip, func(item document.Value) document.Value { return item.Get("ip") })
}

// normalizeNode makes spec.podCIDR equal to the first item of spec.podCIDRs.
func normalizeNode(obj document.Value) document.Value {
	itself := func(v document.Value) document.Value { return v }
	return syncFirst(obj, "spec", "podCIDR", "podCIDRs", itself, itself)
}

// syncFirst makes the field singular, such as podIP, equal to the first item of the field plural, such as podIPs. Both are
// fields of part, which is "spec" or "status". If they differ, the singular field takes precedence unless it is empty. item and
// value convert between the singular value and an item of the plural field.
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

// normalizeDaemonSet sets the annotation for the template generation to "0" if it is absent.
func normalizeDaemonSet(obj document.Value) document.Value {
	return putIfAbsent(obj, document.NewString("0"), templateGeneration...)
}
