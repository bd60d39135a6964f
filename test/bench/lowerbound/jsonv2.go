//go:build goexperiment.jsonv2

package lowerbound

import "encoding/json/v2"

func init() {
	experimental = append(experimental, Library{"encoding/json/v2", func() codec {
		return &tree{
			unmarshal: func(text []byte, value any) error { return json.Unmarshal(text, value) },
			marshal:   func(value any) ([]byte, error) { return json.Marshal(value) },
		}
	}})
}
