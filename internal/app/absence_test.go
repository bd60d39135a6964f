package app

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/ownership"
	"github.com/cadastre/cadastre/schema"
)

var (
	absenceHistories = flag.Int("absences", 25, "number of random histories of TestAbsencesAreNotLost")
	absenceSeed      = flag.Uint64("absence-seed", 1, "seed of the first random history of TestAbsencesAreNotLost")
)

// TestAbsencesAreNotLost runs random histories of applies with unset markers, updates, patches, writes to status and scale, changes
// of the version and of the schema, and migrations between managers, and checks after each request that
//
//   - a rejected request changes nothing;
//   - applying the extracted configuration of each manager is a no-op;
//   - a field manager loses the ownership of an absent field only by a rule of absenceHistory.lossRule.
func TestAbsencesAreNotLost(t *testing.T) {
	c := start(t, Config{})
	rules := map[string]int{}
	for i := range *absenceHistories {
		h := &absenceHistory{client: c, seed: *absenceSeed + uint64(i), rules: rules}
		h.Rand = rand.New(rand.NewPCG(h.seed, 5051))
		h.run(t)
	}
	t.Logf("absences kept and lost, by rule: %v", rules)
	for _, rule := range []string{"kept", "released", "set", "moved", "undeclared", "followed", "met"} {
		if *absenceHistories >= 25 && rules[rule] == 0 {
			t.Errorf("no absence was %s, want the histories to contain some", rule)
		}
	}
}

// absenceHistory is a random history of requests for one object, whose kind only this history uses.
type absenceHistory struct {
	*rand.Rand
	client *client
	seed   uint64
	rules  map[string]int

	definition                 document.Value
	generation                 int
	hasV1, zoned, atomic       bool // variants of the schema: version v1 is served, field zoned, atomic map
	request                    string
	manager, subresource, verb string // of the last request; verb is apply, schema, migrate or other
}

func (h *absenceHistory) group() string { return fmt.Sprintf("h%d.example.com", h.seed) }
func (h *absenceHistory) path(version string) string {
	return "/apis/" + h.group() + "/" + version + "/things/one"
}

func (h *absenceHistory) run(t *testing.T) {
	h.hasV1 = true
	h.define(t, http.MethodPost)
	before := h.read(t)
	for step := range 30 {
		code := h.step(t)
		after := h.read(t)
		if code >= 300 && before.text != after.text {
			t.Fatalf("seed %d, step %d: %s: status %d, but the object changed\nbefore %s\nafter %s", h.seed, step, h.request, code, before.text, after.text)
		}
		for absence := range before.absences {
			rule := h.lossRule(absence, before, after)
			if rule == "" {
				t.Fatalf("seed %d, step %d: %s: %s lost its absence\nbefore %s\nafter %s", h.seed, step, h.request, absence, before.text, after.text)
			}
			h.rules[rule]++
		}
		if h.verb == "migrate" && code < 300 {
			// The union of two field sets may contain both an empty map and a field in it, which no configuration can, so the first
			// apply after a migration may reduce the union. Absences must remain.
			h.checkExtract(t, step, after, true)
			settled := h.read(t)
			for absence := range after.absences {
				if !settled.absences[absence] {
					t.Fatalf("seed %d, step %d: after %s: %s is lost by applying the extracted configuration\nbefore %s\nafter %s",
						h.seed, step, h.request, absence, after.text, settled.text)
				}
			}
			after = settled
		}
		h.checkExtract(t, step, after, false)
		before = after
	}
}

// absence is a field that a field manager owns with the operation Apply and that the object lacks.
type absence struct{ manager, subresource, path string }

