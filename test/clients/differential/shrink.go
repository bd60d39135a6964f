package differential

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Shrink makes a history that differs smaller, for as long as what is left differs in the same way: what comes
// after the difference, then steps, then parts of bodies.
func Shrink(ctx context.Context, pair Pair, found Finding) (Finding, error) {
	for {
		smaller, err := shrinkOnce(ctx, pair, found)
		if err != nil || smaller == nil {
			return found, err
		}
		found = *smaller
	}
}

// batch is how many smaller histories are tried at once.
const batch = 16

// shrinkOnce returns the first smaller history that differs in the same way, and nil if there is none.
func shrinkOnce(ctx context.Context, pair Pair, found Finding) (*Finding, error) {
	for candidates := range slices.Chunk(smaller(found), batch) {
		tried, err := compare(ctx, pair, candidates)
		if err != nil {
			return nil, err
		}
		for _, f := range tried {
			if f.Differs() && f.isLike(found) {
				return &f, nil
			}
		}
	}
	return nil, nil
}

// smaller lists histories with something less, those with much less first.
func smaller(found Finding) []History {
	h := found.History
	var all []History
	last, ok := stepNumber(found.Failure.Step)
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
			all = append(all, h.with(i, plain))
		}
		if s.Body.IsAbsent() {
			continue
		}
		for _, p := range places(s.Body)[1:] {
			if s.Body.Kind() == document.Map && isIdentity(p) {
				continue
			}
			less := s
			less.Body = removed(s.Body, p)
			all = append(all, h.with(i, less))
		}
	}
	return all
}

// plain is the step with nothing but its verb, its manager and its body.
func (s Step) plain() Step {
	return Step{Verb: s.Verb, Address: s.Address, Manager: s.Manager, Agent: s.Agent, Body: s.Body}
}

// with returns the history with another step in the place of one.
func (h History) with(i int, s Step) History {
	steps := slices.Clone(h.Steps)
	steps[i] = s
	return History{h.Seed, h.Resource, steps}
}

// isIdentity is for what says which object a body is about, without which nothing can be compared.
func isIdentity(p place) bool {
	switch strings.Join(p, ".") {
	case "apiVersion", "kind", "metadata", "metadata.name":
		return true
	}
	return false
}

// ways are what differs, without what was drawn at random: the statuses, or else the fields.
func (f Finding) ways() []string {
	var ways []string
	for _, complaint := range f.Failure.Complaints {
		way := drawn.ReplaceAllString(complaint, "_")
		if codes := statuses.FindStringSubmatch(complaint); codes != nil {
			return []string{"status " + codes[1] + " became " + codes[2]}
		}
		if what := fieldIn.FindString(way); what != "" && !strings.HasPrefix(way, "owners") {
			way = what
		}
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	return ways
}

var (
	statuses = regexp.MustCompile(`^answer: expected status (\d+), received (\d+)`)
	fieldIn  = regexp.MustCompile(`^(object|error): \S+:`)
	drawn    = regexp.MustCompile(`alice|bob|carol|dave|erin|applytest-[a-z0-9]+|\[[0-9]+\]|was [0-9]+ and is [0-9]+|is [0-9]+ as`)
)

// isLike says whether a finding is nothing but what was found before.
func (f Finding) isLike(found Finding) bool {
	before := found.ways()
	for _, way := range f.ways() {
		if !slices.Contains(before, way) {
			return false
		}
	}
	return f.last().Verb == found.last().Verb
}

// last is the step whose answers differ.
func (f Finding) last() Step {
	i, _ := stepNumber(f.Failure.Step)
	return f.History.Steps[i]
}

// Signature is the request and what differs, without what was drawn at random. Two findings with one signature
// are likely the same defect.
func (f Finding) Signature() string {
	resource, rest, _ := strings.Cut(f.last().Address, "/"+objectName)
	return f.last().Verb + " " + resource + rest + ": " + strings.Join(f.ways(), "; ")
}
