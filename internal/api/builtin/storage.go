package builtin

import (
	"encoding/json"
	"slices"

	"github.com/cadastre/cadastre/document"
)

// maxRepeats is the maximum number of errors that are reported for one duplicate topology term.
const maxRepeats = 10

// Limits of the parameters of a StorageClass or VolumeAttributesClass.
const (
	maxParameters     = 512       // maxParameters is the maximum number of parameters.
	maxParameterBytes = 256 << 10 // maxParameterBytes is the maximum total size of the parameters in bytes.
)

func checkParameters(c *checker, parameters, _ document.Value) {
	if parameters.Len() > maxParameters {
		c.tooLong(maxParameters)
		return
	}
	size := 0
	for key, value := range parameters.Fields() {
		if key == "" {
			c.invalid(key, "field can not be empty.")
		}
		size += len(key) + len(value.Text())
	}
	if size > maxParameterBytes {
		c.tooLong(maxParameterBytes)
	}
}

// checkTopologies validates allowedTopologies of a StorageClass, whose terms must be distinct.
func checkTopologies(c *checker, terms, _ document.Value) {
	seen := map[string]int{}
	for i, term := range terms.Items() {
		c.pushItem(i)
		c.push("matchLabelExpressions")
		key := c.checkTopology(term.Get("matchLabelExpressions"))
		times := seen[key]
		if key == "{}" {
			times += terms.Len() // kube-apiserver also compares the term with as many empty terms as there are terms
		}
		for range min(times, maxRepeats) {
			c.duplicate("")
		}
		seen[key]++
		c.pop()
		c.pop()
	}
}

// checkTopology validates the expressions of a topology term. It returns a string that identifies the term, a JSON object
// that maps each key to its values; the strings of equal terms are equal.
func (c *checker) checkTopology(expressions document.Value) string {
	valuesByKey := map[string][]string{}
	for i, e := range expressions.Items() {
		key, values := e.Get("key").Text(), e.Get("values")
		c.pushItem(i)
		if values.Len() == 0 {
			c.required("", "values")
		}
		c.push("values")
		for j, value := range values.Items() {
			if c.firstIndex(values, "", value.Text(), false) < j {
				c.pushItem(j)
				c.duplicate(value.Text())
				c.pop()
			}
		}
		c.pop()
		c.invalidAll(key, formats["qualified-name"].check(key), "key")
		if _, ok := valuesByKey[key]; ok {
			c.duplicate(key, "key")
		}
		set := stringItems(values)
		slices.Sort(set)
		valuesByKey[key] = slices.Compact(set)
		c.pop()
	}
	text, _ := json.Marshal(valuesByKey) // json.Marshal sorts map keys
	return string(text)
}

// checkTopologyKeys validates topologyKeys of a driver in a CSINode. Like kube-apiserver, it reports the errors at the path
// of the driver.
func checkTopologyKeys(c *checker, driver, _ document.Value) {
	keys := driver.Get("topologyKeys")
	for i, key := range keys.Items() {
		text := key.Text()
		if text == "" {
			c.required("")
		}
		if c.firstIndex(keys, "", text, false) < i {
			c.duplicate(text)
		}
		c.invalidAll(text, formats["qualified-name"].check(text))
	}
}

// checkDriverFrozen rejects updates of a CSINode that change a driver in a field other than allocatable.
func checkDriverFrozen(c *checker, drivers, _ document.Value) {
	if !c.updating {
		return
	}
	t := c.currentType()
	if t != nil {
		t = t.Elem
	}
	old := c.scopes[0].old.Lookup("spec", "drivers")
	for _, current := range drivers.Items() {
		if i := c.firstIndex(old, "name", current.Get("name").Text(), false); i >= 0 && !equalExcept(t, current, old.At(i), []string{"allocatable"}) {
			c.invalid(errorValue(current), "field is immutable")
		}
	}
}

const oneVolumeSourceDetail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"

// checkAttachmentSource requires that the source of a VolumeAttachment has exactly one of persistentVolumeName and
// inlineVolumeSpec.
func checkAttachmentSource(c *checker, source, _ document.Value) {
	name, inline := source.Get("persistentVolumeName"), source.Get("inlineVolumeSpec")
	switch {
	case isAbsentOrNull(name) && isAbsentOrNull(inline):
		c.required(oneVolumeSourceDetail)
	case !isAbsentOrNull(name) && !isAbsentOrNull(inline):
		c.forbidden(oneVolumeSourceDetail)
	case !isAbsentOrNull(name) && name.Text() == "":
		c.required("must specify non empty persistentVolumeName", "persistentVolumeName")
	}
}
