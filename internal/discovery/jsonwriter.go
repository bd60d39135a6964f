package discovery

import (
	"encoding/json"
	"io"
)

// jsonWriter writes a large JSON object member by member, so that the whole object is never in memory. After an error, which
// err retains, it writes nothing.
type jsonWriter struct {
	w         io.Writer
	err       error
	hasMember bool // hasMember reports whether the current object has a member; if it does, a comma must precede the next member.
}

func (j *jsonWriter) text(s string) {
	if j.err == nil {
		_, j.err = io.WriteString(j.w, s)
	}
}

func (j *jsonWriter) begin() {
	j.text("{")
	j.hasMember = false
}

func (j *jsonWriter) end() {
	j.text("}")
	j.hasMember = true
}

// name writes the name of the next member and a colon.
func (j *jsonWriter) name(name string) {
	if j.hasMember {
		j.text(",")
	}
	j.hasMember = true
	quoted, err := json.Marshal(name)
	j.fail(err)
	j.text(string(quoted) + ":")
}

// member writes a member. The output of a json.Marshaler is not validated, which json.Marshal would do.
func (j *jsonWriter) member(name string, value any) {
	j.name(name)
	var text []byte
	var err error
	if self, ok := value.(json.Marshaler); ok {
		text, err = self.MarshalJSON()
	} else {
		text, err = json.Marshal(value)
	}
	j.fail(err)
	j.raw(text)
}

// object writes a member that is an object; fill writes its members.
func (j *jsonWriter) object(name string, fill func()) {
	j.name(name)
	j.begin()
	fill()
	j.end()
}

func (j *jsonWriter) raw(text []byte) {
	if j.err == nil {
		_, j.err = j.w.Write(text)
	}
}

func (j *jsonWriter) fail(err error) {
	if j.err == nil {
		j.err = err
	}
}
