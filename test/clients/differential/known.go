package differential

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/cadastre/cadastre/document"
)

// difference is a deliberate difference of Cadastre.
type difference struct {
	// title is the title of its entry in docs/differences.md.
	title string
	// applies reports whether the response to a step is affected.
	applies func(s Step, a answer) bool
	// loosened returns the expectations that still hold.
	loosened func(expected []txtar.File) []txtar.File
	// ends is set if the object differs from this step on, so that later steps cannot be compared; nor can this step
	// if loosened returns nothing.
	ends bool
}

// answer is a response of the reference server: the status code, and the object with its managedFields, or the error
// message. before is the object before the request; absent if there was none.
type answer struct {
	code                 int
	message              string
	object, before       document.Value
	owners, ownersBefore string
	// writes is the number of writes since the object was created, or since its status was updated.
	writes int
}

func (a answer) messageContains(text ...string) bool {
	return slices.ContainsFunc(text, func(t string) bool { return strings.Contains(a.message, t) })
}

var differences = []difference{
	{
		title: "JSON patches test values, not spellings",
		applies: func(s Step, a answer) bool {
			return s.Verb == "JSONPATCH" && a.code == 422 && testsNull(s.Body) && a.messageContains("the server rejected our request due to an error in our request")
		},
		loosened: expectNothing, ends: true,
	},
	{
		title: "JSON patches that fail say why",
		applies: func(s Step, a answer) bool {
			return s.Verb == "JSONPATCH" && a.code >= 400 && a.messageContains("the server rejected our request due to an error in our request")
		},
		loosened: expectStatus,
	},
	{
		title: "A configuration that does not fit is a bad request",
		applies: func(s Step, a answer) bool {
			return s.Verb == "APPLY" && a.code == 500 && a.messageContains("failed to create typed patch object")
		},
		loosened: expectBadRequest,
	},
	{
		title: "Bad patches are the client's fault",
		applies: func(s Step, a answer) bool {
			return s.Verb == "STRATEGIC" && a.code == 500 && a.messageContains("declared merge key", "no merge key defined", "unable to find api field in struct", "expected a []interface {}",
				"doesn't match $setElementOrder list")
		},
		loosened: expectBadRequest,
	},
	{
		title: "Bad patches are the client's fault", // with another message
		applies: func(s Step, a answer) bool {
			return s.Verb == "STRATEGIC" && a.code == 400 && a.messageContains("invalid patch format of retainKeys")
		},
		loosened: expectStatus,
	},
	{
		title: "Creating with a resourceVersion is a bad request",
		applies: func(s Step, a answer) bool {
			return s.Verb == "CREATE" && a.code == 500 && a.messageContains("resourceVersion should not be set on objects to be created")
		},
		loosened: expectBadRequest,
	},
	{
		title: "A container that pruning emptied is empty, not null",
		applies: func(s Step, a answer) bool {
			return s.Verb == "APPLY" && !a.before.IsAbsent() &&
				(isCustomResource(s) && hasEmpty(s.Body, document.Map) || a.code == 422 && a.messageContains(`must be of type object: "null"`, `must be of type array: "null"`))
		},
		loosened: expectNothing, ends: true,
	},
	{
		title: "An empty list that was applied is there at once",
		applies: func(s Step, a answer) bool {
			return s.Verb == "APPLY" && !a.before.IsAbsent() && hasEmpty(s.Body, document.List)
		},
		loosened: expectNothing, ends: true,
	},
	{
		title:    "CBOR needs no gate", // the list of accepted media types differs
		applies:  func(s Step, a answer) bool { return s.Verb == "STRATEGIC" && a.code == 415 },
		loosened: expectStatus,
	},
	{
		title: "Applying again what was just created writes nothing",
		applies: func(s Step, a answer) bool {
			return a.code == 200 && a.writes == 0 && isWrittenTwice(s.Address)
		},
		loosened: ignoreChanged,
	},
	{
		title:    "Who writes again stays where it is among the owners", // visible only if the writes are in different seconds
		applies:  func(_ Step, a answer) bool { return a.code == 200 && isUnchanged(a) },
		loosened: allowNoOp,
	},
	{
		title: "Nobody loses fields because of what others sent",
		applies: func(s Step, a answer) bool {
			metadata := a.object.Get("metadata")
			return hasSeveralVersions(a.object) && (hasDuplicates(metadata.Get("finalizers")) || hasDuplicates(ownerUIDs(metadata)) || hasDuplicates(conditionsIn(a.object)) || addsDuplicateOwner(s, a.before.Get("metadata"))) ||
				a.object.Get("kind").Text() == "ServiceAccount" && hasItemWithoutName(a.object.Get("secrets"))
		},
		loosened: withoutOwners, ends: true,
	},
	{
		title:    "Reset fields hold for every owner",
		applies:  func(s Step, a answer) bool { return a.code == 200 && removesResetFields(s, a) },
		loosened: withoutOwners, ends: true,
	},
	{
		title: "Nothing is lost on the way through another version",
		applies: func(s Step, a answer) bool {
			return a.code == 200 && appliedAtOtherVersion(s, a.ownersBefore) && (changesMetrics(s, a) || hasCurrentMetrics(a.object))
		},
		loosened: expectNothing, ends: true,
	},
	{
		title: "Nothing is lost on the way through another version", // for maps that become empty
		applies: func(s Step, a answer) bool {
			return s.Verb == "APPLY" && a.code == 200 && hasSeveralVersions(a.object) && losesEmptiedContainer(a)
		},
		loosened: withoutOwners, ends: true,
	},
	{
		title: "Duplicates stay where they are",
		applies: func(s Step, a answer) bool {
			return s.Verb == "STRATEGIC" && touchesDuplicates(a.before, s.Body)
		},
		loosened: expectNothing, ends: true,
	},
	{
		title:    "A merge key that two items have is refused",
		applies:  func(s Step, _ answer) bool { return s.Verb == "STRATEGIC" && touchesDuplicates(s.Body, s.Body) },
		loosened: expectNothing, ends: true,
	},
	{
		title: "Equal values are equal everywhere",
		applies: func(s Step, a answer) bool {
			return a.code == 200 && isRespelled(s.Body, a.before.Lookup("spec", "devices"))
		},
		loosened: expectObject, ends: true,
	},
	{
		title: "Equal values are equal everywhere", // absent and emptied lists and maps
		applies: func(s Step, a answer) bool {
			return a.code == 200 && mayEmptyContainer(s) && document.Equal(a.object, a.before) && a.owners != a.ownersBefore
		},
		loosened: expectObject, ends: true,
	},
	{
		title: "Removing what is not there changes nothing",
		applies: func(s Step, a answer) bool {
			return s.Verb != "DELETE" && a.code == 200 && incrementsGenerationWithoutChange(a)
		},
		loosened: expectNothing, ends: true,
	},
	{
		title: "A scale that changes nothing leaves owners whole",
		applies: func(s Step, a answer) bool {
			return strings.HasSuffix(s.Address, "/scale") && s.Verb != "GET" && a.code == 200 && isScaledByUpdate(a.ownersBefore) &&
				document.Equal(a.object.Lookup("spec", "replicas"), a.before.Lookup("spec", "replicas"))
		},
		loosened: expectNothing, ends: true,
	},
	{
		title:    "Volumes and claims are not protected",
		applies:  func(_ Step, a answer) bool { return isProtected(a.object) },
		loosened: withoutProtection,
	},
	{
		title: "Volumes and claims are not protected", // removing or restoring the finalizers is a change
		applies: func(_ Step, a answer) bool {
			return isProtected(a.object) && !document.Equal(a.object.Lookup("metadata", "finalizers"), a.before.Lookup("metadata", "finalizers"))
		},
		loosened: ignoreChanged,
	},
	{
		title:    "Volumes and claims are not protected", // the finalizers have no field manager
		applies:  func(_ Step, a answer) bool { return isProtected(a.object) && strings.Contains(a.owners, "-protection") },
		loosened: withoutOwners,
	},
	{
		title: "A status makes no object",
		applies: func(s Step, a answer) bool {
			return isCreatedByStatus(s.Address) && (s.Verb == "APPLY" || s.Verb == "UPDATE") && a.before.IsAbsent() &&
				(a.code == 201 || a.code == 422 || a.code == 500 || a.code == 409 && a.messageContains("no existing object was found", "UID in precondition"))
		},
		loosened: expectNotFound, ends: true,
	},
	{
		title:    "Replacing what is not there sets it",
		applies:  func(s Step, a answer) bool { return s.Verb == "STRATEGIC" && replacesNothing(a.before, s.Body) },
		loosened: expectNothing, ends: true,
	},
	{
		title: "A patch leaves nothing of itself behind",
		applies: func(s Step, a answer) bool {
			return s.Verb == "STRATEGIC" && (replacesWithResidue(s) || leavesResidue(a.before, s.Body))
		},
		loosened: expectNothing, ends: true,
	},
	{
		title:    "Values in errors are shown as clients write them",
		applies:  func(_ Step, a answer) bool { return a.code == 422 },
		loosened: maskValues,
	},
}

