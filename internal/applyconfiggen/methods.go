package applyconfiggen

import "strings"

// method prints the With and Unset methods of one field.
type method struct {
	*writer
	// receiver is the name of the struct with the methods; holder is the Go expression for the struct with the field, which may be
	// embedded.
	receiver, holder string
	// ensure is the Go statement that allocates the holder if it is nil; empty if the holder is never nil.
	ensure string
	field  *Field
}

// methods prints the With and Unset methods of a struct. The outer struct has such methods for the fields of embedded
// structs too, unless it has a field with the same name.
func (w *writer) methods(t *Type) {
	receiver := t.Name + Suffix
	own := map[string]bool{}
	for _, f := range t.Fields {
		own[f.Name] = f.Embedding == NotEmbedded
	}
	for _, f := range t.Fields {
		if f.Embedding == NotEmbedded {
			method{w, receiver, "b", "", f}.write()
			continue
		}
		w.embedded(t, f, own)
	}
	if t.Item {
		w.printf("\n// Unset declares that the item with the keys of b must be absent from its list. Other fields are ignored.\n")
		w.printf("func (b *%[1]s) Unset() *%[1]s {\nb.UnsetMarks = b.UnsetMarks.WithItem()\nreturn b\n}\n", receiver)
	}
	w.getters(t)
}

// embedded prints the With and Unset methods for the fields of an embedded struct.
func (w *writer) embedded(t *Type, f *Field, own map[string]bool) {
	receiver := t.Name + Suffix
	embedded := f.Type.Name.Name + Suffix
	ensure := ""
	if f.Embedding == Metadata {
		ensure = "b.ensure" + embedded + "Exists()\n"
		w.printf("\nfunc (b *%s) ensure%sExists() {\nif b.%[2]s == nil {\nb.%[2]s = &%[3]s{}\n}\n}\n", receiver, embedded, w.expr(f.Type))
	}
	for _, inner := range f.Type.Target.Fields {
		if own[inner.Name] {
			continue
		}
		if inner.Embedding != NotEmbedded {
			for _, deep := range inner.Type.Target.Fields {
				if !own[deep.Name] {
					method{w, receiver, "b." + embedded + "." + inner.Type.Name.Name + Suffix, ensure, deep}.write()
				}
			}
			continue
		}
		method{w, receiver, "b." + embedded, ensure, inner}.write()
	}
}

// getters prints GetName, GetNamespace, GetKind and GetAPIVersion, with which clients identify the object.
func (w *writer) getters(t *Type) {
	get := func(name, holder, ensure string) {
		w.printf("\n// Get%[1]s returns the %[1]s of the configuration, nil if it has none.\nfunc (b *%[2]s%[3]s) Get%[1]s() *string {\n%[4]sreturn %[5]s.%[1]s\n}\n",
			name, t.Name, Suffix, ensure, holder)
	}
	for _, f := range t.Fields {
		switch {
		case f.Embedding == Inlined && f.Type.Name.Name == "TypeMeta":
			get("Kind", "b.TypeMeta"+Suffix, "")
			get("APIVersion", "b.TypeMeta"+Suffix, "")
		case f.Embedding == Metadata:
			ensure := "b.ensureObjectMeta" + Suffix + "Exists()\n"
			get("Name", "b.ObjectMeta"+Suffix, ensure)
			get("Namespace", "b.ObjectMeta"+Suffix, ensure)
		case t.Root == nil && t.Name == "TypeMeta", t.Root == nil && t.Name == "ObjectMeta":
			if f.Name == "Kind" || f.Name == "APIVersion" || f.Name == "Name" || f.Name == "Namespace" {
				get(f.Name, "b", "")
			}
		}
	}
}

// write prints the With and Unset methods of the field.
func (m method) write() {
	switch e := m.field.Type; {
	case e.Shape == List:
		m.withList(e)
	case e.Shape == Map:
		m.withMap(e)
	case e.Shape == Struct || e.Nilable:
		parameter := m.expr(e)
		if e.Shape == Struct {
			parameter = "*" + parameter
		}
		m.with("sets the field to a value.", "value "+parameter, m.target()+" = value\n")
	default:
		m.with("sets the field to a value.", "value "+m.expr(e), m.target()+" = &value\n")
	}
	if m.field.Fixed {
		return
	}
	m.unset()
	isMap := m.field.Type.Shape == Map || m.field.Type.Collection
	if isMap && !strings.HasPrefix(m.field.Merge, "atomic") {
		m.unsetEntry()
	}
}

func (m method) target() string { return m.holder + "." + m.field.Name }

func (m method) with(what, parameter, body string) {
	m.printf("\n// With%s %s\nfunc (b *%s) With%[1]s(%[4]s) *%[3]s {\n%[5]s%[6]sreturn b\n}\n", m.field.Name, what, m.receiver, parameter, m.ensure, body)
}

func (m method) withList(e *Expr) {
	name, target := m.field.Name, m.target()
	switch {
	case e.Elem.Shape == Struct:
		m.with("appends values to the list. It panics if one is nil.", "values ...*"+m.expr(e.Elem),
			"for i := range values {\nif values[i] == nil {\npanic(\"nil value passed to With"+name+"\")\n}\n"+
				target+" = append("+target+", *values[i])\n}\n")
	default:
		m.with("appends values to the list.", "values ..."+m.expr(e.Elem), target+" = append("+target+", values...)\n")
	}
}

func (m method) withMap(e *Expr) {
	target := m.target()
	m.with("adds entries to the map.", "entries "+m.expr(e),
		"if "+target+" == nil && len(entries) > 0 {\n"+target+" = make("+m.expr(e)+", len(entries))\n}\n"+
			"for k, v := range entries {\n"+target+"[k] = v\n}\n")
}

func (m method) unset() {
	m.printf("\n// Unset%s declares that the field must be absent.\nfunc (b *%s) Unset%[1]s() *%[2]s {\n%[3]s%[4]s = nil\n", m.field.Name, m.receiver, m.ensure, m.target())
	m.printf("%[1]s.UnsetMarks = %[1]s.UnsetMarks.WithField(%[2]q)\nreturn b\n}\n", m.holder, m.field.JSON)
}

func (m method) unsetEntry() {
	e := m.field.Type
	key, text, target := "string", "key", m.target()
	if e.Shape == Map && e.Key.Name != "string" {
		key, text = m.name(e.Key), "string(key)"
	}
	if e.Collection {
		key = m.name(e.Key)
		if e.Key.Name != "string" {
			text = "string(key)"
		}
	}
	m.printf("\n// Unset%sEntry declares that an entry of the map must be absent.\nfunc (b *%s) Unset%[1]sEntry(key %[3]s) *%[2]s {\n%[4]s", m.field.Name, m.receiver, key, m.ensure)
	if e.Collection {
		m.printf("if %[1]s != nil {\ndelete(*%[1]s, key)\n}\n", target)
	} else {
		m.printf("delete(%s, key)\n", target)
	}
	m.printf("%[1]s.UnsetMarks = %[1]s.UnsetMarks.WithEntry(%[2]q, %[3]s)\nreturn b\n}\n", m.holder, m.field.JSON, text)
}
