package applytest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Times of managedFields differ from run to run; whether they changed does not.

// parseTimes reads lines such as "alice Apply v1: unchanged".
func parseTimes(text string) (map[string]string, error) {
	times := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		end := outside(line, ':')
		if end < 0 {
			return nil, fmt.Errorf("expected a line such as %q, received %q", "alice Apply v1: unchanged", line)
		}
		word := strings.TrimSpace(line[end+1:])
		if word != changed && word != unchanged && word != "new" {
			return nil, fmt.Errorf("expected changed, unchanged or new, received %q", word)
		}
		times[line[:end]] = word
	}
	return times, nil
}

// timesOf tells for each owner whether its time is the one that it had in the answer before.
func timesOf(p *play, a *answer) (map[string]string, error) {
	owners, err := ownersOf(a.body)
	if err != nil {
		return nil, err
	}
	var before []owner
	if earlier, ok := p.seen[a.uid()]; ok {
		if before, err = ownersOf(earlier.body); err != nil {
			return nil, err
		}
	}
	times := map[string]string{}
	for _, o := range owners {
		switch i := indexOf(before, o); {
		case i < 0:
			times[o.who()] = "new"
		case before[i].time == o.time:
			times[o.who()] = unchanged
		default:
			times[o.who()] = changed
		}
	}
	return times, nil
}

func compareTimes(p *play, e *expectation, a *answer) []string {
	text, err := p.variables.expand(e.text)
	if err != nil {
		return []string{err.Error()}
	}
	expected, err := parseTimes(text)
	if err != nil {
		return []string{err.Error()}
	}
	received, err := timesOf(p, a)
	if err != nil {
		return []string{err.Error()}
	}
	var complaints []string
	for _, who := range slices.Sorted(maps.Keys(expected)) {
		if word := received[who]; word != expected[who] {
			complaints = append(complaints, fmt.Sprintf("%s: expected its time to be %s, received %s", who, expected[who], cmp.Or(word, "nothing")))
		}
	}
	for _, who := range slices.Sorted(maps.Keys(received)) {
		if _, ok := expected[who]; !ok {
			complaints = append(complaints, fmt.Sprintf("%s: its time is %s, but it is not expected to be an owner", who, received[who]))
		}
	}
	return complaints
}

func recordTimes(p *play, e *expectation, a *answer) (string, error) {
	times, err := timesOf(p, a)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, who := range slices.Sorted(maps.Keys(times)) {
		fmt.Fprintf(&text, "%s: %s\n", who, times[who])
	}
	return p.maskedText(text.String()), nil
}
