package material

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
)

// Record returns the content of the file of p in testdata: one line per observation, with a hash of its text.
func Record(p Project, observations []Observation) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "# Observations of kube-apiserver for %s@%s, written by make oracle-material.\n", p.Module, p.Version)
	for _, o := range observations {
		fmt.Fprintf(&text, "%s | %s | %s\n", o.Name, o.Compared(), o.Again)
	}
	return text.Bytes()
}

// Compared returns the part of an observation that must be equal on both servers. It does not include the result of the
// second apply, because kube-apiserver sometimes writes an object again.
func (o Observation) Compared() string {
	return fmt.Sprintf("%s | %.6x", o.Outcome, sha256.Sum256([]byte(o.Text)))
}

// Recorded parses record, a file that Record formatted, and returns a map from the names of observations to their
// compared parts.
func Recorded(record []byte) map[string]string {
	compared := map[string]string{}
	for line := range strings.Lines(string(record)) {
		if fields := strings.Split(strings.TrimSuffix(line, "\n"), " | "); len(fields) == 4 {
			compared[fields[0]] = fields[1] + " | " + fields[2]
		}
	}
	return compared
}
