package kinds

import (
	"encoding/base64"

	"github.com/cadastre/cadastre/document"
)

// Fold returns an object, at the version that is stored, in which what was written in one of
// several ways is there in the way that is stored: it is what Kubernetes does when it reads an
// object. Objects that were sent whole are folded before the engine sees them; configurations are
// not, so that appliers own what they wrote, but what the engine merges is folded before it is
// prepared. Folding an object again changes nothing.
func (k *Kind) Fold(obj document.Value) document.Value {
	if k.fold == nil {
		return obj
	}
	return k.fold(obj)
}

type folder func(obj document.Value) document.Value

// folders are those of the built-in kinds that have something to fold.
var folders = map[string]folder{
	"cronjobs.batch":         foldTemplate("spec", "jobTemplate", "spec", "template", "spec"),
	"daemonsets.apps":        foldDaemonSet,
	"deployments.apps":       foldTemplate("spec", "template", "spec"),
	"jobs.batch":             foldTemplate("spec", "template", "spec"),
	"nodes":                  foldNode,
	"pods":                   foldPod,
	"podtemplates":           foldTemplate("template", "spec"),
	"replicasets.apps":       foldTemplate("spec", "template", "spec"),
	"replicationcontrollers": foldTemplate("spec", "template", "spec"),
	"secrets":                foldSecret,
	"statefulsets.apps":      foldTemplate("spec", "template", "spec"),
}

// foldSecret encodes stringData, which is only written and never stored, into data.
func foldSecret(obj document.Value) document.Value {
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

// foldTemplate folds the pod spec at a path: the name of its service account has an older name,
// which says the same.
func foldTemplate(path ...string) folder {
	return func(obj document.Value) document.Value {
		spec := obj.Lookup(path...)
		if spec.Kind() != document.Map {
			return obj
		}
		name, older := spec.Get("serviceAccountName"), spec.Get("serviceAccount")
		if name.Text() == older.Text() {
			return obj
		}
		if name.Text() == "" {
			return put(obj, older, append(path[:len(path):len(path)], "serviceAccountName")...)
		}
		return put(obj, name, append(path[:len(path):len(path)], "serviceAccount")...)
	}
}

var foldPodSpec = foldTemplate("spec")

func foldPod(obj document.Value) document.Value {
	obj = foldPodSpec(obj)
	if n, ok := obj.Lookup("spec", "terminationGracePeriodSeconds").Int64(); ok && n < 0 {
		obj = put(obj, document.NewInt(1), "spec", "terminationGracePeriodSeconds")
	}
	ip := func(address document.Value) document.Value {
		return document.NewMap(document.Field{Name: "ip", Value: address})
	}
	return foldFirst(obj, "status", "podIP", "podIPs", ip, func(item document.Value) document.Value { return item.Get("ip") })
}

func foldNode(obj document.Value) document.Value {
	itself := func(v document.Value) document.Value { return v }
	return foldFirst(obj, "spec", "podCIDR", "podCIDRs", itself, itself)
}

// foldFirst makes one field of a part be the first item of another one, a list. If both are there,
// the one counts.
func foldFirst(obj document.Value, part, one, many string, item, value func(document.Value) document.Value) document.Value {
	first, all := obj.Lookup(part, one), obj.Lookup(part, many)
	var firstOfAll document.Value
	if all.Kind() == document.List && all.Len() > 0 {
		firstOfAll = value(all.At(0))
	}
	switch {
	case first.Text() == firstOfAll.Text():
		return obj
	case first.Text() == "":
		return put(obj, firstOfAll, part, one)
	}
	return put(obj, document.NewList(item(first)), part, many)
}

// foldDaemonSet counts from 0 the changes of a template that nobody has counted.
func foldDaemonSet(obj document.Value) document.Value {
	return putIfAbsent(foldWorkload(obj), document.NewString("0"), templateGeneration...)
}

var foldWorkload = foldTemplate("spec", "template", "spec")