// lossRule returns the rule by which the absence a was lost, "kept" if it was not lost, and "" if no rule permits the loss.
func (h *absenceHistory) lossRule(a absence, before, after state) string {
	_, kept := after.absences[a]
	path := before.paths[a.path]
	switch {
	case kept:
		return "kept"
	case h.verb == "apply" && h.manager == a.manager && h.subresource == a.subresource:
		return "released" // the manager has applied another configuration
	case !ownership.ValueAt(after.doc, path).IsAbsent():
		return "set" // the field has a value, from another manager or by default
	case h.verb == "schema" && strings.HasPrefix(a.path, ".spec.items["):
		return h.rekeyRule(a, before, after)
	case strings.Contains(a.path, "].") && ownership.ValueAt(after.doc, itemOf(path)).IsAbsent():
		return "item removed" // the list item around the field was removed
	case strings.HasPrefix(a.path, ".spec.old") && h.verb == "apply" && after.owns(h.manager, a.path):
		return "set" // set at v1; the storage version does not have the field
	case h.verb == "migrate" && after.owns(h.manager, a.path):
		return "moved"
	case h.verb == "schema" && strings.HasPrefix(a.path, ".spec.old"):
		return "undeclared" // the storage version does not have the field
	case h.verb == "schema" && h.atomic && strings.HasPrefix(a.path, ".spec.map") && after.owns(a.manager, ".spec.map"):
		return "atomic" // the whole map is owned instead
	}
	return ""
}

// rekeyRule returns the rule by which a change of the list keys changed the absence a of an item or of a field in an item: "followed" if
// it has the new keys, "met" if another item has these keys, whose fields the manager must not own because of the absence.
func (h *absenceHistory) rekeyRule(a absence, before, after state) string {
	now := a
	now.path = strings.Replace(a.path, `,zone="y"`, "", 1)
	zoned := now
	zoned.path = strings.Replace(now.path, `"]`, `",zone="y"]`, 1)
	if after.absences[now] || after.absences[zoned] {
		return "followed"
	}
	for _, zone := range []string{"", `,zone="y"`} {
		item := strings.Replace(now.path, `"]`, `"`+zone+`]`, 1)
		if before.owns(a.manager, item) && !before.absences[absence{a.manager, a.subresource, item}] {
			return "met" // the manager owned the other item already
		}
	}
	path, err := fieldset.ParsePath(now.path)
	if err != nil || h.zoned || ownership.ValueAt(after.doc, itemOf(path)).IsAbsent() || after.owns(a.manager, now.path) {
		return ""
	}
	return "met"
}

// itemOf returns the path of the last list item in a path.
func itemOf(path fieldset.Path) fieldset.Path {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Kind() == fieldset.Key {
			return path[:i+1]
		}
	}
	return path
}

// state is the object after a request.
type state struct {
	text     string
	doc      document.Value
	object   apply.Object
	absences map[absence]bool
	paths    map[string]fieldset.Path // all owned paths, by their string representation
	owned    map[string]bool          // manager and path, separated by a space
}

func (s state) owns(manager, path string) bool { return s.owned[manager+" "+path] }

// read returns the object at the storage version; the zero state if it does not exist.
func (h *absenceHistory) read(t *testing.T) state {
	answer := h.client.withT(t).call("GET", h.path("v2"), "")
	if answer.code == http.StatusNotFound {
		return state{}
	}
	answer.want(200)
	s := state{text: answer.text, absences: map[absence]bool{}, paths: map[string]fieldset.Path{}, owned: map[string]bool{}}
	var err error
	if s.object, err = apply.ReadObject(answer.text); err != nil {
		t.Fatal(err)
	}
	s.doc = s.object.Document
	for _, e := range s.object.Entries {
		fields, err := e.Fields()
		if err != nil {
			t.Fatal(err)
		}
		for path := range fields.All() {
			text := strings.ReplaceAll(path.String(), `,zone="z"`, "")
			if _, known := s.paths[text]; !known {
				s.paths[text] = slices.Clone(path)
			}
			s.owned[e.Manager+" "+text] = true
			if e.Operation == apply.Apply && ownership.ValueAt(s.doc, path).IsAbsent() {
				s.absences[absence{e.Manager, e.Subresource, text}] = true
			}
		}
	}
	return s
}

