package encoding

import "github.com/cadastre/cadastre/document"

// conditionTrue reports whether the first condition whose type is typ has the status True.
func conditionTrue(conditions document.Value, typ string) bool {
	return text(itemWith(conditions, "type", typ).Get("status")) == "True"
}

// anyConditionTrue reports whether any condition whose type is typ has the status True.
func anyConditionTrue(conditions document.Value, typ string) bool {
	for _, c := range itemsOf(conditions) {
		if text(c.Get("type")) == typ && text(c.Get("status")) == "True" {
			return true
		}
	}
	return false
}

// itemsOf returns the items of a list; nil for other values.
func itemsOf(v document.Value) []document.Value {
	if v.Kind() != document.List {
		return nil
	}
	list := make([]document.Value, v.Len())
	for i := range list {
		list[i] = v.At(i)
	}
	return list
}

// itemWith returns the first item of list whose field has the given value; an absent value if there is none.
func itemWith(list document.Value, field, value string) document.Value {
	for _, item := range itemsOf(list) {
		if text(item.Get(field)) == value {
			return item
		}
	}
	return document.Value{}
}

// lastWith returns the last item of list whose field has the given value; an absent value if there is none.
func lastWith(list document.Value, field, value string) (last document.Value) {
	for _, item := range itemsOf(list) {
		if text(item.Get(field)) == value {
			last = item
		}
	}
	return last
}

// itemCount returns the number of items of a list; 0 for other values.
func itemCount(v document.Value) int {
	if v.Kind() != document.List {
		return 0
	}
	return v.Len()
}
