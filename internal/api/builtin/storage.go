package builtin

import (
	"encoding/json"
	"slices"

	"github.com/cadastre/cadastre/document"
)

// mostRepeats is how often it is said that a term is there already.
const mostRepeats = 10

// Limits of the parameters of a class.
const (
	mostParameters     = 512
	mostParameterBytes = 256 << 10
)

func parameters(c *checker, all, _ document.Value) {
	if all.Len() > mostParameters {
		c.tooLong(mostParameters)
		return
	}
	size := 0
	for key, value := range all.Fields() {
		if key == "" {
			c.invalid(key, "field can not be empty.")
		}
		size += len(key) + len(value.Text())
	}
	if size > mostParameterBytes {
		c.tooLong(mostParameterBytes)
	}
}

// topologies checks where the volumes of a class may be. No two terms may say the same.
func topologies(c *checker, terms, _ document.Value) {
	seen := map[string]int{}
	for i, term := range terms.Items() {
		c.pushItem(i)
		c.push("matchLabelExpressions")
		says := c.topology(term.Get("matchLabelExpressions"))
		times := seen[says]
		if says == "{}" {
			times += terms.Len() // kube-apiserver has so many empty terms before the first one
		}
		for range min(times, mostRepeats) {
			c.duplicate("")
		}
		seen[says]++
		c.pop()
		c.pop()
	}
}

// topology returns which values each label may have, as text that is the same for the same.
func (c *checker) topology(expressions document.Value) string {
	says := map[string][]string{}
	for i, e := range expressions.Items() {
		key, values := e.Get("key").Text(), e.Get("values")
		c.pushItem(i)
		if values.Len() == 0 {
			c.required("", "values")
		}
		c.push("values")
		for j, value := range values.Items() {
			if c.first(values, "", value.Text(), false) < j {
				c.pushItem(j)
				c.duplicate(value.Text())
				c.pop()
			}
		}
		c.pop()
		c.invalidAll(key, formats["qualified-name"].check(key), "key")
		if _, ok := says[key]; ok {
			c.duplicate(key, "key")
		}
		set := texts(values)
		slices.Sort(set)
		says[key] = slices.Compact(set)
		c.pop()
	}
	text, _ := json.Marshal(says) // maps are written in the order of their keys
	return string(text)
}

// topologyKeys checks the labels that a driver knows places by. Errors are those of the driver.
func topologyKeys(c *checker, driver, _ document.Value) {
	keys := driver.Get("topologyKeys")
	for i, key := range keys.Items() {
		text := key.Text()
		if text == "" {
			c.required("")
		}
		if c.first(keys, "", text, false) < i {
			c.duplicate(text)
		}
		c.invalidAll(text, formats["qualified-name"].check(text))
	}
}

// driverFrozen refuses another driver of the same name; how many volumes it can attach may change.
func driverFrozen(c *checker, drivers, _ document.Value) {
	if !c.updating {
		return
	}
	t := c.typeHere()
	if t != nil {
		t = t.Elem
	}
	old := c.scopes[0].old.Lookup("spec", "drivers")
	for _, is := range drivers.Items() {
		if i := c.first(old, "name", is.Get("name").Text(), false); i >= 0 && !sameExcept(t, is, old.At(i), []string{"allocatable"}) {
			c.invalid(shown(is), "field is immutable")
		}
	}
}

const oneVolumeSource = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"

// attachmentSource wants one volume to attach.
func attachmentSource(c *checker, source, _ document.Value) {
	name, inline := source.Get("persistentVolumeName"), source.Get("inlineVolumeSpec")
	switch {
	case isNothing(name) && isNothing(inline):
		c.required(oneVolumeSource)
	case !isNothing(name) && !isNothing(inline):
		c.forbidden(oneVolumeSource)
	case !isNothing(name) && name.Text() == "":
		c.required("must specify non empty persistentVolumeName", "persistentVolumeName")
	}
}
