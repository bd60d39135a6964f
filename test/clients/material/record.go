package material

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
)

// Record is observations as they are kept: a line each, with a hash of the text.
func Record(p Project, observations []Observation) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "# What kube-apiserver did with %s@%s. Written by make oracle-material.\n", p.Module, p.Version)
	for _, o := range observations {
		fmt.Fprintf(&text, "%s | %s | %s\n", o.Name, o.Answer(), o.Again)
	}
	return text.Bytes()
}

// Answer is what must be the same on both servers. What comes of applying again is not: kube-apiserver sometimes writes
// an object anew.
func (o Observation) Answer() string {
	return fmt.Sprintf("%s | %.6x", o.Outcome, sha256.Sum256([]byte(o.Text)))
}

// Recorded are the answers in a file, by what was asked.
func Recorded(record []byte) map[string]string {
	answers := map[string]string{}
	for line := range strings.Lines(string(record)) {
		if fields := strings.Split(strings.TrimSuffix(line, "\n"), " | "); len(fields) == 4 {
			answers[fields[0]] = fields[1] + " | " + fields[2]
		}
	}
	return answers
}
