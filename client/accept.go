package client

import "strings"

// dropParameter is the parameter of a media type in Accept that lists fields to omit from the response, separated by +.
// managedFieldsPath is its value for managedFields (KEP-5958).
const (
	dropParameter     = "drop"
	managedFieldsPath = "metadata.managedFields"
)

// withDrop returns an Accept header with the parameter drop=metadata.managedFields added to every media type. An empty
// header is treated as */*.
func withDrop(accept string) string {
	if strings.TrimSpace(accept) == "" {
		accept = "*/*"
	}
	clauses := strings.Split(accept, ",")
	for i, clause := range clauses {
		clauses[i] = clauseWithDrop(clause)
	}
	return strings.Join(clauses, ",")
}

// clauseWithDrop returns a media type of an Accept header with metadata.managedFields added to its parameter drop,
// unless drop already contains that field. Other fields in drop remain.
func clauseWithDrop(clause string) string {
	parts := strings.Split(clause, ";")
	for i, part := range parts[1:] {
		name, targets, _ := strings.Cut(part, "=")
		if !strings.EqualFold(strings.TrimSpace(name), dropParameter) {
			continue
		}
		targets = strings.Trim(strings.TrimSpace(targets), `"`)
		if !containsField(targets, managedFieldsPath) {
			parts[1+i] = dropParameter + "=" + strings.TrimPrefix(targets+"+", "+") + managedFieldsPath
		}
		return strings.Join(parts, ";")
	}
	return strings.TrimRight(clause, " ") + ";" + dropParameter + "=" + managedFieldsPath
}

// containsField reports whether targets, a list of fields separated by +, contains the field wanted.
func containsField(targets, wanted string) bool {
	for target := range strings.SplitSeq(targets, "+") {
		if strings.TrimSpace(target) == wanted {
			return true
		}
	}
	return false
}
