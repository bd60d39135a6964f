package applytest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// variable matches $NAMESPACE, $N, $NN, $uid, $resourceVersion and ${step .path}. Other dollar signs, such as the one in
// $patch, are literal.
var variable = regexp.MustCompile(`\$(NAMESPACE|NN|N|uid|resourceVersion)\b|\$\{([^}]*)\}`)

// variables holds the data from which variables are expanded, mainly earlier responses.
type variables struct {
	namespace string
	round     int             // the number of the current repetition in a step with TIMES
	last      *serverResponse // the last response that contains an object
	responses map[string]*serverResponse
}

// expand returns text with all variables replaced with their values. It returns an error if a variable has no value.
func (v *variables) expand(text string) (string, error) {
	if !strings.Contains(text, "$") {
		return text, nil
	}
	var failure error
	expanded := variable.ReplaceAllStringFunc(text, func(found string) string {
		value, err := v.value(found)
		if err != nil && failure == nil {
			failure = fmt.Errorf("%s: %w", found, err)
		}
		return value
	})
	return expanded, failure
}

func (v *variables) value(found string) (string, error) {
	switch found {
	case "$NAMESPACE":
		return v.namespace, nil
	case "$N":
		return strconv.Itoa(v.round), nil
	case "$NN":
		return fmt.Sprintf("%02d", v.round), nil
	case "$uid":
		return v.lookup("", ".metadata.uid")
	case "$resourceVersion":
		return v.lookup("", ".metadata.resourceVersion")
	}
	inside := strings.TrimSpace(found[2 : len(found)-1])
	i := strings.LastIndex(" "+inside, " .")
	if i < 0 {
		return "", fmt.Errorf("expected ${step .path} or ${.path}")
	}
	return v.lookup(strings.TrimSpace(inside[:max(i-1, 0)]), inside[i:])
}

// lookup returns the field at path in the response to the step with the given name. If step is "", lookup uses the last
// response that contains an object.
func (v *variables) lookup(step, path string) (string, error) {
	from := v.last
	if step != "" {
		from = v.responses[step]
	}
	if from == nil {
		return "", fmt.Errorf("expected an earlier response with this value, found none")
	}
	parsed, err := fieldset.ParsePath(path)
	if err != nil {
		return "", err
	}
	value := valueAt(from.body, parsed)
	switch value.Kind() {
	case document.Absent:
		return "", fmt.Errorf("the response does not contain %s", path)
	case document.String, document.Number:
		return value.Text(), nil
	}
	return value.JSON(), nil
}

// valueAt returns the value at path inside of value; the absent Value if there is none.
func valueAt(value document.Value, path fieldset.Path) document.Value {
	for _, element := range path {
		switch element.Kind() {
		case fieldset.FieldName:
			value = value.Get(element.Name())
		case fieldset.Index:
			value = itemAt(value, element.Index())
		case fieldset.Key:
			value = itemWithKeys(value, element.KeyFields())
		default:
			value = document.Value{}
		}
	}
	return value
}

func itemAt(list document.Value, i int) document.Value {
	if list.Kind() != document.List || i < 0 || i >= list.Len() {
		return document.Value{}
	}
	return list.At(i)
}

func itemWithKeys(list document.Value, keys []fieldset.KeyField) document.Value {
	for _, item := range list.Items() {
		all := true
		for _, key := range keys {
			all = all && document.Equal(item.Get(key.Name), key.Value)
		}
		if all {
			return item
		}
	}
	return document.Value{}
}
