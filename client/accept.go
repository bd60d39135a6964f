package client

import "strings"

const (
	dropParameter = "drop"
	managedFields = "metadata.managedFields"
)

// withDrop returns an Accept header with the parameter drop=metadata.managedFields in every clause.
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

// clauseWithDrop adds managedFields to the parameter drop of one clause.
func clauseWithDrop(clause string) string {
	parts := strings.Split(clause, ";")
	for i, part := range parts[1:] {
		name, targets, _ := strings.Cut(part, "=")
		if !strings.EqualFold(strings.TrimSpace(name), dropParameter) {
			continue
		}
		targets = strings.Trim(strings.TrimSpace(targets), `"`)
		if !contains(targets, managedFields) {
			parts[1+i] = dropParameter + "=" + strings.TrimPrefix(targets+"+", "+") + managedFields
		}
		return strings.Join(parts, ";")
	}
	return strings.TrimRight(clause, " ") + ";" + dropParameter + "=" + managedFields
}

func contains(targets, wanted string) bool {
	for target := range strings.SplitSeq(targets, "+") {
		if strings.TrimSpace(target) == wanted {
			return true
		}
	}
	return false
}
