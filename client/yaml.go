package client

import (
	"bytes"

	"sigs.k8s.io/yaml"
)

// stripYAML takes managedFields out of YAML. Hardly anybody asks for it from a program: it is read as JSON.
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
