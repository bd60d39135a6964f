package material

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
)

// Record returns the file of a project: one line per observation, with a hash of the text.
func Record(p Project, observations []Observation) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "# Observations of kube-apiserver for %s@%s, written by make oracle-material.\n", p.Module, p.Version)
	for _, o := range observations {
		fmt.Fprintf(&text, "%s | %s | %s\n", o.Name, o.Answer(), o.Again)
	}
	return text.Bytes()
}

// Answer returns the part of an observation that must be equal on both servers. The result of the second apply is not
// included, because kube-apiserver sometimes writes an object again.
func (o Observation) Answer() string {
	return fmt.Sprintf("%s | %.6x", o.Outcome, sha256.Sum256([]byte(o.Text)))
}

// Recorded parses a file: observation name → answer.
func Recorded(record []byte) map[string]string {
	answers := map[string]string{}
	for line := range strings.Lines(string(record)) {
		if fields := strings.Split(strings.TrimSuffix(line, "\n"), " | "); len(fields) == 4 {
			answers[fields[0]] = fields[1] + " | " + fields[2]
		}
	}
	return answers
}
