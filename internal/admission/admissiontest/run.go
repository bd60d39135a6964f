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

// Run runs a plugin as the chain does: each phase, if the plugin handles the write in it.
func Run(ctx context.Context, plugin admission.Plugin, a *admission.Attributes) error {
	plan := admission.NewChain(plugin).Endpoint(a.Resource).Plan(a.Operation)
	if err := plan.Admit(ctx, admission.RecordOf(a)); err != nil {
		return err
	}
	return plan.Validate(ctx, admission.RecordOf(a), false)
}

// Attributes returns the Attributes of the case.
func (c *Case) Attributes() (*admission.Attributes, error) {
	reader := &Reader{}
	for _, doc := range c.Stored {
		if err := reader.add(doc); err != nil {
			return nil, err
		}
	}
	return newAttributes(c.Operation, c.Resource, c.Object, c.Old, reader), nil
}

// Run returns the answer of a plugin to the case.
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

// NewAnswer returns the answer of a plugin that made object of sent.
func NewAnswer(object, sent document.Value) Answer {
	if object, sent = Prune(object), Prune(sent); !document.Equal(object, sent) {
		return Answer{Admitted: object}
	}
	return Answer{}
}

// Equal reports whether two answers are the same.
func (a Answer) Equal(b Answer) bool {
	return a.Error == b.Error && document.Equal(a.Admitted, b.Admitted)
}

// String describes the answer in test failures.
func (a Answer) String() string {
	return fmt.Sprintf("admitted: %s, error: %s", a.Admitted.JSON(), a.Error)
}

// ErrorText returns the code, reason, message and causes of an API status, or else the text of an error.
func ErrorText(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err.Error()
	}
	s := status.Status()
	text := fmt.Sprintf("%d %s: %s", s.Code, s.Reason, s.Message)
	if s.Details != nil && len(s.Details.Causes) > 0 {
		causes, _ := json.Marshal(s.Details.Causes) // strings only
		text += " " + string(causes)
	}
	return text
}

// Prune returns a document without empty fields: nulls, empty maps and empty lists. Encoders of Go types leave them out.
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

// Replay runs a plugin on the cases in testdata/*.txt and compares its answers with the recorded ones.
func Replay(t *testing.T, plugin admission.Plugin) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("expected files testdata/*.txt, found none", err)
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
				t.Errorf("%s: %s: received %s; want %s", file, c.Name, got, c.Answer)
			}
		}
	}
}
