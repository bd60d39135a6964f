package builtin

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
)

// declaredErrors returns the errors of the declarative validation of value by the given tags, in the format of declarative.txt. If
// old is not "", value is an update of it.
func declaredErrors(t *testing.T, tags, typeName, value, old string) []string {
	t.Helper()
	read, err := readTags(tags)
	if err != nil {
		t.Fatal(err)
	}
	d := &declarations{tags: read, compiled: map[*Type]*declaredType{}}
	d.factories = d.tagFactories()
	typ, ok := Builtin(typeName)
	if !ok {
		t.Fatalf("Builtin(%s): ok = false, want true", typeName)
	}
	declared, err := d.of(typ)
	if err != nil {
		t.Fatalf("compile %s: error = %v, want nil", tags, err)
	}
	if declared == nil {
		return nil
	}
	doc, err := document.ParseJSON([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{kind: typ}
	var live document.Value
	if old != "" {
		if live, err = document.ParseJSON([]byte(old)); err != nil {
			t.Fatal(err)
		}
		c.updating = true
	}
	c.runDeclared(declared, doc, live)
	var texts []string
	for _, e := range c.errs {
		texts = append(texts, e.Error())
	}
	return texts
}

func TestDeclaredTags(t *testing.T) {
	const pod = "io.k8s.api.core.v1.PodSpec"
	for _, test := range []struct{ name, tags, value, old, want string }{
		{"required", "nodeName\trequired", `{}`, "", "nodeName: Required value"},
		{"required, ratcheted", "nodeName\trequired", `{}`, `{}`, ""},
		{"required, no longer set", "nodeName\trequired", `{}`, `{"nodeName":"a"}`, "nodeName: Required value"},
		{"alpha is not reported", "nodeName\talpha required", `{}`, "", ""},
		{"alpha skips the rest", "nodeName\talpha required\tbeta enum=a", `{}`, "", ""},
		{"optional skips the rest", "nodeName\toptional\tenum=a", `{"nodeName":""}`, "", ""},
		{"pointer to zero is set", "priority\toptional\tminimum=1", `{"priority":0}`, "", "priority: Invalid value: 0: must be greater than or equal to 1"},
		{"maximum", "priority\toptional\tmaximum=1", `{"priority":2}`, "", "priority: Invalid value: 2: must be less than or equal to 1"},
		{"enum", "nodeName\toptional\tenum=a,b", `{"nodeName":"c"}`, "", `nodeName: Unsupported value: "c": supported values: "a", "b"`},
		{"enum, ratcheted", "nodeName\toptional\tenum=a,b", `{"nodeName":"c"}`, `{"nodeName":"c"}`, ""},
		{"immutable", "nodeName\timmutable", `{"nodeName":"b"}`, `{"nodeName":"a"}`, "nodeName: Invalid value: null: field is immutable"},
		{"immutable, unchanged", "nodeName\timmutable", `{"nodeName":"a"}`, `{"nodeName":"a"}`, ""},
		{"immutable, create", "nodeName\timmutable", `{"nodeName":"a"}`, "", ""},
		{"immutable skips nested values", "securityContext\timmutable\nio.k8s.api.core.v1.PodSecurityContext\n\trunAsUser\trequired",
			`{"securityContext":{}}`, `{}`, "securityContext: Invalid value: null: field is immutable"},
		{"set later", "priority\tupdate=NoSet", `{"priority":1}`, `{}`, "priority: Invalid value: null: field cannot be set once created"},
		{"cleared", "priority\tupdate=NoUnset", `{}`, `{"priority":1}`, "priority: Invalid value: null: field cannot be cleared once set"},
		{"modified", "priority\tupdate=NoModify", `{"priority":2}`, `{"priority":1}`, "priority: Invalid value: null: field cannot be modified once set"},
		{"cleared, not modified", "priority\tupdate=NoModify", `{}`, `{"priority":1}`, ""},
		{"maxItems skips the items", "containers\tmaxItems=1\nio.k8s.api.core.v1.Container\n\timage\trequired", `{"containers":[{},{}]}`, "", "containers: Too many: 2: must have at most 1 item"},
		{"map list", "containers\tlistType=map\tlistMapKey=name\nio.k8s.api.core.v1.Container\n\timage\trequired",
			`{"containers":[{"name":"a"},{"name":"b","image":"i"},{"name":"a","image":"i"}]}`, "",
			`containers[2]: Duplicate value: {"name":"a","image":"i","resources":{}}|containers[0].image: Required value`},
		{"unchanged item of a map list", "containers\tlistType=map\tlistMapKey=name\nio.k8s.api.core.v1.Container\n\timage\trequired",
			`{"containers":[{"name":"b"},{"name":"a"}]}`, `{"containers":[{"name":"a"}]}`, "containers[0].image: Required value"},
		{"unchanged field of an item", "containers\tlistType=map\tlistMapKey=name\nio.k8s.api.core.v1.Container\n\timage\trequired",
			`{"containers":[{"name":"a","tty":true}]}`, `{"containers":[{"name":"a"}]}`, ""},
		{"items of an atomic list are not correlated", "containers\tlistType=atomic\nio.k8s.api.core.v1.Container\n\timage\trequired",
			`{"containers":[{"name":"a","tty":true}]}`, `{"containers":[{"name":"a"}]}`, "containers[0].image: Required value"},
		{"format of map keys", "nodeSelector\teachKey=format=k8s-short-name", `{"nodeSelector":{"A":"","b":""}}`, `{"nodeSelector":{"b":""}}`, "nodeSelector: Invalid value: \"A\": a lowercase RFC 1123 label"},
		{"option that is on", "priority\toptional\tifEnabled(HPAScaleToZero)=minimum=0\tifDisabled(HPAScaleToZero)=minimum=1", `{"priority":-1}`, "", "priority: Invalid value: -1: must be greater than or equal to 0"},
		{"option that is off", "priority\tifDisabled(WorkloadWithJob)=forbidden", `{"priority":1}`, "", "priority: Forbidden"},
		{"custom uniqueness", "containers\tlistType=map\tlistMapKey=name\tcustomUnique\trequired", `{"containers":[{"name":"a"},{"name":"a"}]}`, "", ""},
		{"opaque type", "securityContext\topaqueType\nio.k8s.api.core.v1.PodSecurityContext\n\trunAsUser\trequired", `{"securityContext":{}}`, "", ""},
		{"union, none", "nodeName\tunionMember\n\tpriority\tunionMember", `{}`, "", "Invalid value: \"\": must specify one of: `nodeName`, `priority`"},
		{"union, two", "nodeName\tunionMember\n\tpriority\tunionMember", `{"nodeName":"a","priority":1}`, "",
			"Invalid value: \"{nodeName, priority}\": must specify exactly one of: `nodeName`, `priority`"},
		{"union, the same members as before", "nodeName\tunionMember\n\tpriority\tunionMember", `{"nodeName":"a","priority":1}`, `{"nodeName":"b","priority":1}`, ""},
		{"mode", "restartPolicy\tmodeDiscriminator\n\tpriority\tifMode(\"Always\")=required", `{"restartPolicy":"Always"}`, "", "priority: Required value"},
		{"another mode", "restartPolicy\tmodeDiscriminator\n\tpriority\tifMode(\"Always\")=required", `{"restartPolicy":"Never","priority":1}`, "", "priority: Forbidden"},
		{"another mode, unchanged", "restartPolicy\tmodeDiscriminator\n\tpriority\tifMode(\"Always\")=required",
			`{"restartPolicy":"Never","priority":1,"nodeName":"a"}`, `{"restartPolicy":"Never","priority":1}`, ""},
		{"subfield", "securityContext\tsubfield(runAsUser)=optional\tsubfield(runAsUser)=minimum=5", `{"securityContext":{"runAsUser":1}}`, "", "securityContext.runAsUser: Invalid value: 1: must be greater than or equal to 5"},
		{"items that exclude each other", "containers\titem(name: \"a\")=zeroOrOneOfMember\titem(name: \"b\")=zeroOrOneOfMember",
			`{"containers":[{"name":"b"},{"name":"a"}]}`, "",
			`containers: Invalid value: "{containers[{\"name\": \"a\"}], containers[{\"name\": \"b\"}]}": must specify at most one of: ` + "`containers[{\"name\": \"a\"}]`, `containers[{\"name\": \"b\"}]`"},
	} {
		tags := pod + "\n\t" + test.tags + "\n"
		got := strings.Join(declaredErrors(t, tags, pod, test.value, test.old), "|")
		if got != test.want && !(test.want != "" && strings.Contains(got, test.want) && !strings.Contains(got, "|")) {
			t.Errorf("%s: validate %s (old %s) with %q: got errors %q, want %q", test.name, test.value, test.old, tags, got, test.want)
		}
	}
}

// TestDeclaredErrorsReplace checks which errors of kind files the declarative validation replaces: those of a beta tag with the same
// type, path and, for invalid values, origin.
func TestDeclaredErrorsReplace(t *testing.T) {
	typ, _ := Builtin("io.k8s.api.core.v1.PodSpec")
	for _, test := range []struct {
		tag, value string
		rule       func(c *checker)
		want       []string
	}{
		{"beta required", `{}`, func(c *checker) { c.required("by rule") }, []string{"nodeName: Required value"}},
		{"required", `{}`, func(c *checker) { c.required("by rule") }, []string{"nodeName: Required value: by rule", "nodeName: Required value"}},
		{"alpha required", `{}`, func(c *checker) { c.required("by rule") }, []string{"nodeName: Required value: by rule"}},
		{"beta required", `{"nodeName":"a"}`, func(c *checker) { c.required("by rule") }, []string{"nodeName: Required value: by rule"}},
		{"beta maxLength=1", `{"nodeName":"ab"}`, func(c *checker) { c.tooLong(1) }, []string{"nodeName: Too long: may not be more than 1 character"}},
		{"beta format=k8s-uuid", `{"nodeName":"ab"}`, func(c *checker) { c.invalidBy("format=k8s-uuid", "ab", "by rule") },
			[]string{`nodeName: Invalid value: "ab": must be a lowercase UUID in 8-4-4-4-12 format`}},
		{"beta format=k8s-uuid", `{"nodeName":"ab"}`, func(c *checker) { c.invalid("ab", "by rule") },
			[]string{`nodeName: Invalid value: "ab": by rule`, `nodeName: Invalid value: "ab": must be a lowercase UUID in 8-4-4-4-12 format`}},
	} {
		read, err := readTags(typ.Name + "\n\tnodeName\t" + test.tag + "\n")
		if err != nil {
			t.Fatal(err)
		}
		d := &declarations{tags: read, compiled: map[*Type]*declaredType{}}
		d.factories = d.tagFactories()
		declared, err := d.of(typ)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := document.ParseJSON([]byte(test.value))
		if err != nil {
			t.Fatal(err)
		}
		c := &checker{kind: typ}
		c.push("nodeName")
		test.rule(c)
		c.pop()
		if declared != nil {
			c.runDeclared(declared, doc, document.Value{})
		}
		var got []string
		for _, e := range c.errs {
			got = append(got, e.Error())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("tag %s with the value %s: got errors %q, want %q", test.tag, test.value, got, test.want)
		}
	}
}

func TestInvalidTags(t *testing.T) {
	for tags, want := range map[string]string{
		"nodeName\tnonsense":                           "nodeName: tag nonsense: expected a validation tag",
		"nodeName\tformat=nonsense":                    `nodeName: tag format: expected a format`,
		"nodeName\tifEnabled(Nonsense)=required":       `expected an option listed in tagchecks.go, received "Nonsense"`,
		"nodeName\tupdate=Nonsense":                    `expected NoSet, NoUnset or NoModify, received "Nonsense"`,
		"containers\tmaxItems=x":                       "tag maxItems: ",
		"nodeName\tdependentRequired(\"priority\")":    "expected the tag dependentRequired at the level alpha",
		"containers\titem(name: a)=zeroOrOneOfMember":  "expected item(FIELD:",
		"securityContext\tsubfield(nonsense)=optional": "received nonsense",
		"nodeSelector\teachKey=required":               "expected a format listed in tagchecks.go",
		"containers\teachVal=nonsense":                 `received "nonsense"`,
		"priority\tifMode(Always)=required":            "expected a mode in quotes",
		"nodeName\tsubfield(name":                      "expected ) after the argument",
	} {
		read, err := readTags("io.k8s.api.core.v1.PodSpec\n\t" + tags + "\n")
		if err == nil {
			d := &declarations{tags: read, compiled: map[*Type]*declaredType{}}
			d.factories = d.tagFactories()
			typ, _ := Builtin("io.k8s.api.core.v1.PodSpec")
			_, err = d.of(typ)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("compile tags %q: error = %v, want %q", tags, err, want)
		}
	}
}

// TestTagsHaveTypes checks that declarative.txt and types.txt.gz are of the same version.
func TestTagsHaveTypes(t *testing.T) {
	tags, err := readTags(declarativeTags)
	if err != nil {
		t.Fatal(err)
	}
	for name, fields := range tags {
		typ, ok := Builtin(name)
		if !ok {
			t.Errorf("declarative.txt: got the type %s, which types.txt.gz does not contain", name)
			continue
		}
		for field := range fields {
			if _, ok := typ.Field(field); !ok {
				t.Errorf("declarative.txt: got the field %s.%s, which types.txt.gz does not contain", name, field)
			}
		}
	}
}

// TestManyDeclaredErrors checks that errors of tags replace those of rules in linear time: each rule of the Role has one error.
func TestManyDeclaredErrors(t *testing.T) {
	typ, _ := Builtin("io.k8s.api.rbac.v1.Role")
	const n = maxErrors / 3
	text := `{"metadata":{"name":"a","namespace":"b"},"rules":[` + strings.Repeat(`{"apiGroups":[""],"resources":["pods"]},`, n-1) + `{}]}`
	doc, err := document.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	errs := typ.Validate(doc, document.Value{})
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("Validate() of %d rules took %v, want at most 5s", n, took)
	}
	verbs := 0
	for _, e := range errs {
		if strings.HasSuffix(e.Field, ".verbs") {
			verbs++
			if e.Detail != "" {
				t.Fatalf("error of a rule without verbs = %v, want that of the tag", e)
			}
		}
	}
	if verbs != n {
		t.Errorf("number of errors about verbs: got %d, want %d", verbs, n)
	}
}
