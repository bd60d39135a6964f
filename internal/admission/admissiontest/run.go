package admissiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

// Run calls Admit and Validate of a plugin, each only if the plugin handles the write in that phase, as the admission chain
// does.
func Run(ctx context.Context, plugin admission.Plugin, a *admission.Attributes) error {
	plan := admission.NewChain(plugin).Endpoint(a.Resource).Plan(a.Operation)
	if err := plan.Admit(ctx, admission.RecordOf(a)); err != nil {
		return err
	}
	return plan.Validate(ctx, admission.RecordOf(a), false)
}

// Attributes returns the Attributes of the case's write, with a Reader that serves the case's stored objects.
func (c *Case) Attributes() (*admission.Attributes, error) {
	reader := &Reader{}
	for _, doc := range c.Stored {
		if err := reader.add(doc); err != nil {
			return nil, err
		}
	}
	return newAttributes(c.Operation, c.Resource, c.Object, c.Old, reader), nil
}

// Run returns the answer of a plugin to the case. A returned error means that the case itself is invalid; the plugin's error
// is part of the answer.
func (c *Case) Run(ctx context.Context, plugin admission.Plugin) (Answer, error) {
	a, err := c.Attributes()
	if err != nil {
		return Answer{}, err
	}
	if err := Run(ctx, plugin, a); err != nil {
		return Answer{Error: ErrorText(err)}, nil
	}
	return NewAnswer(a.Object, c.Object), nil
}

// NewAnswer returns the answer of a plugin that admitted a write. sent and object are the object before and after the plugin
// ran.
func NewAnswer(object, sent document.Value) Answer {
	if object, sent = Prune(object), Prune(sent); !document.Equal(object, sent) {
		return Answer{Admitted: object}
	}
	return Answer{}
}

// Equal reports whether two answers have the same error and equal admitted objects.
func (a Answer) Equal(b Answer) bool {
	return a.Error == b.Error && document.Equal(a.Admitted, b.Admitted)
}

// String describes the answer in test failures.
func (a Answer) String() string {
	return fmt.Sprintf("admitted: %s, error: %s", a.Admitted.JSON(), a.Error)
}

// ErrorText formats an API status as "CODE REASON: MESSAGE", followed by its causes as JSON. It returns the text of any
// other error unchanged.
func ErrorText(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err.Error()
	}
	s := status.Status()
	text := fmt.Sprintf("%d %s: %s", s.Code, s.Reason, s.Message)
	if s.Details != nil && len(s.Details.Causes) > 0 {
		causes, _ := json.Marshal(s.Details.Causes) // cannot fail: a StatusCause contains only strings
		text += " " + string(causes)
	}
	return text
}

// Prune returns a document without null fields, empty maps and empty lists, as Go types with omitempty are encoded.
func Prune(v document.Value) document.Value {
	switch v.Kind() {
	case document.Map:
		for name, value := range v.Fields() {
			if value = Prune(value); value.IsNull() || !value.IsScalar() && value.Len() == 0 {
				value = document.Value{}
			}
			v = v.With(name, value)
		}
	case document.List:
		items := make([]document.Value, v.Len())
		for i, item := range v.Items() {
			items[i] = Prune(item)
		}
		v = document.NewList(items...)
	}
	return v
}

// Replay runs a plugin on the cases in testdata/*.txt of the current package. It reports each case in which the plugin's
// answer differs from the recorded answer of kube-apiserver.
func Replay(t *testing.T, plugin admission.Plugin) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob(testdata/*.txt) = no files, error %v, want files", err)
	}
	for _, file := range files {
		cases, err := ReadCases(file)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range cases {
			got, err := c.Run(t.Context(), plugin)
			if err != nil {
				t.Errorf("%s: %s: %v", file, c.Name, err)
			} else if !got.Equal(c.Answer) {
				t.Errorf("%s: case %s: Run() = %s, want %s", file, c.Name, got, c.Answer)
			}
		}
	}
}
