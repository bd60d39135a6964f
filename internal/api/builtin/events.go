package builtin

import "github.com/cadastre/cadastre/document"

// makeEventNamespace returns a check that requires that an Event is in the namespace of the object that it describes. The
// argument is the field that references that object, by default involvedObject. Events about cluster-scoped objects must be
// in the namespace default.
func makeEventNamespace(args []string) (check, error) {
	field, err := parseDetail(args, "involvedObject")
	return func(c *checker, event, _ document.Value) bool {
		in, of := event.Lookup("metadata", "namespace").Text(), event.Lookup(field, "namespace").Text()
		isNew := !isAbsentOrNull(event.Get("eventTime"))
		var valid bool
		switch {
		case isNew:
			valid = of != "" || in == "default" || in == "kube-system"
		case of == "":
			valid = in == "" || in == "default"
		default:
			valid = in == of
		}
		if !valid {
			c.invalid(of, "does not match event.namespace", "involvedObject", "namespace")
		}
		return true
	}, err
}

func checkEventType(c *checker, value, _ document.Value) {
	if text := value.Text(); text != "Normal" && text != "Warning" {
		c.invalid("", "has invalid value: "+text)
	}
}
