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

// ruleset holds the CEL rules (x-kubernetes-validations) of a schema. Kubernetes' library compiles and evaluates them, which
// requires that objects are converted to Go maps.
type ruleset struct {
	schema   string // schema is the whole schema as JSON; cleared after compilation.
	compile  sync.Once
	err      error
	schemaGo *apistructural.Structural
	compiled *cel.Validator
}

func newRuleset(schema document.Value) *ruleset { return &ruleset{schema: schema.JSON()} }

// ready compiles the rules on first use, because compilation needs much time and memory. It reports whether there are rules to
// evaluate; there may be none, because the library ignores rules of schemas without a type.
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

// goSchema converts a schema from JSON to the Go type of apiextensions-apiserver.
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

// checkRules appends the errors of CEL rules to errs, the errors of the schema. If errs contains errors of types or sizes,
// checkRules does not evaluate the rules, and appends an error that states this. The warnings are rule violations that are
// ratcheted.
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

// check returns the errors and warnings of the rules. Evaluation is limited by kube-apiserver's CEL cost budget per object.
func (r *ruleset) check(obj, old document.Value) (field.ErrorList, []string) {
	if r.err != nil {
		return field.ErrorList{field.InternalError(nil, fmt.Errorf("compiling the CEL rules of the schema: %w", r.err))}, nil
	}
	var warnings warningRecorder
	ctx := warning.WithWarningRecorder(context.Background(), &warnings)
	value := toGoMap(obj)
	if old.IsAbsent() {
		errs, _ := r.compiled.Validate(ctx, nil, r.schemaGo, value, nil, celconfig.RuntimeCELCostBudget)
		return sortErrors(errs), warnings
	}
	was := toGoMap(old)
	related := common.NewCorrelatedObject(value, was, &model.Structural{Structural: r.schemaGo})
	errs, _ := r.compiled.Validate(ctx, nil, r.schemaGo, value, was, celconfig.RuntimeCELCostBudget, cel.WithRatcheting(related))
	return sortErrors(errs), warnings
}

// sortErrors sorts errors by field, because the order in which the library returns them is random.
func sortErrors(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return cmp.Compare(a.Field, b.Field) })
	return errs
}

// warningRecorder collects the warnings that Kubernetes' CEL library reports.
type warningRecorder []string

// AddWarning implements warning.Recorder.
func (s *warningRecorder) AddWarning(_, text string) { *s = append(*s, text) }
