package client

import (
	"bytes"

	"sigs.k8s.io/yaml"
)

var yamlEncoding = &encoding{mediaType: "application/yaml", strip: stripYAML}

// stripYAML removes managedFields from YAML. Programs rarely request it, so that it is converted to JSON and back.
func stripYAML(answer []byte) ([]byte, error) {
	if !bytes.Contains(answer, []byte(inManaged)) {
		return answer, nil
	}
	text, err := yaml.YAMLToJSON(answer)
	if err != nil {
		return nil, err
	}
	if text, err = stripJSON(text); err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(text)
}
