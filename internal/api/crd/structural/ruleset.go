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

// ruleset holds the CEL rules of a schema. Kubernetes' library compiles and evaluates them, which requires converting
// objects to Go maps.
type ruleset struct {
	schema   string // JSON; cleared after compilation
	compile  sync.Once
	err      error
	schemaGo *apistructural.Structural
	compiled *cel.Validator
}

func newRuleset(schema document.Value) *ruleset { return &ruleset{schema: schema.JSON()} }

// ready compiles the rules on first use, because the library needs much time and memory. It reports whether there are
// any: the library ignores rules of values without a type.
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

// goSchema returns a schema as the library's Go type.
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

// checkRules appends the errors of rules. Rules are not evaluated if the types or sizes of values are wrong.
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

// check evaluates the rules within kube-apiserver's cost budget for an object.
func (r *ruleset) check(obj, old document.Value) (field.ErrorList, []string) {
	if r.err != nil {
		return field.ErrorList{field.InternalError(nil, fmt.Errorf("compiling the CEL rules of the schema: %w", r.err))}, nil
	}
	var warnings warningRecorder
	ctx := warning.WithWarningRecorder(context.Background(), &warnings)
	now := toGoMap(obj)
	if old.IsAbsent() {
		errs, _ := r.compiled.Validate(ctx, nil, r.schemaGo, now, nil, celconfig.RuntimeCELCostBudget)
		return sortErrors(errs), warnings
	}
	was := toGoMap(old)
	related := common.NewCorrelatedObject(now, was, &model.Structural{Structural: r.schemaGo})
	errs, _ := r.compiled.Validate(ctx, nil, r.schemaGo, now, was, celconfig.RuntimeCELCostBudget, cel.WithRatcheting(related))
	return sortErrors(errs), warnings
}

// sortErrors sorts errors by field: the library's order is random.
func sortErrors(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return cmp.Compare(a.Field, b.Field) })
	return errs
}

// warningRecorder collects warnings.
type warningRecorder []string

// AddWarning implements warning.Recorder.
func (s *warningRecorder) AddWarning(_, text string) { *s = append(*s, text) }
