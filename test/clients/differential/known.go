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

// difference is a deliberate difference between Cadastre and kube-apiserver, for which expectations are loosened.
type difference struct {
	// title is the title of its entry in docs/differences.md or docs/not-implemented.md.
	title string
	// applies reports whether the difference affects a, the response to the step s.
	applies func(s Step, a serverResponse) bool
	// loosen returns the expectations that hold in spite of the difference.
	loosen func(expected []txtar.File) []txtar.File
	// ends reports whether the object differs after this step, so later steps cannot be compared. If loosen returns
	// nothing, this step cannot be compared either.
	ends bool
}

// serverResponse is a response of kube-apiserver: the status code, and either the object with its managedFields or the
// error message. before is the object before the request; it is absent if the object did not exist.
type serverResponse struct {
	code                 int
	message              string
	object, before       document.Value
	owners, ownersBefore string
	// writes is the number of writes since the object was created or since its status was last updated, whichever is
	// later.
	writes int
}

func (a serverResponse) messageContains(text ...string) bool {
	return slices.ContainsFunc(text, func(t string) bool { return strings.Contains(a.message, t) })
}

var differences = []difference{
	{
		title: "JSON patch test operations compare numbers and nulls by value",
		applies: func(s Step, a serverResponse) bool {
			return s.Verb == "JSONPATCH" && a.code == 422 && testsNull(s.Body) && a.messageContains("the server rejected our request due to an error in our request")
		},
		loosen: expectNothing, ends: true,
	},
	{
		title: "Errors of JSON patches name the operation, path and cause",
		applies: func(s Step, a serverResponse) bool {
			return s.Verb == "JSONPATCH" && a.code >= 400 && a.messageContains("the server rejected our request due to an error in our request")
		},
		loosen: expectStatus,
	},
	{
		title: "Applying an unknown field, a wrong type or a duplicate item returns 400, not 500",
		applies: func(s Step, a serverResponse) bool {
			return s.Verb == "APPLY" && a.code == 500 && a.messageContains("failed to create typed patch object")
		},
		loosen: expectBadRequest,
	},
	{
		title: "Invalid strategic merge patches return 400, 413 or 422, not 500",
		applies: func(s Step, a serverResponse) bool {
			return s.Verb == "STRATEGIC" && a.code == 500 && a.messageContains("declared merge key", "no merge key defined", "unable to find api field in struct", "expected a []interface {}",
				"doesn't match $setElementOrder list")
		},
		loosen: expectBadRequest,
	},
	{
		title: "Invalid strategic merge patches return 400, 413 or 422, not 500", // the messages differ too
		applies: func(s Step, a serverResponse) bool {
			return s.Verb == "STRATEGIC" && a.code == 400 && a.messageContains("invalid patch format of retainKeys")
		},
		loosen: expectStatus,
	},
	{
		title: "Creating an object with a resourceVersion returns 400, not 500",
		applies: func(s Step, a serverResponse) bool {
			return s.Verb == "CREATE" && a.code == 500 && a.messageContains("resourceVersion should not be set on objects to be created")
		},
		loosen: expectBadRequest,
	},
	{
		title: "Pruning the last entry of a co-owned map or list leaves it empty, not null",
		applies: func(s Step, a serverResponse) bool {
			return s.Verb == "APPLY" && !a.before.IsAbsent() &&
				(isCustomResource(s) && hasEmpty(s.Body, document.Map) || a.code == 422 && a.messageContains(`must be of type object: "null"`, `must be of type array: "null"`))
		},
		loosen: expectNothing, ends: true,
	},
	{
		title: "Replacing owned list items by an empty list takes effect at the first apply",
		applies: func(s Step, a serverResponse) bool {
			return s.Verb == "APPLY" && !a.before.IsAbsent() && hasEmpty(s.Body, document.List)
		},
		loosen: expectNothing, ends: true,
	},
	{
		title:   "CBOR is served without a feature gate", // the lists of accepted media types in error messages differ
		applies: func(s Step, a serverResponse) bool { return s.Verb == "STRATEGIC" && a.code == 415 },
		loosen:  expectStatus,
	},
	{
		title: "The first apply after creation is a no-op for Jobs, claims and defaulted status",
		applies: func(s Step, a serverResponse) bool {
			return a.code == 200 && a.writes == 0 && isWrittenTwice(s.Address)
		},
		loosen: ignoreChanged,
	},
	{
		title:   "Applying the same configuration again does not reorder managedFields", // the order differs only if the writes are in different seconds
		applies: func(_ Step, a serverResponse) bool { return a.code == 200 && isUnchanged(a) },
		loosen:  allowNoOp,
	},
	{
		title: "Invalid data of one client does not stop the tracking of ownership",
		applies: func(s Step, a serverResponse) bool {
			metadata := a.object.Get("metadata")
			return hasSeveralVersions(a.object) && (hasDuplicates(metadata.Get("finalizers")) || hasDuplicates(ownerReferenceUIDs(metadata)) || hasDuplicates(conditionsIn(a.object)) || addsDuplicateOwnerReference(s, a.before.Get("metadata"))) ||
				a.object.Get("kind").Text() == "ServiceAccount" && hasItemWithoutName(a.object.Get("secrets"))
		},
		loosen: withoutOwners, ends: true,
	},
	{
		title:   "PUT without a status keeps the owners of the status at other versions",
		applies: func(s Step, a serverResponse) bool { return a.code == 200 && removesResetFields(s, a) },
		loosen:  withoutOwners, ends: true,
	},
	{
		title: "Applying at another API version keeps all fields, their order and their owners",
		applies: func(s Step, a serverResponse) bool {
			return a.code == 200 && isAppliedAtOtherVersion(s, a.ownersBefore) && (changesMetrics(s, a) || hasCurrentMetrics(a.object))
		},
		loosen: expectNothing, ends: true,
	},
	{
		title: "Applying at another API version keeps all fields, their order and their owners", // applies to maps that become empty
		applies: func(s Step, a serverResponse) bool {
			return s.Verb == "APPLY" && a.code == 200 && hasSeveralVersions(a.object) && losesEmptiedContainer(a)
		},
		loosen: withoutOwners, ends: true,
	},
	{
		title: "Strategic merge patches keep duplicate scalars of a list",
		applies: func(s Step, a serverResponse) bool {
			return s.Verb == "STRATEGIC" && touchesDuplicates(a.before, s.Body)
		},
		loosen: expectNothing, ends: true,
	},
	{
		title:   "Strategic merge patches of items with a duplicate merge key are rejected",
		applies: func(s Step, _ serverResponse) bool { return s.Verb == "STRATEGIC" && touchesDuplicates(s.Body, s.Body) },
		loosen:  expectNothing, ends: true,
	},
	{
		title: "Equal values inside atomic lists are no change",
		applies: func(s Step, a serverResponse) bool {
			return a.code == 200 && isRespelled(s.Body, a.before.Lookup("spec", "devices"))
		},
		loosen: expectObject, ends: true,
	},
	{
		title: "Equal values inside atomic lists are no change", // applies to absent and to emptied lists and maps
		applies: func(s Step, a serverResponse) bool {
			return a.code == 200 && mayEmptyContainer(s) && document.Equal(a.object, a.before) && a.owners != a.ownersBefore
		},
		loosen: expectObject, ends: true,
	},
	{
		title: "Patches that remove absent fields are no-ops",
		applies: func(s Step, a serverResponse) bool {
			return s.Verb != "DELETE" && a.code == 200 && incrementsGenerationWithoutChange(a)
		},
		loosen: expectNothing, ends: true,
	},
	{
		title: "Writing back an unchanged scale is a no-op",
		applies: func(s Step, a serverResponse) bool {
			return strings.HasSuffix(s.Address, "/scale") && s.Verb != "GET" && a.code == 200 && isScaledByUpdate(a.ownersBefore) &&
				document.Equal(replicasIn(a.object), replicasIn(a.before))
		},
		loosen: expectNothing, ends: true,
	},
	{
		title:   "Absent fields of a removed list item are released",
		applies: func(_ Step, a serverResponse) bool { return a.code == 200 && keepsFieldsOfRemovedItem(a) },
		loosen:  withoutOwners, ends: true,
	},
	{
		title:   "StorageObjectInUseProtection",
		applies: func(_ Step, a serverResponse) bool { return isProtected(a.object) },
		loosen:  withoutProtection,
	},
	{
		title: "StorageObjectInUseProtection", // a request that removes or restores the finalizers is a change
		applies: func(_ Step, a serverResponse) bool {
			return isProtected(a.object) && !document.Equal(a.object.Lookup("metadata", "finalizers"), a.before.Lookup("metadata", "finalizers"))
		},
		loosen: ignoreChanged,
	},
	{
		title: "StorageObjectInUseProtection", // no field manager owns the finalizers
		applies: func(_ Step, a serverResponse) bool {
			return isProtected(a.object) && strings.Contains(a.owners, "-protection")
		},
		loosen: withoutOwners,
	},
	{
		title: "Writing the status of a missing Service or ValidatingAdmissionPolicy returns 404",
		applies: func(s Step, a serverResponse) bool {
			return isCreatedByStatus(s.Address) && (s.Verb == "APPLY" || s.Verb == "UPDATE") && a.before.IsAbsent() &&
				(a.code == 201 || a.code == 422 || a.code == 500 || a.code == 409 && a.messageContains("no existing object was found", "UID in precondition"))
		},
		loosen: expectNotFound, ends: true,
	},
	{
		title:   "$patch: replace sets a map that the object does not have",
		applies: func(s Step, a serverResponse) bool { return s.Verb == "STRATEGIC" && replacesNothing(a.before, s.Body) },
		loosen:  expectNothing, ends: true,
	},
	{
		title: "Directives and nulls of strategic merge patches are never stored",
		applies: func(s Step, a serverResponse) bool {
			return s.Verb == "STRATEGIC" && (replacesWithResidue(s) || leavesResidue(a.before, s.Body))
		},
		loosen: expectNothing, ends: true,
	},
	{
		title:   "Values in validation errors are JSON with the API's field names",
		applies: func(_ Step, a serverResponse) bool { return a.code == 422 },
		loosen:  maskValues,
	},
}

