package document

// The YAML writer writes block style as kubectl does: indented by two spaces, lists
// not indented below their field, text of several lines as it is. Numbers keep
// their spelling. How a string is quoted is decided in yamlquote.go.

// maxBlockDepth is how deep block style goes; what is nested deeper is written in
// flow style, because indentation would make it grow with the square of its depth.
const maxBlockDepth = 64

// AppendYAML appends the value as YAML that ends with a line break. An absent value
// appends nothing.
func (v Value) AppendYAML(dst []byte) []byte {
	if v.IsAbsent() {
		return dst
	}
	return v.opened().appendBlock(dst, 0, 0)
}

// YAML returns the value as YAML; an absent value as "".
func (v Value) YAML() string { return string(v.AppendYAML(nil)) }

// appendBlock writes a value, which is not sealed, to where the text is already
// indented.
func (v Value) appendBlock(dst []byte, indent, depth int) []byte {
	switch {
	case v.Len() > 0 && depth >= maxBlockDepth:
		return append(v.appendFlow(dst), '\n')
	case v.Len() > 0 && v.Kind() == Map:
		return v.appendBlockMap(dst, indent, depth)
	case v.Len() > 0:
		return v.appendBlockList(dst, indent, depth)
	case v.Kind() == String && yamlStyleOf(v.text()) == literalStyle:
		return appendLiteral(dst, v.text(), indent)
	}
	return append(v.appendFlow(dst), '\n')
}

func (v Value) appendBlockMap(dst []byte, indent, depth int) []byte {
	for i := range v.Len() {
		if i > 0 {
			dst = appendIndent(dst, indent)
		}
		dst = appendYAMLName(dst, v.Name(i), indent)
		value := v.At(i).opened()
		switch {
		case value.Len() == 0 || depth+1 >= maxBlockDepth:
			dst = append(dst, ' ')
			dst = value.appendBlock(dst, indent+2, depth+1)
		case value.Kind() == Map:
			dst = appendIndent(append(dst, '\n'), indent+2)
			dst = value.appendBlock(dst, indent+2, depth+1)
		default:
			dst = appendIndent(append(dst, '\n'), indent)
			dst = value.appendBlock(dst, indent, depth+1)
		}
	}
	return dst
}

func (v Value) appendBlockList(dst []byte, indent, depth int) []byte {
	for i := range v.Len() {
		if i > 0 {
			dst = appendIndent(dst, indent)
		}
		dst = append(dst, '-', ' ')
		dst = v.At(i).opened().appendBlock(dst, indent+2, depth+1)
	}
	return dst
}

// maxSimpleName is the longest name that is written before a colon; readers need
// to see the colon soon.
const maxSimpleName = 128

// appendYAMLName writes a name and its colon.
func appendYAMLName(dst []byte, name string, indent int) []byte {
	if len(name) <= maxSimpleName {
		return append(appendYAMLString(dst, name), ':')
	}
	dst = append(dst, '?', ' ')
	dst = appendYAMLString(dst, name)
	dst = appendIndent(append(dst, '\n'), indent)
	return append(dst, ':')
}

// appendFlow writes a value on one line.
func (v Value) appendFlow(dst []byte) []byte {
	v = v.opened()
	switch v.Kind() {
	case Null:
		return append(dst, "null"...)
	case Bool:
		return append(dst, v.text()...)
	case Number:
		return appendYAMLNumber(dst, v.text())
	case String:
		return appendYAMLString(dst, v.text())
	case List:
		return v.appendFlowList(dst)
	}
	return v.appendFlowMap(dst)
}

func (v Value) appendFlowList(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',', ' ')
		}
		dst = v.At(i).appendNested(dst)
	}
	return append(dst, ']')
}

func (v Value) appendFlowMap(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',', ' ')
		}
		if len(v.Name(i)) > maxSimpleName {
			dst = append(dst, '?', ' ')
		}
		dst = appendDoubleQuoted(dst, v.Name(i))
		dst = append(dst, ':', ' ')
		dst = v.At(i).appendNested(dst)
	}
	return append(dst, '}')
}

// appendNested writes a value inside of flow style, where a plain string would have
// to avoid brackets and commas.
func (v Value) appendNested(dst []byte) []byte {
	if v.Kind() == String {
		return appendDoubleQuoted(dst, v.text())
	}
	return v.appendFlow(dst)
}

// appendYAMLNumber writes a number with its spelling. YAML reads a number beyond
// the range of float64 as a string unless a tag says what it is.
func appendYAMLNumber(dst []byte, literal string) []byte {
	if resolvePlain(literal).kind != Number {
		dst = append(dst, "!!float "...)
	}
	return append(dst, literal...)
}

func appendIndent(dst []byte, indent int) []byte {
	for range indent {
		dst = append(dst, ' ')
	}
	return dst
}
