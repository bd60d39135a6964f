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
	// writes is how often the object was written since it was made, or since its status was put.
	writes int
}

func (a answer) says(text ...string) bool {
	return slices.ContainsFunc(text, func(t string) bool { return strings.Contains(a.message, t) })
}

var differences = []difference{
	{
		title: "JSON patches test values, not spellings",
		applies: func(s Step, a answer) bool {
			return s.Verb == "JSONPATCH" && a.code == 422 && testsNull(s.Body) && a.says("the server rejected our request due to an error in our request")
		},
		loosened: anything, ends: true,
	},
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
			return s.Verb == "STRATEGIC" && a.code == 500 && a.says("declared merge key", "no merge key defined", "unable to find api field in struct", "expected a []interface {}",
				"doesn't match $setElementOrder list")
		},
		loosened: badRequest,
	},
	{
		title: "Bad patches are the client's fault", // and are told in our words
		applies: func(s Step, a answer) bool {
			return s.Verb == "STRATEGIC" && a.code == 400 && a.says("invalid patch format of retainKeys")
		},
		loosened: onlyAnswer,
	},
	{
		title: "Creating with a resourceVersion is a bad request",
		applies: func(s Step, a answer) bool {
			return s.Verb == "CREATE" && a.code == 500 && a.says("resourceVersion should not be set on objects to be created")
		},
		loosened: badRequest,
	},
	{
		title: "A container that pruning emptied is empty, not null",
		applies: func(s Step, a answer) bool {
			return s.Verb == "APPLY" && !a.before.IsAbsent() &&
				(isDefined(s) && hasEmpty(s.Body, document.Map) || a.code == 422 && a.says(`must be of type object: "null"`, `must be of type array: "null"`))
		},
		loosened: anything, ends: true,
	},
	{
		title: "An empty list that was applied is there at once",
		applies: func(s Step, a answer) bool {
			return s.Verb == "APPLY" && !a.before.IsAbsent() && hasEmpty(s.Body, document.List)
		},
		loosened: anything, ends: true,
	},
	{
		title:    "CBOR needs no gate", // and is named with the other media that are accepted
		applies:  func(s Step, a answer) bool { return s.Verb == "STRATEGIC" && a.code == 415 },
		loosened: onlyAnswer,
	},
	{
		title: "Applying again what was just created writes nothing",
		applies: func(s Step, a answer) bool {
			return a.code == 200 && a.writes == 0 && isWrittenTwice(s.Address)
		},
		loosened: changedOrNot,
	},
	{
		title:    "Who writes again stays where it is among the owners", // which is seen if a second passes in between
		applies:  func(_ Step, a answer) bool { return a.code == 200 && isAsBefore(a) },
		loosened: writtenOrNot,
	},
	{
		title: "Nobody loses fields because of what others sent",
		applies: func(s Step, a answer) bool {
			metadata := a.object.Get("metadata")
			return hasSeveralVersions(a.object) && (hasTwins(metadata.Get("finalizers")) || hasTwins(uidsIn(metadata)) || hasTwins(conditionsIn(a.object)) || addsTwin(s, a.before.Get("metadata"))) ||
				a.object.Get("kind").Text() == "ServiceAccount" && hasNameless(a.object.Get("secrets"))
		},
		loosened: withoutOwners, ends: true,
	},
	{
		title:    "Reset fields hold for every owner",
		applies:  func(s Step, a answer) bool { return a.code == 200 && takesReset(s, a) },
		loosened: withoutOwners, ends: true,
	},
	{
		title: "Nothing is lost on the way through another version",
		applies: func(s Step, a answer) bool {
			return a.code == 200 && hasMoved(s, a.ownersBefore) && (changesMetrics(s, a) || isMeasured(a.object))
		},
		loosened: anything, ends: true,
	},
	{
		title: "Nothing is lost on the way through another version", // and nobody loses a map that is emptied
		applies: func(s Step, a answer) bool {
			return s.Verb == "APPLY" && a.code == 200 && hasSeveralVersions(a.object) && losesEmptied(a)
		},
		loosened: withoutOwners, ends: true,
	},
	{
		title: "Duplicates stay where they are",
		applies: func(s Step, a answer) bool {
			return s.Verb == "STRATEGIC" && touchesTwins(a.before, s.Body)
		},
		loosened: anything, ends: true,
	},
	{
		title:    "A merge key that two items have is refused",
		applies:  func(s Step, _ answer) bool { return s.Verb == "STRATEGIC" && touchesTwins(s.Body, s.Body) },
		loosened: anything, ends: true,
	},
	{
		title: "Equal values are equal everywhere",
		applies: func(s Step, a answer) bool {
			return a.code == 200 && isRespelled(s.Body, a.before.Lookup("spec", "devices"))
		},
		loosened: onlyObject, ends: true,
	},
	{
		title: "Equal values are equal everywhere", // nothing and a list or map that a patch has emptied, too
		applies: func(s Step, a answer) bool {
			return a.code == 200 && empties(s) && document.Equal(a.object, a.before) && a.owners != a.ownersBefore
		},
		loosened: onlyObject, ends: true,
	},
	{
		title: "Removing what is not there changes nothing",
		applies: func(s Step, a answer) bool {
			return s.Verb != "DELETE" && a.code == 200 && countsNothing(a)
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
		applies:  func(_ Step, a answer) bool { return isProtected(a.object) },
		loosened: withoutProtection,
	},
	{
		title: "Volumes and claims are not protected", // to lose the finalizers, or to get them back, is a change
		applies: func(_ Step, a answer) bool {
			return isProtected(a.object) && !document.Equal(a.object.Lookup("metadata", "finalizers"), a.before.Lookup("metadata", "finalizers"))
		},
		loosened: changedOrNot,
	},
	{
		title:    "Volumes and claims are not protected", // so that nobody owns that
		applies:  func(_ Step, a answer) bool { return isProtected(a.object) && strings.Contains(a.owners, "-protection") },
		loosened: withoutOwners,
	},
	{
		title: "A status makes no object",
		applies: func(s Step, a answer) bool {
			return isMadeByStatus(s.Address) && (s.Verb == "APPLY" || s.Verb == "UPDATE") && a.before.IsAbsent() &&
				(a.code == 201 || a.code == 422 || a.code == 500 || a.code == 409 && a.says("no existing object was found", "UID in precondition"))
		},
		loosened: notFound, ends: true,
	},
	{
		title:    "Replacing what is not there sets it",
		applies:  func(s Step, a answer) bool { return s.Verb == "STRATEGIC" && replacesNothing(a.before, s.Body) },
		loosened: anything, ends: true,
	},
	{
		title: "A patch leaves nothing of itself behind",
		applies: func(s Step, a answer) bool {
			return s.Verb == "STRATEGIC" && (replacesWithRest(s) || leavesRest(a.before, s.Body))
		},
		loosened: anything, ends: true,
	},
	{
		title:    "Values in errors are shown as clients write them",
		applies:  func(_ Step, a answer) bool { return a.code == 422 },
		loosened: anyValues,
	},
}

