package custom

import (
	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// A definition may change how a part of its objects merges. Who owned that part goes on owning it, field by field:
//
//	atomic, becomes granular       each field of it, as it is now
//	granular, becomes atomic       the whole
//	a list whose keys change       the same items, by their new keys
//	at a version that is gone      what the object has of it at the version that is stored, see retired.go

// bring returns what an entry of one topology owns by another. The document has the values.
func bring(entry apply.Entry, old, now *schema.Type, doc document.Value) (apply.Entry, error) {
	fitted, err := apply.Reconcile(apply.Object{Document: doc, Entries: []apply.Entry{entry}}, entry.APIVersion, old, now)
	if err != nil {
		return entry, err
	}
	return fitted.Entries[0], nil
}
