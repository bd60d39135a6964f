package kinds

import (
	_ "embed" // traits.txt
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Traits are what is not the same for all kinds when they are written or deleted.
type Traits struct {
	// PutCreates says that PUT creates what is not there, PutVersioned that it must say which
	// resourceVersion it replaces.
	PutCreates, PutVersioned bool
	// Orphans says that deletions orphan dependents unless they say otherwise, Childless that
	// there are none.
	Orphans, Childless bool
	// Graceful says that deletions leave time to finish; see GracePeriod.
	Graceful bool
	// Singly says that a collection can't be deleted at once.
	Singly bool
	// ShowsDeleted says that a deletion is answered with the object that is gone.
	ShowsDeleted bool
	// Contains says that other objects are in it: it goes only when spec.finalizers says that it is
	// empty.
	Contains bool
	// CheckedAsSent says that what is right depends on the version at which it is sent: objects of
	// other kinds are checked as they are stored.
	CheckedAsSent bool
}

// GracePeriod returns how many seconds a deletion leaves to an object: those that were asked for,
// or else those that the object says, but none if nothing runs that could use them. 0 means that it
// goes at once.
func (k *Kind) GracePeriod(live document.Value, asked int64, isAsked bool) int64 {
	if !k.Graceful || live.Lookup("spec", "nodeName").Text() == "" {
		return 0
	}
	if phase := live.Lookup("status", "phase").Text(); phase == "Failed" || phase == "Succeeded" {
		return 0
	}
	if !isAsked {
		asked, _ = live.Lookup("spec", "terminationGracePeriodSeconds").Int64()
	}
	if asked < 0 {
		return 1
	}
	return asked
}

//go:embed traits.txt
var traitsText string

// addTraits gives kinds the traits that a text such as traits.txt has.
func addTraits(kinds []*Kind, text string) error {
	number := 0
	for line := range strings.Lines(text) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		for _, name := range words[1:] {
			i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.String() == name })
			if i < 0 {
				return fmt.Errorf("line %d: expected the name of a kind, received %q", number, name)
			}
			if err := kinds[i].Traits.set(words[0]); err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		}
	}
	return nil
}

func (t *Traits) set(name string) error {
	switch name {
	case "put-creates":
		t.PutCreates = true
	case "put-versioned":
		t.PutVersioned = true
	case "orphans":
		t.Orphans = true
	case "childless":
		t.Childless = true
	case "graceful":
		t.Graceful = true
	case "singly":
		t.Singly = true
	case "shows-deleted":
		t.ShowsDeleted = true
	case "contains":
		t.Contains = true
	case "checked-as-sent":
		t.CheckedAsSent = true
	default:
		return fmt.Errorf("expected put-creates, put-versioned, orphans, childless, graceful, singly, shows-deleted, contains or checked-as-sent, received %q", name)
	}
	return nil
}
