package cbor

import (
	"testing"

	"github.com/cadastre/cadastre/document"
)

// FuzzDecode decodes arbitrary request bodies: the result is an error or JSON that can be encoded as CBOR again.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{`{}`, `{"a":[1,-1,1.5,null,true,"b"],"c":{"d":""}}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`} {
		v, err := document.ParseJSON(text)
		if err != nil {
			f.Fatal(err)
		}
		body, err := Encode(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, odd := range []string{"", "\xbf\x41a\x01\xff", "\x5f\x41a\xff", "\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "\xf9\x7e\x00", "\xc2\x41\x01", "\xa2\x41a\x01\x41a\x02", "\xd9\xd9\xf7\xa0", "\x1b\xff\xff\xff\xff\xff\xff\xff\xff"} {
		f.Add([]byte(odd))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		text, err := Decode(body)
		if err != nil {
			return
		}
		v, err := document.ParseJSON(text)
		if err != nil {
			t.Fatalf("Decode(%q) = %s, want JSON: %v", body, text, err)
		}
		if _, err := Encode(v); err != nil {
			t.Errorf("Encode(%s) = %v, want no error", text, err)
		}
	})
}
