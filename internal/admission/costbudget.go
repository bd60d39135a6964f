package admission

import (
	"fmt"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// The cost limits of a CostBudget, in the units of CEL's cost model. A cost of RuntimeCELCostBudget takes about one second.
const (
	// maxCost is the maximum cost of all CEL expressions that are evaluated for one write.
	maxCost = 5 * celconfig.RuntimeCELCostBudget
	// maxCostAfterDenial is the maximum cost after a policy has denied the write. Evaluations after a denial only add causes to
	// the error and warnings to the response.
	maxCostAfterDenial = celconfig.RuntimeCELCostBudget
)

// ErrCostBudget is returned by CostBudget.Grant if the budget is exhausted.
var ErrCostBudget = fmt.Errorf("CEL expressions of policies and matchConditions: expected a cost of at most %d per request, received more; "+
	"simplify the expressions, or bind the policies to fewer parameter objects", maxCost)

// CostBudget limits the CPU time of the CEL expressions that are evaluated for one write: matchConditions, and policies with all
// of their bindings and parameter objects, in both runs of the chain. The size of an object that a mutation changed counts as
// cost. Kubernetes' own budgets limit only the cost for one parameter object of one binding. The zero value is a budget of
// which nothing is spent. A CostBudget must not be used concurrently.
//
//	0 ≤ spent; a denial reduces the rest of the budget to maxCostAfterDenial
type CostBudget struct {
	spent  int64
	denied bool
	// reserved is the part of maxCost that is not available after a denial.
	reserved int64
}

// Grant returns the cost that one evaluation may have, which is at most limit. It returns ErrCostBudget if the budget is
// exhausted.
func (b *CostBudget) Grant(limit int64) (int64, error) {
	left := b.left()
	if left <= 0 {
		return 0, ErrCostBudget
	}
	return min(limit, left), nil
}

// Spend subtracts the cost of an evaluation from the budget. granted is the result of Grant, left the part that the
// evaluation did not use; it is negative if the evaluation exceeded granted.
func (b *CostBudget) Spend(granted, left int64) { b.spent += granted - max(left, 0) }

// Deny reduces the budget, because a policy has denied the write.
func (b *CostBudget) Deny() {
	if !b.denied {
		b.denied, b.reserved = true, max(b.left()-maxCostAfterDenial, 0)
	}
}

func (b *CostBudget) left() int64 { return maxCost - b.spent - b.reserved }
