package differential

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/cadastre/cadastre/applytest"
	"github.com/cadastre/cadastre/document"
)

// A difference is one that Cadastre has on purpose.
type difference struct {
	// title is that of its entry in docs/differences.md.
	title string
	// applies says whether the answer to a step is one that differs.
	applies func(s Step, code int) bool
	// loosened is what is still expected of it.
	loosened func(expected []txtar.File) []txtar.File
}

var differences = []difference{
	{
		title:    "JSON patches that fail say why",
		applies:  func(s Step, code int) bool { return s.Verb == "JSONPATCH" && code >= 400 },
		loosened: onlyAnswer,
	},
	{
		title:    "A configuration that does not fit is a bad request",
		applies:  func(s Step, code int) bool { return s.Verb == "APPLY" && code == 500 },
		loosened: badRequest,
	},
	{
		title:    "Bad patches are the client's fault",
		applies:  func(s Step, code int) bool { return s.Verb == "STRATEGIC" && code == 500 },
		loosened: badRequest,
	},
	{
		title: "Applying again what was just created writes nothing",
		applies: func(s Step, code int) bool {
			return code == 200 && strings.HasPrefix(s.Address, "batch/v1 jobs/")
		},
		loosened: changedOrNot,
	},
	{
		title:    "Values in errors are shown as clients write them",
		applies:  func(_ Step, code int) bool { return code == 422 },
		loosened: anyValues,
	},
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

// isKnown is for deliberate differences that only our answer shows. One is a refusal: "A merge key that two items have
// is refused". The other is what pruning has left empty, and who owns that: "A container that pruning emptied is empty,
// not null".
func isKnown(failure *applytest.Failure) bool {
	if strings.Contains(failure.Answer, "expected one item with this merge key") {
		return true
	}
	empty := map[string]bool{}
	for _, complaint := range failure.Complaints {
		if found := emptied.FindStringSubmatch(complaint); found != nil {
			empty[found[1]] = true
			continue
		}
		found := ownedToo.FindStringSubmatch(complaint)
		if found == nil || slices.ContainsFunc(strings.Fields(found[1]), func(path string) bool { return !empty[path] }) {
			return false
		}
	}
	return true
}

var (
	emptied  = regexp.MustCompile(`^object: (\S+): expected nothing, received (?:\[\]|\{\})$`)
	ownedToo = regexp.MustCompile(`^owners: .*: owns (.*), which is not expected$`)
)

// withoutKnown takes the deliberate differences out of what is expected.
func (r recorded) withoutKnown(h History) {
	r.each(func(step, code int, expected []txtar.File) []txtar.File {
		for _, d := range differences {
			if len(expected) > 0 && d.applies(h.Steps[step], code) {
				expected = d.loosened(expected)
			}
		}
		return masked(expected)
	})
}

// masked masks uids, addresses that a server has chosen, and the times that the server has made, which are those of today.
func masked(expected []txtar.File) []txtar.File {
	for i, file := range expected {
		expected[i].Data = timeIn.ReplaceAllFunc(file.Data, func(text []byte) []byte {
			if t, err := time.Parse(time.RFC3339, string(text)); err == nil && time.Since(t).Abs() < 24*time.Hour {
				return []byte("<time>")
			}
			return text
		})
		expected[i].Data = uidIn.ReplaceAll(expected[i].Data, []byte("<uid>"))
		expected[i].Data = addressIn.ReplaceAll(expected[i].Data, []byte("$1<any>"))
	}
	return expected
}

func badRequest(expected []txtar.File) []txtar.File {
	expected[0].Data = []byte("400\n")
	return expected[:1]
}

var (
	timeIn = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	// addressIn finds the address of a service, whole.
	addressIn = regexp.MustCompile(`(clusterIP: |clusterIPs:\n  - )\d+\.\d+\.\d+\.\d+`)
	uidIn     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)
