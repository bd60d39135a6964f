package discovery

import (
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/internal/encoding"
)

// encode writes object, a discovery document, in the encoding of mediaType. The caller must ensure that mediaType is supported.
func encode(w io.Writer, object runtime.Object, mediaType string) error {
	e := encoding.ForMediaType(mediaType)
	text, err := e.AppendTyped(nil, encoding.Format{Encoding: e}, object)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// encodeJSON writes a value as JSON followed by a newline, as kube-apiserver does.
func encodeJSON(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %T: %w", value, err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
