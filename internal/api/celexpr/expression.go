package celexpr

import (
	"slices"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
)

// A Role is what an expression is for. It says which values it may have.
type Role uint8

// The roles.
const (
	Condition  Role = iota // true or false
	Message                // a text
	Annotation             // a text or nothing
	Variable               // anything
	ApplyPatch             // a part of an object, to be applied
	JSONPatch              // operations
)

var roleTypes = map[Role][]*celgo.Type{
	Condition:  {celgo.BoolType},
	Message:    {celgo.StringType},
	Annotation: {celgo.StringType, celgo.NullType},
	Variable:   {celgo.AnyType, celgo.DynType},
	ApplyPatch: {types.NewObjectType("Object")},
	JSONPatch:  {celgo.ListType(types.NewObjectType("JSONPatch"))},
}

// An Expression is a text with a role, and a name if it is a variable.
type Expression struct {
	Name, Text string
	Role       Role
}

// GetExpression implements cel.ExpressionAccessor.
func (e *Expression) GetExpression() string { return e.Text }

// ReturnTypes implements cel.ExpressionAccessor.
func (e *Expression) ReturnTypes() []*celgo.Type { return roleTypes[e.Role] }

// GetName implements cel.NamedExpressionAccessor.
func (e *Expression) GetName() string { return e.Name }

// Uses are what expressions with a role may use, in a policy with parameters or without.
func (r Role) Uses(params bool) cel.OptionalVariableDeclarations {
	return cel.OptionalVariableDeclarations{HasParams: params, HasAuthorizer: r != Message, HasPatchTypes: r == ApplyPatch || r == JSONPatch}
}

// List returns expressions of one role. Texts that are "" are nil where that is allowed.
func List(role Role, texts []string) []cel.ExpressionAccessor {
	all := make([]cel.ExpressionAccessor, 0, len(texts))
	for _, text := range texts {
		if text == "" && role == Message {
			all = append(all, nil) // the message is said without an expression
			continue
		}
		all = append(all, &Expression{Text: text, Role: role})
	}
	return slices.Clip(all)
}
