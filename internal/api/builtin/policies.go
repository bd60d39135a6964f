package builtin

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cadastre/cadastre/document"
)

// maxAuditExpressionLength is the maximum length of an audit annotation's valueExpression, in bytes.
const maxAuditExpressionLength = 5 * 1024

// checkParamVersion requires a valid apiVersion in the paramKind of a policy.
func checkParamVersion(c *checker, value, _ document.Value) {
	text := value.Text()
	group, version, has := strings.Cut(text, "/")
	switch {
	case text == "/":
		group, version = "", ""
	case strings.Contains(version, "/"):
		c.invalid(text, "unexpected GroupVersion string: "+text)
		return
	case !has:
		group, version = "", text
	}
	if group != "" {
		c.invalidJoined(group, formats["dns-subdomain"].check(group))
	}
	if version == "" {
		c.invalid(text, "version must be specified")
	} else {
		c.invalidJoined(version, validation.IsDNS1035Label(version))
	}
}

// invalidJoined adds one error whose detail joins the problems. It adds no error if there are no problems.
func (c *checker) invalidJoined(value string, problems []string) {
	if len(problems) > 0 {
		c.invalid(value, strings.Join(problems, ","))
	}
}

func checkParamKind(c *checker, value, _ document.Value) {
	if problems := validation.IsDNS1035Label(strings.ToLower(value.Text())); len(problems) > 0 {
		c.invalid(value.Text(), "may have mixed case, but should otherwise match: "+strings.Join(problems, ","))
	}
}

// checkUnusedPatch rejects the patch field of a mutation that its patchType does not select. Like kube-apiserver it reports
// the name of the field as its value.
func checkUnusedPatch(c *checker, value, _ document.Value) {
	if !isSetByClient(value) {
		return
	}
	patchType, name := c.scopes[len(c.scopes)-1].value.Get("patchType").Text(), "jsonPatch"
	if patchType == "JSONPatch" {
		name = "applyConfiguration"
	}
	c.invalid("{"+name+"}", "must not be specified when patchType is "+patchType)
}

// reservedInExpressions are the reserved words of CEL.
var reservedInExpressions = map[string]bool{
	"true": true, "false": true, "null": true, "in": true, "as": true, "break": true, "const": true,
	"continue": true, "else": true, "for": true, "function": true, "if": true, "import": true, "let": true,
	"loop": true, "package": true, "namespace": true, "return": true, "var": true, "void": true, "while": true,
}

// checkExpressionName requires that the name of a policy's variable is a CEL identifier.
func checkExpressionName(c *checker, value, _ document.Value) {
	if name := value.Text(); !isCIdentifier(name) || reservedInExpressions[name] {
		c.invalid(name, "must be a valid CEL identifier")
	}
}

// checkAuditAnnotation validates the key of a policy's audit annotation, which must be a qualified name together with the
// policy's name, and its valueExpression.
func checkAuditAnnotation(c *checker, annotation, _ document.Value) {
	policy, key := c.scopes[0].value.Lookup("metadata", "name").Text(), annotation.Get("key").Text()
	if policy == "" {
		c.invalid(key, "requires metadata.name be non-empty", "key")
	} else {
		c.invalidAll(policy+"/"+key, formats["qualified-name"].check(policy+"/"+key), "key")
	}
	switch n := len(strings.TrimSpace(annotation.Get("valueExpression").Text())); {
	case n == 0:
		c.required("valueExpression is not specified", "valueExpression")
	case n > maxAuditExpressionLength:
		c.required(fmt.Sprintf("must not exceed %d bytes in length", maxAuditExpressionLength), "valueExpression")
	default:
		checkAnnotationExpression(c, annotation.Get("valueExpression").Text())
	}
}