// additionalWarning is the title of the only difference that consists of a warning of Cadastre which kube-apiserver
// does not return.
const additionalWarning = "Applying a second member of a one-of returns a warning"

// onlyAdditionalWarnings reports whether all complaints are about warnings of the difference additionalWarning.
func onlyAdditionalWarnings(complaints []string) bool {
	for _, complaint := range complaints {
		lists := warningsPattern.FindStringSubmatch(complaint)
		if lists == nil {
			return false
		}
		received := slices.DeleteFunc(quotedIn(lists[2]), siblingPattern.MatchString)
		if !slices.Equal(quotedIn(lists[1]), received) {
			return false
		}
	}
	return true
}

// quotedIn returns the strings of list, a []string that was formatted with %q. The strings remain quoted.
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

// siblingPattern matches the warning about an applied value that conflicts with another field of the same one-of.
var siblingPattern = regexp.MustCompile(`^"\.\S+: \S+ was applied, but (\S+ is set|requires )`)

var warningsPattern = regexp.MustCompile(`^warnings: expected (\[.*\]), received (\[.*\])$`)

// withoutKnown loosens the expectations in r for the deliberate differences in h, and removes the steps that cannot be
// compared because of them. It returns the titles of these differences, and the number of remaining steps.
func (r recorded) withoutKnown(h History) (titles []string, compared int) {
	compared = len(h.Steps)
	var state serverResponse
	r.mapSteps(func(step, code int, expected []txtar.File) []txtar.File {
		a := parseResponse(code, expected)
		a.before, a.ownersBefore, a.writes = state.object, state.owners, state.writes
		state = a.stateAfter(h.Steps[step])
		a.before = viewAt(h.Steps[step].Address, a.before)
		for _, d := range differences {
			if step >= compared || len(expected) == 0 || !d.applies(h.Steps[step], a) {
				continue
			}
			strict := txtar.Format(&txtar.Archive{Files: expected})
			expected = d.loosen(expected)
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

// stateAfter returns the state after the step s with the response a: the object, its managedFields and the number of
// writes.
func (a serverResponse) stateAfter(s Step) serverResponse {
	switch {
	case s.DryRun, a.object.IsAbsent() && s.Verb != "DELETE":
		return serverResponse{object: a.before, owners: a.ownersBefore, writes: a.writes}
	case s.Verb == "DELETE" && a.code == 200 && a.before.Lookup("metadata", "finalizers").IsAbsent(), isFinallyDeleted(a.object):
		return serverResponse{}
	case s.Verb == "DELETE":
		return serverResponse{object: a.before, owners: a.ownersBefore, writes: a.writes + 1}
	case a.code == 200 && s.Verb == "UPDATE" && strings.HasSuffix(s.Address, "/status"):
		return serverResponse{object: a.object, owners: a.owners}
	case a.code == 200 && s.Verb != "GET":
		return serverResponse{object: a.object, owners: a.owners, writes: a.writes + 1}
	}
	return serverResponse{object: a.object, owners: a.owners, writes: a.writes}
}

func parseResponse(code int, expected []txtar.File) serverResponse {
	a := serverResponse{code: code}
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
