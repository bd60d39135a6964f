package watchcache

import "strings"

// The garbage collector and finalizers need uid, ownerReferences, deletionTimestamp and finalizers of many objects. These
// members of the metadata are read from the JSON without parsing the whole object.

// UID returns metadata.uid; "" if there is none.
func (o *Object) UID() string {
	m := membersFrom(o.text, int(o.resourceVersion.end))
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

// IsDeleting reports whether the object has a deletionTimestamp.
func (o *Object) IsDeleting() bool { return o.deletionAt != 0 }

// OwnerReferences returns the JSON of metadata.ownerReferences; "" if there are none.
func (o *Object) OwnerReferences() string {
	if o.ownersAt == 0 {
		return ""
	}
	start := int(o.ownersAt)
	list := o.text[start:min(skipValue(o.text, start), len(o.text))]
	if list == "[]" || list == "null" {
		return ""
	}
	return list
}

// AwaitsFinalizer reports whether the object has a deletionTimestamp, and finalizer among its finalizers.
func (o *Object) AwaitsFinalizer(finalizer string) bool {
	if o.deletionAt == 0 {
		return false
	}
	m := membersFrom(o.text, int(o.deletionAt))
	for m.next("finalizers") {
		if m.name == "finalizers" {
			return strings.Contains(o.text[m.at:min(skipValue(o.text, m.at), len(o.text))], `"`+finalizer+`"`)
		}
	}
	return false
}

// membersFrom returns an iterator over the members of a JSON object in text that follow byte offset at. at is the start of
// the object, or the end of one of its members.
func membersFrom(text string, at int) members {
	if at < len(text) && text[at] == '{' {
		return membersAt(text, at)
	}
	return members{text: text, at: at, end: at, started: true}
}
