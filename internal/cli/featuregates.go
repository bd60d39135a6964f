package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/apiserver"
)

// featureGate is a feature gate of cadastre serve.
type featureGate struct {
	name  string
	on    bool // default value
	about string
}

var featureGates = []featureGate{
	{apiserver.UnsettingFields, true, "applied configurations may contain {k8s_io__value: unset}, which removes a field and owns its absence"},
	{apiserver.ManagedFieldsOptOut, true, "drop=metadata.managedFields in an Accept header omits managedFields from responses"},
}

// parseGates returns the value of every feature gate: the value in text, which contains NAME=true|false pairs separated
// by commas, or the default if text does not contain the gate.
func parseGates(text string) (map[string]bool, error) {
	gates := map[string]bool{}
	for _, g := range featureGates {
		gates[g.name] = g.on
	}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		if !slices.ContainsFunc(featureGates, func(g featureGate) bool { return g.name == name }) {
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
	for _, g := range featureGates {
		names = append(names, g.name)
	}
	return strings.Join(names, ", ")
}

// gatesHelp returns one line per feature gate for the help. The lines end in semicolons, because
// docs/server/configuration.md joins them.
func gatesHelp() string {
	var lines []string
	for _, g := range featureGates {
		lines = append(lines, fmt.Sprintf("%s (default %v): %s", g.name, g.on, g.about))
	}
	return strings.Join(lines, ";\n") + "."
}
