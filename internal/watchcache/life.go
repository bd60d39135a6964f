package watchcache

import "strings"

// What tells about the life of an object is found without parsing it: who it belongs to, whether it
// is to be deleted, and who has a say in that.

// UID returns what tells the object from others that have its name at other times; "" if it has none.
func (o *Object) UID() string {
	m := membersFrom(o.text, int(o.place.end))
	for m.next("uid") {
		if m.name == "uid" {
			uid, _, err := readString(o.text, m.at)
			if err != nil {
				return ""
			}
			return uid
		}
	}
	return ""
}

// IsDeleting reports whether the object is to be deleted.
func (o *Object) IsDeleting() bool { return o.deletion != 0 }

// OwnerReferences returns the JSON of metadata.ownerReferences; "" if there are none.
func (o *Object) OwnerReferences() string {
	if o.owners == 0 {
		return ""
	}
	start := int(o.owners)
	list := o.text[start:min(skipValue(o.text, start), len(o.text))]
	if list == "[]" || list == "null" {
		return ""
	}
	return list
}

// AwaitedBy reports whether an object that is to be deleted waits for who has a certain finalizer. Of
// others nobody is asked.
func (o *Object) AwaitedBy(finalizer string) bool {
	if o.deletion == 0 {
		return false
	}
	m := membersFrom(o.text, int(o.deletion))
	for m.next("finalizers") {
		if m.name == "finalizers" {
			return strings.Contains(o.text[m.at:min(skipValue(o.text, m.at), len(o.text))], `"`+finalizer+`"`)
		}
	}
	return false
}

// membersFrom goes through the members of an object that come after a place: its start, or the end of a
// member.
func membersFrom(text string, at int) members {
	if at < len(text) && text[at] == '{' {
		return membersAt(text, at)
	}
	return members{text: text, at: at, end: at, started: true}
}
