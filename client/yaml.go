package client

import (
	"bytes"

	"sigs.k8s.io/yaml"
)

var yamlEncoding = &encoding{mediaType: "application/yaml", strip: stripYAML}

// stripYAML removes managedFields from YAML. Programs rarely request YAML, so it is converted to JSON and back.
func stripYAML(body []byte) ([]byte, error) {
	if !bytes.Contains(body, []byte(inManagedFields)) {
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
