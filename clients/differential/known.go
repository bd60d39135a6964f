package differential

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/cadastre/cadastre/applytest"
	"github.com/cadastre/cadastre/document"
)

// A difference is one that Cadastre has on purpose.
type difference struct {
	// title is that of its entry in docs/differences.md.
	title string
	// applies says whether the answer to a step is one that differs.
	applies func(s Step, a answer) bool
	// loosened is what is still expected of it.
	loosened func(expected []txtar.File) []txtar.File
	// ends says that the objects are different ones from here on, and nothing more can be compared; nor can
	// this step if nothing is expected of it.
	ends bool
}

// An answer is what the first server said: its status code, and the object with its owners, or the message of an error;
// and what it had said of the object before, absent if there is none.
type answer struct {
	code                 int
	message              string
	object, before       document.Value
	owners, ownersBefore string
}

func (a answer) says(text ...string) bool {
	return slices.ContainsFunc(text, func(t string) bool { return strings.Contains(a.message, t) })
}

var differences = []difference{
	{
		title: "JSON patches that fail say why",
		applies: func(s Step, a answer) bool {
			return s.Verb == "JSONPATCH" && a.code >= 400 && a.says("the server rejected our request due to an error in our request")
		},
		loosened: onlyAnswer,
	},
	{
		title: "A configuration that does not fit is a bad request",
		applies: func(s Step, a answer) bool {
			return s.Verb == "APPLY" && a.code == 500 && a.says("failed to create typed patch object")
		},
		loosened: badRequest,
	},
	{
		title: "Bad patches are the client's fault",
		applies: func(s Step, a answer) bool {
			return s.Verb == "STRATEGIC" && a.code == 500 && a.says("declared merge key", "no merge key defined", "unable to find api field in struct")
		},
		loosened: badRequest,
	},
	{
		title: "Applying again what was just created writes nothing",
		applies: func(s Step, a answer) bool {
			return a.code == 200 && isWrittenTwice(s.Address)
		},
		loosened: changedOrNot,
	},
	{
		title: "Nobody loses fields because of what others sent",
		applies: func(s Step, a answer) bool {
			metadata := a.object.Get("metadata")
			return strings.HasPrefix(a.object.Get("apiVersion").Text(), "autoscaling/") && (hasTwins(metadata.Get("finalizers")) || hasTwins(uidsIn(metadata)) || hasTwins(conditionsIn(a.object)) || addsTwin(s, a.before.Get("metadata"))) ||
				a.object.Get("kind").Text() == "ServiceAccount" && hasNameless(a.object.Get("secrets"))
		},
		loosened: withoutOwners, ends: true,
	},
	{
		title: "Duplicates stay where they are",
		applies: func(s Step, a answer) bool {
			return s.Verb == "STRATEGIC" && (hasTwins(a.before.Lookup("metadata", "finalizers")) || hasTwins(portsIn(a.before)))
		},
		loosened: anything, ends: true,
	},
	{
		title: "Removing what is not there changes nothing",
		applies: func(s Step, a answer) bool {
			return strings.HasPrefix(s.Address, "networking.k8s.io/v1 networkpolicies/") && a.code == 200 && hasNullIn(s.Body.Lookup("spec", "podSelector"))
		},
		loosened: anything, ends: true,
	},
	{
		title: "A scale that changes nothing leaves owners whole",
		applies: func(s Step, a answer) bool {
			return strings.HasSuffix(s.Address, "/scale") && s.Verb != "GET" && a.code == 200 && isScaledByUpdate(a.ownersBefore) &&
				document.Equal(a.object.Lookup("spec", "replicas"), a.before.Lookup("spec", "replicas"))
		},
		loosened: anything, ends: true,
	},
	{
		title:    "Volumes and claims are not protected",
		applies:  func(_ Step, a answer) bool { return strings.HasPrefix(a.object.Get("kind").Text(), "PersistentVolume") },
		loosened: withoutProtection,
	},
	{
		title: "A status makes no object",
		applies: func(s Step, a answer) bool {
			return isMadeByStatus(s.Address) && (s.Verb == "APPLY" || s.Verb == "UPDATE") && a.before.IsAbsent() &&
				(a.code == 201 || a.code == 422 || a.code == 500)
		},
		loosened: notFound, ends: true,
	},
	{
		title: "A patch leaves nothing of itself behind",
		applies: func(s Step, a answer) bool {
			return s.Verb == "STRATEGIC" && (hasReplacedNull(s) || leavesRest(a.before, s.Body))
		},
		loosened: anything, ends: true,
	},
	{
		title:    "Values in errors are shown as clients write them",
		applies:  func(_ Step, a answer) bool { return a.code == 422 },
		loosened: anyValues,
	},
}

