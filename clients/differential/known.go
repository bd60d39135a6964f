package differential

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/cadastre/cadastre/document"
)

// A difference is one that Cadastre has on purpose.
type difference struct {
	// title is that of its entry in docs/differences.md.
	title string
	// applies says whether the answer to the last of some steps is one that differs.
	applies func(steps []Step, code int) bool
	// loosened is what is still expected of it.
	loosened func(expected []txtar.File) []txtar.File
}

var differences = []difference{
	{
		title:    "JSON patches that fail say why",
		applies:  func(steps []Step, code int) bool { return last(steps).Verb == "JSONPATCH" && code >= 400 },
		loosened: onlyAnswer,
	},
	{
		title:    "A configuration that does not fit is a bad request",
		applies:  func(steps []Step, code int) bool { return last(steps).Verb == "APPLY" && code == 500 },
		loosened: badRequest,
	},
	{
		title:    "Bad patches are the client's fault",
		applies:  func(steps []Step, code int) bool { return last(steps).Verb == "STRATEGIC" && code == 500 },
		loosened: badRequest,
	},
	{
		title: "Applying again what was just created writes nothing",
		applies: func(steps []Step, code int) bool {
			return last(steps).Verb == "APPLY" && code == 200 && strings.HasPrefix(last(steps).Address, "batch/v1 jobs/")
		},
		loosened: changedOrNot,
	},
	{
		title:    "Values in errors are shown as clients write them",
		applies:  func(_ []Step, code int) bool { return code == 422 },
		loosened: anyValues,
	},
	{
		title: "A scale that changes nothing leaves owners whole",
		applies: func(steps []Step, code int) bool {
			return code < 300 && slices.ContainsFunc(steps, func(s Step) bool { return strings.HasSuffix(s.Address, "/scale") })
		},
		loosened: wholeOwners,
	},
}

func last(steps []Step) Step { return steps[len(steps)-1] }

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
			masked := differenceIn.ReplaceAllString(mapIn.ReplaceAllString(text.Text(), "Invalid value: <any>: "), "<any>")
			v = replaced(v, p, document.NewString(masked))
		}
	}
	return v
}

var (
	mapIn        = regexp.MustCompile(`Invalid value: [{\[].*[}\]]: `)
	differenceIn = regexp.MustCompile(`(?s)\n@@.*`)
)

// wholeOwners expects no owners where one of them has two entries, and nothing of whether the object has changed:
// the next write makes them one again.
func wholeOwners(expected []txtar.File) []txtar.File {
	expected = changedOrNot(expected)
	for i, file := range expected {
		if file.Name != "owners" {
			continue
		}
		seen := map[string]bool{}
		for line := range strings.Lines(string(file.Data)) {
			who, _, _ := strings.Cut(line, ":")
			if seen[who] && who[0] != ' ' {
				return slices.Delete(expected, i, i+1)
			}
			seen[who] = true
		}
	}
	return expected
}

// withoutKnown takes the deliberate differences out of what is expected.
func (r recorded) withoutKnown(h History) {
	r.each(func(step, code int, expected []txtar.File) []txtar.File {
		for _, d := range differences {
			if len(expected) > 0 && d.applies(h.Steps[:step+1], code) {
				expected = d.loosened(expected)
			}
		}
		return masked(expected)
	})
}

// masked masks uids, and the times that the server has made, which are those of today.
func masked(expected []txtar.File) []txtar.File {
	for i, file := range expected {
		expected[i].Data = timeIn.ReplaceAllFunc(file.Data, func(text []byte) []byte {
			if t, err := time.Parse(time.RFC3339, string(text)); err == nil && time.Since(t).Abs() < 24*time.Hour {
				return []byte("<time>")
			}
			return text
		})
		expected[i].Data = uidIn.ReplaceAll(expected[i].Data, []byte("<uid>"))
	}
	return expected
}

func badRequest(expected []txtar.File) []txtar.File {
	expected[0].Data = []byte("400\n")
	return expected[:1]
}

var (
	timeIn = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	uidIn  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)
