package structural

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apistructural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"

	"github.com/cadastre/cadastre/document"
)

// ruleset is the rules in CEL of a schema. They are Kubernetes' own: its library compiles and follows them. That needs
// Go's maps, which are made of an object only here.
type ruleset struct {
	schema   string // as JSON, until the rules are compiled
	compile  sync.Once
	err      error
	schemaGo *apistructural.Structural
	compiled *cel.Validator
}

func newRuleset(schema document.Value) *ruleset { return &ruleset{schema: schema.JSON()} }

// ready compiles the rules when they are first needed: the library takes its time and memory. It tells whether there
// are any: the library leaves out rules about values that have no type.
func (r *ruleset) ready() bool {
	r.compile.Do(func() {
		r.schemaGo, r.err = goSchema(r.schema)
		r.schema = ""
		if r.err == nil {
			r.compiled = cel.NewValidator(r.schemaGo, true, celconfig.PerCallLimit)
		}
	})
	return r.compiled != nil || r.err != nil
}

// goSchema returns a schema in the form that the library wants.
func goSchema(text string) (*apistructural.Structural, error) {
	var v1 apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal([]byte(text), &v1); err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil); err != nil {
		return nil, err
	}
	return apistructural.NewStructural(&internal)
}

// checkRules adds what the rules find to what was found before. If types or sizes are wrong, they are not asked.
func (t *Type) checkRules(errs field.ErrorList, obj, old document.Value) (field.ErrorList, []string) {
	if t.rules == nil || !t.rules.ready() {
		return errs, nil
	}
	if slices.ContainsFunc(errs, isBlocking) {
		return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")), nil
	}
	found, warnings := t.rules.check(obj, old)
	return append(errs, found...), warnings
}

// check follows the rules, within the limits that kube-apiserver has for an object.
func (r *ruleset) check(obj, old document.Value) (field.ErrorList, []string) {
	if r.err != nil {
		return field.ErrorList{field.InternalError(nil, fmt.Errorf("the rules of the schema can not be compiled: %w", r.err))}, nil
	}
	var said sayings
	ctx := warning.WithWarningRecorder(context.Background(), &said)
	now := asGo(obj)
	if old.IsAbsent() {
		errs, _ := r.compiled.Validate(ctx, nil, r.schemaGo, now, nil, celconfig.RuntimeCELCostBudget)
		return ordered(errs), said
	}
	was := asGo(old)
	related := common.NewCorrelatedObject(now, was, &model.Structural{Structural: r.schemaGo})
	errs, _ := r.compiled.Validate(ctx, nil, r.schemaGo, now, was, celconfig.RuntimeCELCostBudget, cel.WithRatcheting(related))
	return ordered(errs), said
}

// ordered sorts errors by place: the library has them in any order.
func ordered(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return cmp.Compare(a.Field, b.Field) })
	return errs
}

// sayings collects warnings.
type sayings []string

// AddWarning is called by the library.
func (s *sayings) AddWarning(_, text string) { *s = append(*s, text) }