// isWrittenTwice is for kinds that Kubernetes writes once more, as they are, when somebody writes them for the first time
// after they were made.
func isWrittenTwice(address string) bool {
	return strings.HasPrefix(address, "batch/v1 jobs/") || strings.HasPrefix(address, "persistentvolumeclaims/")
}

func hasTwins(list document.Value) bool {
	items := itemsOf(list)
	for i, item := range items {
		if slices.ContainsFunc(items[:i], func(other document.Value) bool { return document.Equal(item, other) }) {
			return true
		}
	}
	return false
}

// isMadeByStatus is for statuses of which Kubernetes makes an object.
func isMadeByStatus(address string) bool {
	return address == "services/"+objectName+"/status" || strings.HasSuffix(address, "/validatingadmissionpolicies/$NAMESPACE-"+objectName+"/status")
}

// hasNullIn reports whether a map in a selector has a null.
func hasNullIn(selector document.Value) bool {
	return slices.ContainsFunc(places(selector), func(p place) bool { return len(p) > 1 && at(selector, p).IsNull() })
}

// isScaledByUpdate reports whether somebody owns the replicas by an update, as scripts write owners: an entry starts at
// the beginning of a line, and goes on in lines that are indented.
func isScaledByUpdate(owners string) bool {
	isUpdate := false
	for line := range strings.Lines(owners) {
		if !strings.HasPrefix(line, " ") {
			entry, _, _ := strings.Cut(line, ":")
			isUpdate = strings.Contains(entry, " Update ")
		}
		if isUpdate && slices.Contains(strings.Fields(line), ".spec.replicas") {
			return true
		}
	}
	return false
}

func uidsIn(metadata document.Value) document.Value {
	var uids []document.Value
	for _, reference := range metadata.Get("ownerReferences").Items() {
		uids = append(uids, reference.Get("uid"))
	}
	return document.NewList(uids...)
}

// conditionsIn returns the types of an autoscaler's conditions, which autoscaling/v1 has in an annotation.
func conditionsIn(autoscaler document.Value) document.Value {
	conditions := autoscaler.Lookup("status", "conditions")
	annotation := autoscaler.Lookup("metadata", "annotations", "autoscaling.alpha.kubernetes.io/conditions")
	if inAnnotation, err := document.ParseJSON(annotation.Text()); err == nil && conditions.IsAbsent() {
		conditions = inAnnotation
	}
	var types []document.Value
	for _, condition := range conditions.Items() {
		types = append(types, condition.Get("type"))
	}
	return document.NewList(types...)
}

// portsIn returns the numbers of a service's ports, which are what strategic patches tell them apart by.
func portsIn(service document.Value) document.Value {
	var numbers []document.Value
	for _, port := range service.Lookup("spec", "ports").Items() {
		numbers = append(numbers, port.Get("port"))
	}
	return document.NewList(numbers...)
}

// addsTwin is for JSON patches that add a reference to an owner that there is already. If both are equal, one is
// dropped later.
func addsTwin(s Step, metadata document.Value) bool {
	if s.Verb != "JSONPATCH" {
		return false
	}
	uids := itemsOf(uidsIn(metadata))
	for _, operation := range itemsOf(s.Body) {
		value := operation.Get("value")
		for _, reference := range append(itemsOf(value), value) {
			uid := reference.Get("uid")
			if !uid.IsAbsent() && slices.ContainsFunc(uids, func(other document.Value) bool { return document.Equal(uid, other) }) {
				return true
			}
			if !uid.IsAbsent() {
				uids = append(uids, uid)
			}
		}
	}
	return false
}

func hasNameless(list document.Value) bool {
	return slices.ContainsFunc(itemsOf(list), func(item document.Value) bool { return item.Get("name").IsAbsent() })
}

func anything([]txtar.File) []txtar.File { return nil }

func withoutOwners(expected []txtar.File) []txtar.File {
	return slices.DeleteFunc(expected, func(f txtar.File) bool { return f.Name == "owners" })
}