// additionalWarning is the title of the difference that is visible only in Cadastre's response, as a warning.
const additionalWarning = "Appliers are told of what excludes what they applied"

// onlyAdditionalWarnings reports whether all complaints are about such additional warnings.
func onlyAdditionalWarnings(complaints []string) bool {
	for _, complaint := range complaints {
		lists := warningsIn.FindStringSubmatch(complaint)
		if lists == nil {
			return false
		}
		received := slices.DeleteFunc(quotedIn(lists[2]), siblingIn.MatchString)
		if !slices.Equal(quotedIn(lists[1]), received) {
			return false
		}
	}
	return true
}

// quotedIn returns the strings of a list that was formatted with %q.
func quotedIn(list string) []string {
	var quoted []string
	for {
		_, rest, there := strings.Cut(list, `"`)
		text, err := strconv.QuotedPrefix(`"` + rest)
		if !there || err != nil {
			return quoted
		}
		quoted = append(quoted, text)
		list = rest[len(text)-1:]
	}
}

// siblingIn matches the warning about a field that requires another value than the applied one.
var siblingIn = regexp.MustCompile(`^"\.\S+: \S+ was applied, but (\S+ is set|requires )`)

var warningsIn = regexp.MustCompile(`^warnings: expected (\[.*\]), received (\[.*\])$`)

