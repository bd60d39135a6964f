package builtin

import "github.com/cadastre/cadastre/document"

// makeEventNamespace wants an event to be where the object is that it is about: its argument is the
// field that says which. Events about objects that are in no namespace are in default.
func makeEventNamespace(args []string) (check, error) {
	field, err := detailOf(args, "involvedObject")
	return func(c *checker, event, _ document.Value) bool {
		in, of := event.Lookup("metadata", "namespace").Text(), event.Lookup(field, "namespace").Text()
		isNew := !isNothing(event.Get("eventTime"))
		var right bool
		switch {
		case isNew:
			right = of != "" || in == "default" || in == "kube-system"
		case of == "":
			right = in == "" || in == "default"
		default:
			right = in == of
		}
		if !right {
			c.invalid(of, "does not match event.namespace", "involvedObject", "namespace")
		}
		return true
	}, err
}

func eventType(c *checker, now, _ document.Value) {
	if text := now.Text(); text != "Normal" && text != "Warning" {
		c.invalid("", "has invalid value: "+text)
	}
}