// checkExtract checks that applying the extracted configuration of each manager succeeds and, unless changes is true, is a
// no-op.
func (h *absenceHistory) checkExtract(t *testing.T, step int, s state, changes bool) {
	t.Helper()
	types, err := schema.LoadCRD(h.definition)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range s.object.Entries {
		// As in Kubernetes, a write to scale may split an Update entry into two entries of the same manager, which the next write
		// merges.
		isSame := func(other apply.Entry) bool {
			return other.Manager == e.Manager && other.Operation == e.Operation && other.Subresource == e.Subresource
		}
		if slices.ContainsFunc(s.object.Entries[:i], isSame) {
			return
		}
	}
	for _, e := range s.object.Entries {
		if e.Operation != apply.Apply || e.Subresource == "scale" {
			continue
		}
		version := e.APIVersion[strings.LastIndex(e.APIVersion, "/")+1:]
		if h.hasV1 || version != "v1" {
			path := h.path(version)
			live, err := apply.ReadObject(h.client.call("GET", path, "").want(200).text)
			if err != nil {
				t.Fatal(err)
			}
			config, err := ownership.Extract(live, ownership.Selector{Manager: e.Manager, Operation: apply.Apply, Subresource: e.Subresource}, types[version])
			if err != nil {
				t.Fatalf("seed %d, step %d: Extract() for %s: %v\n%s", h.seed, step, e.Manager, err, s.text)
			}
			if e.Subresource != "" {
				path += "/" + e.Subresource
			}
			h.client.withT(t).apply(path, e.Manager, config.JSON()).want(200)
			if after := h.client.call("GET", h.path("v2"), "").text; after != s.text && !changes {
				t.Fatalf("seed %d, step %d: after %s: applying the configuration of %s is no no-op: %s\nbefore %s\nafter %s",
					h.seed, step, h.request, e.Manager, config.JSON(), s.text, after)
			}
		}
	}
}

// step sends a random request and returns its status code.
func (h *absenceHistory) step(t *testing.T) int {
	h.verb, h.subresource = "other", ""
	h.manager = h.choose("ann", "bob", "cid")
	version := "v2"
	if h.hasV1 && h.IntN(2) == 0 {
		version = "v1"
	}
	switch n := h.IntN(100); {
	case n < 50:
		return h.applyRandom(t, version)
	case n < 57:
		return h.applyStatus(t, version)
	case n < 65:
		return h.applyScale(t, version)
	case n < 73:
		return h.update(t, version)
	case n < 80:
		return h.send(t, "PATCH", version, "", h.choose(`{"spec":{"a":"m"}}`, `{"spec":{"a":null,"map":{"k1":5}}}`, `{"spec":{"items":[{"name":"a","value":9}]}}`,
			`{"metadata":{"labels":{"l1":"m"}}}`, `{"spec":{"size":null}}`), mergeType)
	case n < 84:
		return h.send(t, "PATCH", version, "", h.choose(`[{"op":"add","path":"/spec/b","value":"j"}]`, `[{"op":"remove","path":"/spec/a"}]`,
			`[{"op":"add","path":"/spec/items","value":[{"name":"b","value":1}]}]`, `[{"op":"remove","path":"/spec/items"}]`), "application/json-patch+json")
	case n < 87:
		return h.migrate(t)
	}
	return h.changeSchema(t)
}

func (h *absenceHistory) choose(values ...string) string { return values[h.IntN(len(values))] }

// fields returns a random selection of JSON members, each with one of its values or with an unset marker.
func (h *absenceHistory) fields(members ...string) string {
	var out []string
	for _, m := range members {
		name, values, _ := strings.Cut(m, "=")
		switch n := h.IntN(100); {
		case n < 30:
			out = append(out, fmt.Sprintf("%q:%s", name, h.choose(strings.Split(values, "|")...)))
		case n < 60:
			out = append(out, fmt.Sprintf(`%q:{"k8s_io__value":"unset"}`, name))
		}
	}
	return strings.Join(out, ",")
}

