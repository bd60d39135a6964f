package applyruntime_test

import (
	"encoding/json"
	"testing"

	"github.com/cadastre/cadastre/applyruntime"
)

// FuzzUnmarshal checks that a configuration does not change when it is marshalled and unmarshalled again.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"labels":{"a":{"k8s_io__value":"unset"},"b":"1"}},"spec":{"size":{"k8s_io__value":"unset"},"ports":[{"port":1,"k8s_io__value":"unset"},null]}}`,
		`{"spec":{"steps":[{"next":{"next":{"command":"x"}}}],"floors":{"1":{"next":{"k8s_io__value":"unset"}}},"free":{"a":[{"k8s_io__value":"unset"}]}},"data":{"a":"AQI="}}`,
		`{"metadata":null,"spec":null,"stringData":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second shop
		if json.Unmarshal(data, &first) != nil {
			return
		}
		text, err := json.Marshal(first)
		if err != nil {
			return // the configuration has an invalid mark, which Marshal rejects
		}
		if err := json.Unmarshal(text, &second); err != nil {
			t.Fatalf("json.Unmarshal of %s, which was marshalled from %s: %v", text, data, err)
		}
		again, err := json.Marshal(second)
		if err != nil || string(again) != string(text) {
			t.Errorf("json.Marshal = %s, %v, want %s again", again, err, text)
		}
	})
}

// FuzzExtract checks that Extract returns an error or a valid configuration for any managedFields.
func FuzzExtract(f *testing.F) {
	f.Add([]byte(`{"f:spec":{".":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{}},"k:{\"port\":9}":{}}}}`), []byte(`{"ports":[{"port":80,"name":"x"}]}`))
	f.Add([]byte(`{"f:spec":{"f:steps":{"i:0":{}},"f:free":{"f:a":{"v:1":{}}},"f:selector":{"f:labels":{}}}}`), []byte(`{"steps":[{}],"free":{"a":[1]},"selector":{"labels":{"a":"b"}}}`))
	f.Fuzz(func(t *testing.T, fields, spec []byte) {
		if !json.Valid(fields) || !json.Valid(spec) {
			return
		}
		object := json.RawMessage(`{"spec":` + string(spec) + `,"metadata":{"managedFields":[{"manager":"me","operation":"Apply","apiVersion":"v1","fieldsV1":` + string(fields) + `}]}}`)
		var config, again shop
		if applyruntime.Extract(object, &config, "v1", "me", "") != nil {
			return
		}
		text, err := json.Marshal(config)
		if err != nil {
			return
		}
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatalf("json.Unmarshal of the extracted configuration %s: %v", text, err)
		}
	})
}
