package document

import (
	"cmp"
	"strings"
)

// Equal compares two values as Kubernetes does: numbers by value (1 equals 1.0),
// all else exactly. An absent value equals only an absent value.
func Equal(a, b Value) bool {
	if a == b {
		return true
	}
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case Number:
		return equalNumbers(a.text(), b.text())
	case String, Bool:
		return a.text() == b.text()
	case List, Map:
		return equalContainers(a, b)
	}
	return true
}

func equalContainers(a, b Value) bool {
	if a.form()&b.form()&canonical != 0 && a.text() == b.text() {
		return true
	}
	a, b = a.opened(), b.opened()
	if a.Len() != b.Len() || a.Kind() != b.Kind() {
		return false
	}
	named := a.Kind() == Map
	for i := range a.Len() {
		if named && a.Name(i) != b.Name(i) || !Equal(a.At(i), b.At(i)) {
			return false
		}
	}
	return true
}

// Compare gives all values a total order, the one in which Kubernetes sorts the
// path elements of field sets: numbers, strings, booleans, lists, maps, null. It
// is 0 for values that are equal.
func Compare(a, b Value) int {
	if c := cmp.Compare(rank(a.Kind()), rank(b.Kind())); c != 0 {
		return c
	}
	switch a.Kind() {
	case Number:
		return compareNumbers(a.text(), b.text())
	case String, Bool:
		return strings.Compare(a.text(), b.text())
	case List:
		return compareLists(a, b)
	case Map:
		return compareMaps(a, b)
	}
	return 0
}

func rank(k Kind) int {
	switch k {
	case Number:
		return 0
	case String:
		return 1
	case Bool:
		return 2
	case List:
		return 3
	case Map:
		return 4
	case Null:
		return 5
	}
	return 6
}

func compareLists(a, b Value) int {
	a, b = a.opened(), b.opened()
	for i := 0; i < min(a.Len(), b.Len()); i++ {
		if c := Compare(a.At(i), b.At(i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.Len(), b.Len())
}

// compareMaps orders field by field, in the order of names: the first in which the
// maps differ decides, by its name, then by its value. When one map is the beginning
// of the other, the shorter comes first.
func compareMaps(a, b Value) int {
	a, b = a.opened(), b.opened()
	for i := 0; i < min(a.Len(), b.Len()); i++ {
		if c := strings.Compare(a.Name(i), b.Name(i)); c != 0 {
			return c
		}
		if c := Compare(a.At(i), b.At(i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.Len(), b.Len())
}
