package client

import (
	"bytes"

	"sigs.k8s.io/yaml"
)

// yamlEncoding removes managedFields from responses in YAML, which has no watches.
var yamlEncoding = &encoding{mediaType: "application/yaml", strip: stripYAML}

// stripYAML removes managedFields from a response in YAML. It converts the response to JSON and back, which is slow; this is
// acceptable because programs rarely request YAML.
func stripYAML(body []byte) ([]byte, error) {
	if !bytes.Contains(body, []byte(managedFieldsField)) {
		return body, nil
	}
	text, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil, err
	}
	if text, err = stripJSON(text); err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(text)
}
