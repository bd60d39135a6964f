package differential

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// A place is the names of fields, and marked indexes, that lead to a value.
type place = []string

// indexMark is before indexes, which names never start with.
const indexMark = "\x00"

func isIndex(name string) bool { return strings.HasPrefix(name, indexMark) }

func indexIn(name string) int {
	i, _ := strconv.Atoi(strings.TrimPrefix(name, indexMark))
	return i
}

// places lists everything in a body, each before what is in it. The first is the body itself.
func places(body document.Value) []place {
	all := []place{nil}
	switch body.Kind() {
	case document.Map:
		for name, value := range body.Fields() {
			all = append(all, below(name, value)...)
		}
	case document.List:
		for i, item := range body.Items() {
			all = append(all, below(indexMark+strconv.Itoa(i), item)...)
		}
	}
	return all
}

func below(name string, value document.Value) []place {
	var all []place
	for _, p := range places(value) {
		all = append(all, append(place{name}, p...))
	}
	return all
}

// fieldsOf lists the places of fields, and not those of items.
func fieldsOf(body document.Value) []place {
	return slices.DeleteFunc(places(body)[1:], func(p place) bool { return isIndex(p[len(p)-1]) })
}

func at(body document.Value, p place) document.Value {
	for _, name := range p {
		if isIndex(name) {
			body = body.At(indexIn(name))
		} else {
			body = body.Get(name)
		}
	}
	return body
}

// replaced has another value at a place; the absent one removes what is there.
func replaced(body document.Value, p place, value document.Value) document.Value {
	if len(p) == 0 {
		return value
	}
	if !isIndex(p[0]) {
		return body.With(p[0], replaced(body.Get(p[0]), p[1:], value))
	}
	items, i := itemsOf(body), indexIn(p[0])
	if items[i] = replaced(items[i], p[1:], value); items[i].IsAbsent() {
		items = slices.Delete(items, i, i+1)
	}
	return document.NewList(items...)
}

// removed takes out what is at a place, and what would be empty without it: what Cadastre makes of empty maps and
// lists is its own.
func removed(body document.Value, p place) document.Value {
	for len(p) > 1 && at(body, p[:len(p)-1]).Len() == 1 {
		p = p[:len(p)-1]
	}
	return replaced(body, p, document.Value{})
}
