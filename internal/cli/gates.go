package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/apiserver"
)

// gate is a feature that can be switched.
type gate struct {
	name  string
	on    bool // unless somebody says otherwise
	about string
}

var allGates = []gate{
	{apiserver.UnsettingFields, true, "{k8s_io__value: unset} in a configuration says that a field must be absent"},
	{apiserver.ManagedFieldsOptOut, true, "drop=metadata.managedFields in an Accept header has managedFields left out of the answer"},
}

// readGates reads NAME=true|false,….
func readGates(text string) (map[string]bool, error) {
	gates := map[string]bool{}
	for _, g := range allGates {
		gates[g.name] = g.on
	}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		if !slices.ContainsFunc(allGates, func(g gate) bool { return g.name == name }) {
			return nil, fmt.Errorf("--feature-gates: expected one of %s, received %q", gateNames(), name)
		}
		on, err := strconv.ParseBool(value)
		if err != nil {
			return nil, fmt.Errorf("--feature-gates: %s: expected true or false, received %q", name, value)
		}
		gates[name] = on
	}
	return gates, nil
}

func gateNames() string {
	var names []string
	for _, g := range allGates {
		names = append(names, g.name)
	}
	return strings.Join(names, ", ")
}

// gatesHelp has a line for each gate. Where lines are joined, as in the manual, the semicolons keep them apart.
func gatesHelp() string {
	var lines []string
	for _, g := range allGates {
		lines = append(lines, fmt.Sprintf("%s (default %v): %s", g.name, g.on, g.about))
	}
	return strings.Join(lines, ";\n")
}
