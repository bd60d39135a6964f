package differential

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Shrink returns a smaller history that has a difference of the same kind as found: it removes the steps after the
// difference, then other steps, and then parts of bodies, as long as such a difference remains.
func Shrink(ctx context.Context, pair Pair, found Finding) (Finding, error) {
	for {
		smaller, err := shrinkOnce(ctx, pair, found)
		if err != nil || smaller == nil {
			return found, err
		}
		found = *smaller
	}
}

// batch is the number of smaller histories that are compared concurrently.
const batch = 16

// shrinkOnce returns the finding for the first smaller history with a difference of the same kind as found, or nil if
// there is none.
func shrinkOnce(ctx context.Context, pair Pair, found Finding) (*Finding, error) {
	for candidates := range slices.Chunk(smallerHistories(found), batch) {
		findings, err := compare(ctx, pair, candidates)
		if err != nil {
			return nil, err
		}
		for _, f := range findings {
			if f.Differs() && f.isSameKind(found) {
				return &f, nil
			}
		}
	}
	return nil, nil
}

// smallerHistories returns copies of the history of found, each without one part of it. Copies without a larger part
// come first.
func smallerHistories(found Finding) []History {
	h := found.History
	var all []History
	last, ok := stepIndex(found.Failure.Step)
	if ok && last < len(h.Steps)-1 {
		return []History{{h.Seed, h.Resource, slices.Clone(h.Steps[:last+1])}}
	}
	for i := range h.Steps {
		if len(h.Steps) > 1 {
			all = append(all, History{h.Seed, h.Resource, without(h.Steps, i)})
		}
	}
	for i, s := range h.Steps {
		if plain := s.plain(); plain != s {
			all = append(all, h.withStep(i, plain))
		}
		if s.Body.IsAbsent() {
			continue
		}
		for _, p := range fieldPaths(s.Body)[1:] {
			if s.Body.Kind() == document.Map && isIdentity(p) {
				continue
			}
			less := s
			less.Body = withoutValue(s.Body, p)
			all = append(all, h.withStep(i, less))
		}
	}
	return all
}

// plain returns the step with only its verb, address, field manager, User-Agent and body.
func (s Step) plain() Step {
	return Step{Verb: s.Verb, Address: s.Address, Manager: s.Manager, Agent: s.Agent, Body: s.Body}
}

// withStep returns h with s as the step with index i.
func (h History) withStep(i int, s Step) History {
	steps := slices.Clone(h.Steps)
	steps[i] = s
	return History{h.Seed, h.Resource, steps}
}

// isIdentity reports whether p is the path of a field that identifies the object, which must not be removed from a
// body.
func isIdentity(p fieldPath) bool {
	switch strings.Join(p, ".") {
	case "apiVersion", "kind", "metadata", "metadata.name":
		return true
	}
	return false
}

// complaintKinds returns the kinds of complaints in f: only the two status codes if these differ, or the complaints
// about other parts of the response without values and random parts.
func (f Finding) complaintKinds() []string {
	var kinds []string
	for _, complaint := range f.Failure.Complaints {
		kind := randomPattern.ReplaceAllString(complaint, "_")
		if codes := statusPattern.FindStringSubmatch(complaint); codes != nil {
			return []string{"status " + codes[1] + " became " + codes[2]}
		}
		if what := fieldPattern.FindString(kind); what != "" && !strings.HasPrefix(kind, "owners") {
			kind = what
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

var (
	statusPattern = regexp.MustCompile(`^answer: expected status (\d+), received (\d+)`)
	fieldPattern  = regexp.MustCompile(`^(object|error): \S+:`)
	randomPattern = regexp.MustCompile(`alice|bob|carol|dave|erin|applytest-[a-z0-9]+|\[[0-9]+\]|was [0-9]+ and is [0-9]+|is still [0-9]+`)
)

// isSameKind reports whether f and found differ at requests with the same verb, and f has no kind of complaint that
// found does not have.
func (f Finding) isSameKind(found Finding) bool {
	known := found.complaintKinds()
	for _, kind := range f.complaintKinds() {
		if !slices.Contains(known, kind) {
			return false
		}
	}
	return f.last().Verb == found.last().Verb
}

// last returns the step whose response differs.
func (f Finding) last() Step {
	i, _ := stepIndex(f.Failure.Step)
	return f.History.Steps[i]
}

// Signature returns the request and the complaints, without their random parts. Findings with the same signature are
// probably caused by the same defect.
func (f Finding) Signature() string {
	resource, rest, _ := strings.Cut(f.last().Address, "/"+objectName)
	return f.last().Verb + " " + resource + rest + ": " + strings.Join(f.complaintKinds(), "; ")
}
