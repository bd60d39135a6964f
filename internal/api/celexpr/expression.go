package celexpr

import (
	"slices"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
)

// Role is the purpose of an expression, which determines its result type.
type Role uint8

// The roles of expressions, with their result types.
const (
	Condition  Role = iota // Condition expressions return a bool.
	Message                // Message expressions return a string.
	Annotation             // Annotation expressions return a string or null.
	Variable               // Variable expressions return a value of any type.
	ApplyPatch             // ApplyPatch expressions return an Object, which is an apply configuration.
	JSONPatch              // JSONPatch expressions return a list of JSONPatch operations.
)

var roleTypes = map[Role][]*celgo.Type{
	Condition:  {celgo.BoolType},
	Message:    {celgo.StringType},
	Annotation: {celgo.StringType, celgo.NullType},
	Variable:   {celgo.AnyType, celgo.DynType},
	ApplyPatch: {types.NewObjectType("Object")},
	JSONPatch:  {celgo.ListType(types.NewObjectType("JSONPatch"))},
}

// Expression is the source text of a CEL expression with its role. Name is the variable's name if the role is Variable.
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

// VariableDeclarations returns the optional variables (params, authorizer) and types (for patches) that expressions of the role
// can use. params is true if the policy has parameters.
func (r Role) VariableDeclarations(params bool) cel.OptionalVariableDeclarations {
	return cel.OptionalVariableDeclarations{HasParams: params, HasAuthorizer: r != Message, HasPatchTypes: r == ApplyPatch || r == JSONPatch}
}

// Expressions returns the expressions of one role with the given source texts. An empty text of the role Message yields
// nil, because message expressions are optional.
func Expressions(role Role, texts []string) []cel.ExpressionAccessor {
	all := make([]cel.ExpressionAccessor, 0, len(texts))
	for _, text := range texts {
		if text == "" && role == Message {
			all = append(all, nil) // without a message expression, the policy's static message is used
			continue
		}
		all = append(all, &Expression{Text: text, Role: role})
	}
	return slices.Clip(all)
}
