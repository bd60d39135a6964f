package lowerbound

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

func TestEveryLibraryParsesAndWrites(t *testing.T) {
	const text = `{"a":[1,2.5,true,null,"x\ny"],"b":{"c":"d\"e"},"f:k:{\"name\":\"web\"}":{}}`
	for _, library := range Libraries() {
		t.Run(library.Name, func(t *testing.T) {
			c := library.open()
			if err := c.parse([]byte(text)); err != nil {
				t.Fatal(err)
			}
			if err := c.parse([]byte(`{"a":`)); err == nil {
				t.Error("parse() of a truncated text succeeded, want an error")
			}
			if err := c.load([]byte(text)); err != nil {
				t.Fatal(err)
			}
			out, err := c.write()
			if err != nil {
				t.Fatal(err)
			}
			if !equalJSON(t, out, []byte(text)) {
				t.Errorf("write() = %s, want %s", out, text)
			}
		})
	}
}

func TestFastest(t *testing.T) {
	work, err := Fastest().Work([][]byte{[]byte(`{}`), []byte(`[]`)}, bytes.Repeat([]byte("1"), 3))
	if err != nil {
		t.Fatal(err)
	}
	if err := work(); err != nil {
		t.Error(err)
	}
}

func equalJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}
