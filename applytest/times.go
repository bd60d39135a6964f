package applytest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The timestamps of managedFields differ from run to run. Therefore the expectation "times" states only whether they
// change.

// parseTimes parses lines such as "alice Apply v1: unchanged". The result maps the identity of a managed fields entry to the
// word after the colon.
func parseTimes(text string) (map[string]string, error) {
	times := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		end := indexOutside(line, ':')
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

// timesOf compares the timestamps of managed fields entries with the previous response for the object. It maps the identity
// of each entry to "changed", "unchanged" or "new".
func timesOf(run *scriptRun, resp *serverResponse) (map[string]string, error) {
	owners, err := ownersOf(resp.body)
	if err != nil {
		return nil, err
	}
	var before []managedEntry
	if earlier, ok := run.seen[resp.uid()]; ok {
		if before, err = ownersOf(earlier.body); err != nil {
			return nil, err
		}
	}
	times := map[string]string{}
	for _, owner := range owners {
		switch i := indexOf(before, owner); {
		case i < 0:
			times[owner.identity()] = "new"
		case before[i].time == owner.time:
			times[owner.identity()] = unchanged
		default:
			times[owner.identity()] = changed
		}
	}
	return times, nil
}

func compareTimes(run *scriptRun, e *expectation, resp *serverResponse) []string {
	text, err := run.variables.expand(e.text)
	if err != nil {
		return []string{err.Error()}
	}
	expected, err := parseTimes(text)
	if err != nil {
		return []string{err.Error()}
	}
	received, err := timesOf(run, resp)
	if err != nil {
		return []string{err.Error()}
	}
	var complaints []string
	for _, identity := range slices.Sorted(maps.Keys(expected)) {
		if word := received[identity]; word != expected[identity] {
			complaints = append(complaints, fmt.Sprintf("time of the entry %s: expected %s, received %s", identity, expected[identity], cmp.Or(word, "nothing")))
		}
	}
	for _, identity := range slices.Sorted(maps.Keys(received)) {
		if _, ok := expected[identity]; !ok {
			complaints = append(complaints, fmt.Sprintf("time of the entry %s: expected no such entry, received an entry whose time is %s", identity, received[identity]))
		}
	}
	return complaints
}

func recordTimes(run *scriptRun, e *expectation, resp *serverResponse) (string, error) {
	times, err := timesOf(run, resp)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, identity := range slices.Sorted(maps.Keys(times)) {
		fmt.Fprintf(&text, "%s: %s\n", identity, times[identity])
	}
	return run.maskedText(text.String()), nil
}