// withoutKnown removes deliberate differences from the expectations. It returns the titles of those in the history,
// and the number of steps that can be compared.
func (r recorded) withoutKnown(h History) (titles []string, compared int) {
	compared = len(h.Steps)
	var state answer
	r.each(func(step, code int, expected []txtar.File) []txtar.File {
		a := answerIn(code, expected)
		a.before, a.ownersBefore, a.writes = state.object, state.owners, state.writes
		state = a.stateAfter(h.Steps[step])
		a.before = viewAt(h.Steps[step].Address, a.before)
		for _, d := range differences {
			if step >= compared || len(expected) == 0 || !d.applies(h.Steps[step], a) {
				continue
			}
			strict := txtar.Format(&txtar.Archive{Files: expected})
			expected = d.loosened(expected)
			if d.ends || !bytes.Equal(strict, txtar.Format(&txtar.Archive{Files: expected})) {
				titles = append(titles, d.title)
			}
			switch {
			case len(expected) == 0:
				compared = step
			case d.ends:
				compared = step + 1
			}
		}
		return masked(expected)
	})
	r.cut(compared - 1)
	slices.Sort(titles)
	return slices.Compact(titles), compared
}

// stateAfter returns the object after a step with this response, its managedFields and the number of writes.
func (a answer) stateAfter(s Step) answer {
	switch {
	case s.DryRun, a.object.IsAbsent() && s.Verb != "DELETE":
		return answer{object: a.before, owners: a.ownersBefore, writes: a.writes}
	case s.Verb == "DELETE" && a.code == 200 && a.before.Lookup("metadata", "finalizers").IsAbsent(), isFinallyDeleted(a.object):
		return answer{}
	case s.Verb == "DELETE":
		return answer{object: a.before, owners: a.ownersBefore, writes: a.writes + 1}
	case a.code == 200 && s.Verb == "UPDATE" && strings.HasSuffix(s.Address, "/status"):
		return answer{object: a.object, owners: a.owners}
	case a.code == 200 && s.Verb != "GET":
		return answer{object: a.object, owners: a.owners, writes: a.writes + 1}
	}
	return answer{object: a.object, owners: a.owners, writes: a.writes}
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