// withoutProtection takes the finalizers of Kubernetes out of an object: there are no others in it. To lose them, or to
// get them back, is a change.
func withoutProtection(expected []txtar.File) []txtar.File {
	expected = changedOrNot(expected)
	for i, file := range expected {
		if object, err := document.ParseYAML(file.Data); err == nil && file.Name == "object" {
			metadata := object.Get("metadata").Without("finalizers")
			expected[i].Data = []byte(object.With("metadata", metadata).YAML() + "\n")
		}
	}
	return expected
}

func onlyAnswer(expected []txtar.File) []txtar.File { return expected[:1] }

// changedOrNot leaves the status alone.
func changedOrNot(expected []txtar.File) []txtar.File {
	code, _, _ := strings.Cut(string(expected[0].Data), " ")
	expected[0].Data = []byte(strings.TrimSpace(code) + "\n")
	return expected
}

// anyValues lets maps that are shown in an error, and how they differ, be anything.
func anyValues(expected []txtar.File) []txtar.File {
	for i, file := range expected {
		if status, err := document.ParseYAML(file.Data); err == nil && file.Name == "error" {
			expected[i].Data = []byte(anyValuesIn(status).YAML() + "\n")
		}
	}
	return expected
}

func anyValuesIn(v document.Value) document.Value {
	for _, p := range places(v) {
		if text := at(v, p); text.Kind() == document.String {
			masked := differenceIn.ReplaceAllString(mapIn.ReplaceAllString(text.Text(), "$1 value: <any>$2"), "<any>")
			v = replaced(v, p, document.NewString(masked))
		}
	}
	return v
}

var (
	mapIn        = regexp.MustCompile(`(Invalid|Unsupported|Duplicate) value: (?:null|[{\[].*[}\]]|"(?:map\[.*\]|\{.*\})")(: |, |\]|$)`)
	differenceIn = regexp.MustCompile(`(?s)\n@@.*`)
)

// isKnown is for a deliberate difference that only our answer shows: "A merge key that two items have is refused". Of a
// Secret the answer tells nothing but the path; it ends with a merge key for no other reason.
func isKnown(failure *applytest.Failure) bool {
	return strings.Contains(failure.Answer, "expected one item with this merge key") || secretTwins.MatchString(failure.Answer)
}

var secretTwins = regexp.MustCompile(`"\.metadata\.ownerReferences\[uid=\\"[^"]*\\"\]: the patch does not fit the Secret, `)

// withoutKnown takes the deliberate differences out of what is expected.
func (r recorded) withoutKnown(h History) {
	end := len(h.Steps)
	var before document.Value
	var owners string
	r.each(func(step, code int, expected []txtar.File) []txtar.File {
		a := answerIn(code, expected)
		a.before, a.ownersBefore = before, owners
		switch s := h.Steps[step]; {
		case s.DryRun:
		case s.Verb == "DELETE" && code == 200 && before.Lookup("metadata", "finalizers").IsAbsent(), isGone(a.object):
			before, owners = document.Value{}, ""
		case !a.object.IsAbsent():
			before, owners = a.object, a.owners
		}
		for _, d := range differences {
			if len(expected) > 0 && d.applies(h.Steps[step], a) {
				expected = d.loosened(expected)
				switch {
				case len(expected) == 0:
					end = min(end, step-1)
				case d.ends:
					end = min(end, step)
				}
			}
		}
		return masked(expected)
	})
	r.cut(end)
}

// isGone is for the last that is seen of an object that was deleted, once it has no finalizers.
func isGone(object document.Value) bool {
	metadata := object.Get("metadata")
	return !metadata.Get("deletionTimestamp").IsAbsent() && metadata.Get("finalizers").IsAbsent() &&
		document.Equal(metadata.Get("deletionGracePeriodSeconds"), document.NewInt(0))
}

func answerIn(code int, expected []txtar.File) answer {
	a := answer{code: code}
	for _, file := range expected {
		if file.Name == "owners" {
			a.owners = string(file.Data)
			continue
		}
		switch parsed, err := document.ParseYAML(file.Data); {
		case err == nil && file.Name == "error":
			a.message = parsed.Get("message").Text()
		case err == nil && file.Name == "object":
			a.object = parsed
		}
	}
	return a
}

func badRequest(expected []txtar.File) []txtar.File { return onlyCode(expected, 400) }

func notFound(expected []txtar.File) []txtar.File { return onlyCode(expected, 404) }

func onlyCode(expected []txtar.File, code int) []txtar.File {
	expected[0].Data = fmt.Appendln(nil, code)
	return expected[:1]
}
