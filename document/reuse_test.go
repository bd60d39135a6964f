package document

import "testing"

// TestReusableParser checks that a reusableParser returns the same documents as ParseJSON, also after several
// documents and calls of Reset.
func TestReusableParser(t *testing.T) {
	var r reusableParser
	texts := []string{
		`{"a":[1,{"b":"c"}],"d":{"e":null},"f":"\u00e9\n"}`,
		`[]`, `1`, `"x"`, `{}`,
		`{"b":1,"a":{"d":[[],{}],"c":"\""}}`,
		`[` + listItems(500) + `]`,
		`{"a":{"b":[1,2,3]},"c":{"d":"e"}}`,
	}
	for round := range 5 {
		r.Reset()
		var read []Value
		for i := range texts {
			text := texts[(i*3+round)%len(texts)]
			var other Value
			if len(read) > 0 {
				other = read[len(read)-1]
			}
			v, err := r.ParseJSON(text, Limits{}, other, nil)
			if err != nil {
				t.Fatal(err)
			}
			read = append(read, v)
			again, err := r.ParseJSON(text, Limits{}, v, nil)
			if err != nil {
				t.Fatal(err)
			}
			read = append(read, again)
		}
		for i, v := range read {
			text := texts[(i/2*3+round)%len(texts)]
			want, err := ParseJSON(text)
			if err != nil {
				t.Fatal(err)
			}
			if !Equal(v, want) || v.JSON() != want.JSON() {
				t.Errorf("round %d: ParseJSON(%s) = %s, want %s", round, text, v, want)
			}
		}
	}
}

// TestReusableParserAllocations checks that a reusableParser does not allocate memory after the first round of
// documents.
func TestReusableParserAllocations(t *testing.T) {
	var r reusableParser
	text := `{"a":[1,{"b":"c"}],"d":{"e":null},"f":[` + listItems(100) + `]}`
	cost := testing.AllocsPerRun(100, func() {
		r.Reset()
		for range 10 {
			if _, err := r.ParseJSON(text, Limits{}, Value{}, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
	if cost > 1 {
		t.Errorf("parsing ten documents takes %v allocations, want at most 1", cost)
	}
}

// TestClone checks that a clone stays valid after Reset.
func TestClone(t *testing.T) {
	const text = `{"a":[1,{"b":"c\n"}],"d":{},"e":null,"f":true,"g":1.50,"h":"<x>"}`
	var r reusableParser
	v, err := r.ParseJSON(text, Limits{}, Value{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := v.Clone()
	want := map[string]string{}
	parts := map[string]Value{"absent": v.Get("absent").Clone()}
	for name, field := range v.Fields() {
		want[name], parts[name] = field.String(), field.Clone()
	}
	before := whole.JSON()
	for range 3 {
		r.Reset()
		if _, err := r.ParseJSON(`["of","another",{"document":[0,0,0,0,0,0,0,0]}]`, Limits{}, Value{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if whole.JSON() != before || !parts["absent"].IsAbsent() {
		t.Errorf("after Reset the clone of %s is %s, want it unchanged", before, whole)
	}
	for name, text := range want {
		if parts[name].String() != text {
			t.Errorf("field %s: after Reset the clone of %s is %s, want it unchanged", name, text, parts[name])
		}
	}
}

// listItems returns the JSON of size maps and a number, separated by commas.
func listItems(size int) (text string) {
	for range size {
		text += `{"name":"x"},`
	}
	return text + "0"
}