func (h *absenceHistory) applyRandom(t *testing.T, version string) int {
	h.verb = "apply"
	var parts []string
	add := func(part string, fields string) {
		if fields != "" {
			parts = append(parts, fmt.Sprintf(part, fields))
		}
	}
	spec := []string{`a="x"|"y"`, `b="x"`, `size=1|2|3`}
	if version == "v1" {
		spec = append(spec, `old="x"`)
	}
	add("%s", h.fields(spec...))
	if !h.atomic || h.IntN(2) == 0 {
		add(`"map":{%s}`, h.fields("k1=1|2", "k2=1"))
	}
	var items []string
	keys := []string{`"name":"a"`, `"name":"b"`}
	if h.zoned {
		keys = append(keys, `"name":"a","zone":"y"`, `"name":"b","zone":"y"`)
	}
	for _, key := range keys {
		switch h.IntN(5) {
		case 0:
			items = append(items, fmt.Sprintf(`{%s,"k8s_io__value":"unset"}`, key))
		case 1:
			items = append(items, fmt.Sprintf(`{%s,"value":%d}`, key, h.IntN(2)))
		case 2:
			items = append(items, fmt.Sprintf(`{%s,"value":{"k8s_io__value":"unset"}}`, key))
		}
	}
	add(`"items":[%s]`, strings.Join(items, ","))
	config := fmt.Sprintf(`{"apiVersion":"%s/%s","kind":"Thing","metadata":{"name":"one","labels":{%s}},"spec":{%s}}`,
		h.group(), version, h.fields(`l1="x"|"y"`, `l2="x"`), strings.Join(parts, ","))
	return h.send(t, "PATCH", version, "", config, applyType)
}

func (h *absenceHistory) applyStatus(t *testing.T, version string) int {
	h.verb, h.subresource = "apply", "status"
	return h.send(t, "PATCH", version, "/status", fmt.Sprintf(`{"apiVersion":"%s/%s","kind":"Thing","metadata":{"name":"one"},"status":{%s}}`,
		h.group(), version, h.fields(`phase="x"|"y"`, `size=1`)), applyType)
}

