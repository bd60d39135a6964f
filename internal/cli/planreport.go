package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/ownership"
)

// objectPlan is the effect that an apply would have on one object.
type objectPlan struct {
	target           target
	manager          string
	creates          bool
	previousManagers []string
	before, after    apply.Object
	plan             ownership.Plan
	conflicts        []conflict
}

// changes reports whether the apply would create the object, or change a value or an owner of a field.
func (p *objectPlan) changes() bool { return p.creates || !p.plan.IsEmpty() }

// summary describes the effect of the apply in a few words, for -o text.
func (p *objectPlan) summary() string {
	summary := "will change"
	switch {
	case p.creates:
		summary = "will be created"
	case p.plan.IsEmpty():
		summary = "unchanged"
	case len(p.conflicts) > 0:
		summary = fmt.Sprintf("%d %s; will change if forced", len(p.conflicts), plural(len(p.conflicts), "conflict", "conflicts"))
	case p.plan.Changes.IsEmpty():
		summary = "only ownership will change"
	}
	if len(p.previousManagers) > 0 {
		summary += "; takes over fields from " + strings.Join(p.previousManagers, ", ")
	}
	return summary
}

// planView prints plans for -o text.
type planView struct {
	w        io.Writer
	now      time.Time
	coloured bool
}

// lineColours maps the first word of a line to its ANSI colour code. Additions and removals have the colours of diff.
var lineColours = map[string]int{"+": 32, "-": 31, "~": 33, "conflict": 35, "stays": 36}

// line prints one line that begins with word.
func (v planView) line(word, format string, args ...any) {
	text := "  " + word + " " + fmt.Sprintf(format, args...)
	if code := lineColours[word]; v.coloured && code != 0 {
		text = coloured(code, text)
	}
	fmt.Fprintln(v.w, text)
}

func (v planView) print(p *objectPlan) {
	fmt.Fprintf(v.w, "%s: %s\n", p.target, p.summary())
	for _, c := range p.conflicts {
		var owners []string
		for _, e := range c.owners {
			owners = append(owners, entryWithAge(e, v.now))
		}
		live, configured := c.formattedValues()
		v.line("conflict", "%s: owned by %s; live value %s, applied value %s", c.formattedPath(), strings.Join(owners, " and "), live, configured)
	}
	v.printValues(p)
	v.printOwners(p)
}

func (v planView) printValues(p *objectPlan) {
	for path := range topmost(p.plan.Changes.Added).All() {
		v.line("+", "%s: %s", formatPath(path), formatValue(ownership.ValueAt(p.after.Document, path)))
	}
	for path := range p.plan.Changes.Modified.All() {
		oldText, newText := formatValuePair(ownership.ValueAt(p.before.Document, path), ownership.ValueAt(p.after.Document, path))
		v.line("~", "%s: %s -> %s", formatPath(path), oldText, newText)
	}
	for path := range topmost(p.plan.Changes.Removed).All() {
		v.line("-", "%s: %s", formatPath(path), formatValue(ownership.ValueAt(p.before.Document, path)))
	}
}

// topmost returns those members of set that have no ancestor in set.
func topmost(set fieldset.Set) fieldset.Set {
	var b fastset.Builder
	return buildTopmost(&b, set)
}

func buildTopmost(b *fastset.Builder, set fieldset.Set) fieldset.Set {
	mark := b.Mark()
	for i := range set.Len() {
		if set.Member(i) {
			b.Push(set.Element(i), true, fieldset.Set{})
			continue
		}
		below := buildTopmost(b, set.Child(i))
		b.Push(set.Element(i), false, below)
	}
	return b.Set(mark)
}

func (v planView) printOwners(p *objectPlan) {
	for _, part := range []struct {
		word string
		set  fieldset.Set
	}{{"own", p.plan.Gained}, {"share", p.plan.Shared}, {"release", p.plan.Released}} {
		for path := range part.set.Leaves().All() {
			v.line(part.word, "%s", formatPath(path))
		}
	}
	for _, m := range p.plan.Lost {
		for path := range m.Fields.Leaves().All() {
			v.line("take", "%s from %s", formatPath(path), entryName(m.From))
		}
	}
	for _, s := range p.plan.Kept {
		why := "owned by " + entryNames(s.Owners)
		if len(s.Owners) == 0 {
			why = "set by the server"
		}
		v.line("stays", "%s: %s, %s", formatPath(s.Path), formatValue(s.Value), why)
	}
}

// plansValue returns plans as a document for -o json and -o yaml.
func plansValue(plans []*objectPlan) document.Value {
	items := make([]document.Value, len(plans))
	for i, p := range plans {
		items[i] = p.value()
	}
	return document.NewMap(document.Field{Name: "objects", Value: document.NewList(items...)})
}

func (p *objectPlan) value() document.Value {
	var conflicts, stays []document.Value
	for _, c := range p.conflicts {
		conflicts = append(conflicts, document.NewMap(
			document.Field{Name: "path", Value: document.NewString(c.formattedPath())},
			document.Field{Name: "owners", Value: entryValues(c.owners)},
			document.Field{Name: "live", Value: c.live}, document.Field{Name: "wanted", Value: c.configured},
		))
	}
	for _, s := range p.plan.Kept {
		stays = append(stays, document.NewMap(
			document.Field{Name: "path", Value: document.NewString(formatPath(s.Path))},
			document.Field{Name: "value", Value: s.Value}, document.Field{Name: "owners", Value: entryValues(s.Owners)},
		))
	}
	changes := p.plan.Changes
	return document.NewMap(append(p.target.fields(),
		document.Field{Name: "creates", Value: document.NewBool(p.creates)},
		document.Field{Name: "changes", Value: document.NewBool(p.changes())},
		document.Field{Name: "takesOverFrom", Value: stringValues(p.previousManagers)},
		document.Field{Name: "conflicts", Value: document.NewList(conflicts...)},
		document.Field{Name: "added", Value: p.changeValues(topmost(changes.Added))},
		document.Field{Name: "modified", Value: p.changeValues(changes.Modified)},
		document.Field{Name: "removed", Value: p.changeValues(topmost(changes.Removed))},
		document.Field{Name: "gained", Value: pathValues(p.plan.Gained)},
		document.Field{Name: "shared", Value: pathValues(p.plan.Shared)},
		document.Field{Name: "released", Value: pathValues(p.plan.Released)},
		document.Field{Name: "lost", Value: lossValues(p.plan.Lost)},
		document.Field{Name: "stays", Value: document.NewList(stays...)},
	)...)
}

// lossValues returns the fields that other field managers would lose, as a document.
func lossValues(moves []ownership.Move) document.Value {
	values := make([]document.Value, len(moves))
	for i, m := range moves {
		values[i] = document.NewMap(
			document.Field{Name: "from", Value: entryValue(m.From)}, document.Field{Name: "fields", Value: pathValues(m.Fields)},
		)
	}
	return document.NewList(values...)
}

// changeValues returns the paths of set with their values before and after the apply. It omits absent values.
func (p *objectPlan) changeValues(set fieldset.Set) document.Value {
	var values []document.Value
	for path := range set.All() {
		values = append(values, document.NewMap(
			document.Field{Name: "path", Value: document.NewString(formatPath(path))},
			document.Field{Name: "before", Value: ownership.ValueAt(p.before.Document, path)},
			document.Field{Name: "after", Value: ownership.ValueAt(p.after.Document, path)},
		))
	}
	return document.NewList(values...)
}