// moreTold is the deliberate difference that our answer alone shows, by a warning.
const moreTold = "Appliers are told of what excludes what they applied"

// saysOnlyMore is for complaints about nothing but that.
func saysOnlyMore(complaints []string) bool {
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

// quotedIn returns the strings of a list, as Go shows it.
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

// siblingIn finds the warning about a field that goes with another value than the one that was applied.
var siblingIn = regexp.MustCompile(`^"\.\S+: \S+ was applied, but (\S+ is set|requires )`)

var warningsIn = regexp.MustCompile(`^warnings: expected (\[.*\]), received (\[.*\])$`)

// withoutKnown takes the deliberate differences out of what is expected. It returns the titles of those that are in the
// history, and how many of its steps are left to be compared.
func (r recorded) withoutKnown(h History) (titles []string, compared int) {
	compared = len(h.Steps)
	var state answer
	r.each(func(step, code int, expected []txtar.File) []txtar.File {
		a := answerIn(code, expected)
		a.before, a.ownersBefore, a.writes = state.object, state.owners, state.writes
		state = a.stateAfter(h.Steps[step])
		a.before = seenAt(h.Steps[step].Address, a.before)
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

// stateAfter is the object that is there after a step that was answered so, its owners and how often it was written.
func (a answer) stateAfter(s Step) answer {
	switch {
	case s.DryRun, a.object.IsAbsent() && s.Verb != "DELETE":
		return answer{object: a.before, owners: a.ownersBefore, writes: a.writes}
	case s.Verb == "DELETE" && a.code == 200 && a.before.Lookup("metadata", "finalizers").IsAbsent(), isGone(a.object):
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
