package builtin

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/cadastre/cadastre/document"
)

// flowVerbs are the verbs that rules of a FlowSchema can contain.
var flowVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}

func isStar(v document.Value) bool { return v.Text() == "*" }

func hasStar(list document.Value) bool {
	for _, item := range list.Items() {
		if isStar(item) {
			return true
		}
	}
	return false
}

func checkFlowVerbs(c *checker, verbs, _ document.Value) {
	if hasStar(verbs) {
		if verbs.Len() > 1 {
			c.invalid(errorValue(verbs), "if '*' is present, must not specify other verbs")
		}
		return
	}
	for _, verb := range verbs.Items() {
		if !slices.Contains(flowVerbs, verb.Text()) {
			c.unsupported(errorValue(verbs), flowVerbs)
			return
		}
	}
}

func checkFlowNamespaces(c *checker, namespaces, _ document.Value) {
	if hasStar(namespaces) {
		return
	}
	for i, namespace := range namespaces.Items() {
		c.pushItem(i)
		for _, problem := range formats["dns-label"].check(namespace.Text()) {
			c.invalid(namespace.Text(), "each member of this list must be '*' or a DNS-1123 label; "+problem)
		}
		c.pop()
	}
}

func checkFlowPaths(c *checker, paths, _ document.Value) {
	if hasStar(paths) {
		return
	}
	for i, path := range paths.Items() {
		if problem := flowPathProblem(path.Text()); problem != "" {
			c.pushItem(i)
			c.invalid(path.Text(), problem)
			c.pop()
		}
	}
}

func flowPathProblem(path string) string {
	stars := strings.Count(path, "*")
	switch {
	case path == "":
		return "must not be empty"
	case !strings.HasPrefix(path, "/"):
		return "must start with slash"
	case strings.Contains(path, " "):
		return "must not contain white-space"
	case strings.Contains(path, "//"):
		return "must not contain double slash"
	case stars > 1 || stars == 1 && !strings.HasSuffix(path, "/*"):
		return "wildcard can only do suffix matching"
	}
	return ""
}

// maxHashBits is the number of usable bits in the hash of a flow, from which shuffle sharding selects the flow's queues.
const maxHashBits = 60

// checkHandSize requires that handSize of a PriorityLevelConfiguration is positive, at most the number of queues, and small
// enough for the hash of shuffle sharding.
func checkHandSize(c *checker, queuing, _ document.Value) {
	queues, hand := intValue(queuing.Get("queues")), intValue(queuing.Get("handSize"))
	switch {
	case hand <= 0:
		c.invalid(hand, "must be positive", "handSize")
	case hand > queues:
		c.invalid(hand, fmt.Sprintf("should not be greater than queues (%d)", queues), "handSize")
	case math.Ceil(math.Log2(float64(queues))*float64(hand)) > maxHashBits:
		c.invalid(hand, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", queues, hand, maxHashBits), "handSize")
	}
}

// The flow control objects that always exist, and whose specs cannot be changed.
var (
	// mandatoryFlowSchemas returns a map from the names of the mandatory FlowSchemas to their specs.
	mandatoryFlowSchemas = sync.OnceValue(func() map[string]document.Value {
		const all = `"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"namespaces":["*"],"clusterScope":true}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]`
		return parseAll(map[string]string{
			"exempt": `{"matchingPrecedence":1,"priorityLevelConfiguration":{"name":"exempt"},
				"rules":[{"subjects":[{"kind":"Group","group":{"name":"system:masters"}}],` + all + `}]}`,
			"catch-all": `{"matchingPrecedence":10000,"priorityLevelConfiguration":{"name":"catch-all"},"distinguisherMethod":{"type":"ByUser"},
				"rules":[{"subjects":[{"kind":"Group","group":{"name":"system:unauthenticated"}},{"kind":"Group","group":{"name":"system:authenticated"}}],` + all + `}]}`,
		})
	})
	// mandatoryPriorityLevels returns a map from the names of the mandatory PriorityLevelConfigurations to their specs.
	mandatoryPriorityLevels = sync.OnceValue(func() map[string]document.Value {
		return parseAll(map[string]string{
			"exempt":    `{"type":"Exempt"}`,
			"catch-all": `{"type":"Limited","limited":{"nominalConcurrencyShares":5,"lendablePercent":0,"limitResponse":{"type":"Reject"}}}`,
		})
	})
)

func parseAll(texts map[string]string) map[string]document.Value {
	all := make(map[string]document.Value, len(texts))
	for name, text := range texts {
		value, err := document.ParseJSON([]byte(text))
		if err != nil {
			panic(err) // unreachable: the texts are constants, and a test parses them
		}
		all[name] = value
	}
	return all
}

func checkMandatoryFlowSchema(c *checker, schema, _ document.Value) {
	name := schema.Lookup("metadata", "name").Text()
	c.checkMandatory(schema.Get("spec"), mandatoryFlowSchemas()[name], fmt.Sprintf("spec of '%s' must equal the fixed value", name))
}

// checkMandatoryPriorityLevel requires that a mandatory PriorityLevelConfiguration has its fixed spec. As an exception,
// spec.exempt may change in the PriorityLevelConfiguration named exempt.
func checkMandatoryPriorityLevel(c *checker, level, _ document.Value) {
	name := level.Lookup("metadata", "name").Text()
	spec, detail := level.Get("spec"), fmt.Sprintf("spec of '%s' must equal the fixed value", name)
	if name == "exempt" {
		spec, detail = spec.Without("exempt"), "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value"
	}
	c.checkMandatory(spec, mandatoryPriorityLevels()[name], detail)
}

func (c *checker) checkMandatory(spec, want document.Value, detail string) {
	if want.IsAbsent() {
		return
	}
	if t, _ := fieldType(c.kind, "spec"); !semanticEqual(t, false, spec, want) {
		c.invalid(errorValue(spec), detail, "spec")
	}
}