func (h *absenceHistory) applyScale(t *testing.T, version string) int {
	if h.IntN(3) == 0 {
		return h.send(t, "PATCH", version, "/scale", fmt.Sprintf(`{"spec":{"replicas":%d}}`, h.IntN(3)), mergeType)
	}
	h.verb, h.subresource = "apply", "scale"
	return h.send(t, "PATCH", version, "/scale", fmt.Sprintf(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"one"},"spec":{%s}}`,
		h.fields(`replicas=0|1|2`)), applyType)
}

// update sends an update in which some fields of the object are set or removed.
func (h *absenceHistory) update(t *testing.T, version string) int {
	answer := h.client.call("GET", h.path(version), "")
	var object map[string]any
	if answer.code != 200 || json.Unmarshal([]byte(answer.text), &object) != nil {
		return 404
	}
	spec, _ := object["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
		object["spec"] = spec
	}
	switch h.IntN(4) {
	case 0:
		spec["a"] = "u"
	case 1:
		delete(spec, "a")
		delete(spec, "items")
	case 2:
		spec["map"] = map[string]any{"k2": 7}
	case 3:
		spec["items"] = []any{map[string]any{"name": "a"}}
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return h.send(t, "PUT", version, "", string(text), "application/json")
}

// migrate moves the fields of a field manager to another field manager.
func (h *absenceHistory) migrate(t *testing.T) int {
	h.verb = "migrate"
	from := h.choose("ann", "bob", "cid")
	if from == h.manager {
		return 404
	}
	answer := h.client.call("GET", h.path("v2"), "")
	if answer.code != 200 {
		return answer.code
	}
	object, err := apply.ReadObject(answer.text)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range object.Entries {
		if (e.Manager == from || e.Manager == h.manager) && !strings.HasSuffix(e.APIVersion, "/v2") {
			return 404 // absences can be moved only between entries of one version
		}
	}
	result, err := ownership.Migrate(object, ownership.Migration{From: []ownership.Selector{{Manager: from, Operation: apply.Apply}}, To: h.manager})
	if err != nil || result.NoOp() {
		return 404
	}
	patch, err := ownership.Patch(object, result.Entries)
	if err != nil {
		t.Fatal(err)
	}
	return h.send(t, "PATCH", "v2", "", string(patch), "application/json-patch+json")
}

func (h *absenceHistory) changeSchema(t *testing.T) int {
	h.verb = "schema"
	switch h.IntN(5) {
	case 0, 1:
		if h.zoned && h.hasDuplicateNames(t) {
			return 404 // the object would be invalid without the key
		}
		h.zoned = !h.zoned
	case 2:
		h.atomic = !h.atomic
	default:
		h.hasV1 = !h.hasV1
	}
	h.define(t, http.MethodPatch)
	return 200
}

// hasDuplicateNames reports whether two items of the object differ only in their zones.
func (h *absenceHistory) hasDuplicateNames(t *testing.T) bool {
	names := map[string]bool{}
	for _, item := range h.read(t).doc.Lookup("spec", "items").Items() {
		name := item.Get("name").Text()
		if names[name] {
			return true
		}
		names[name] = true
	}
	return false
}

// define creates or changes the CRD, and waits until it is served and managedFields are migrated.
func (h *absenceHistory) define(t *testing.T, method string) {
	h.generation++
	version := func(name string) string {
		keys, mapType, old := `["name"]`, "granular", ""
		if h.zoned {
			keys = `["name","zone"]`
		}
		if h.atomic {
			mapType = "atomic"
		}
		if name == "v1" {
			old = `"old":{"type":"string"},`
		}
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}},
"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"g%d":{"type":"string"},%s"size":{"type":"integer","default":2},
"map":{"type":"object","x-kubernetes-map-type":%q,"additionalProperties":{"type":"integer"}},
"items":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":%s,"items":{"type":"object","required":["name"],
"properties":{"name":{"type":"string"},"zone":{"type":"string","default":"z"},"value":{"type":"integer"}}}}}},
"status":{"type":"object","properties":{"phase":{"type":"string"},"size":{"type":"integer"}}}}}}}`, name, name == "v2", h.generation, old, mapType, keys)
	}
	versions := version("v2")
	if h.hasV1 {
		versions += "," + version("v1")
	}
	text := fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.%s"},"spec":{"group":%q,"scope":"Cluster",
"names":{"plural":"things","kind":"Thing"},"versions":[%s]}}`, h.group(), h.group(), versions)
	h.request = "definition " + text
	var err error
	if h.definition, err = document.ParseJSON(text); err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		h.client.withT(t).call(method, definitions, text).want(201)
	} else {
		h.client.withT(t).call(method, definitions+"/things."+h.group(), text, "Content-Type: "+mergeType).want(200)
	}
	probe := fmt.Sprintf(`{"apiVersion":"%s/v2","kind":"Thing","metadata":{"name":"probe"},"spec":{"g%d":"x"}}`, h.group(), h.generation)
	testwait.For(t, "the definition is served", func() bool {
		return h.client.apply("/apis/"+h.group()+"/v2/things/probe?dryRun=All", "probe", probe).code < 300
	})
}

func (h *absenceHistory) send(t *testing.T, method, version, subresource, body, contentType string) int {
	t.Helper()
	force := ""
	if contentType == applyType && h.IntN(2) == 0 {
		force = "&force=true"
	}
	path := h.path(version) + subresource + "?fieldManager=" + h.manager + force
	h.request = fmt.Sprintf("%s %s %s", method, path, body)
	answer := h.client.withT(t).call(method, path, body, "Content-Type: "+contentType)
	if answer.code >= 500 {
		t.Fatalf("seed %d: %s: received %d %s", h.seed, h.request, answer.code, answer.text)
	}
	return answer.code
}
