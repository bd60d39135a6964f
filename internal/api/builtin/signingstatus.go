package builtin

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/document"
)

// checkSigningConditions validates the conditions of a CertificateSigningRequest. Like kube-apiserver, it accepts most
// violations that the live object already contains.
func checkSigningConditions(c *checker, conditions, old document.Value) {
	decided := hasType(old, "Approved") && hasType(old, "Denied")
	twice, unnamed := hasDuplicateTypes(old), hasType(old, "")
	seen := map[string]bool{}
	for i, condition := range conditions.Items() {
		name, status := condition.Get("type").Text(), condition.Get("status").Text()
		c.pushItem(i)
		if name == "" && !unnamed {
			c.required("", "type")
		}
		allowed := []string{"False", "True", "Unknown"}
		if slices.Contains([]string{"Approved", "Denied", "Failed"}, name) {
			allowed = []string{"True"}
		}
		c.push("status")
		c.checkRequiredEnum(status, allowed...)
		c.pop()
		c.pop()
		if !decided && (name == "Approved" && seen["Denied"] || name == "Denied" && seen["Approved"]) {
			c.invalidBy(originZeroOrOne, name, "Approved and Denied conditions are mutually exclusive")
		}
		if seen[name] && !twice {
			c.pushItem(i)
			c.duplicate(name, "type")
			c.pop()
		}
		seen[name] = true
	}
}

func hasType(conditions document.Value, name string) bool { return countType(conditions, name) > 0 }

func countType(conditions document.Value, name string) (n int) {
	for _, condition := range conditions.Items() {
		if condition.Get("type").Text() == name {
			n++
		}
	}
	return n
}

func hasDuplicateTypes(conditions document.Value) bool {
	types := sortedFieldTexts(conditions, "type")
	return len(slices.Compact(types)) < conditions.Len()
}

// checkCertificate requires that status.certificate of a CertificateSigningRequest is valid if an update changes it. An
// update of an invalid certificate may leave it invalid.
func checkCertificate(c *checker, value, old document.Value) {
	if value.Text() == old.Text() || certificateProblem(old.Text()) != nil {
		return
	}
	if err := certificateProblem(value.Text()); err != nil {
		c.invalid("<certificate data>", err.Error())
	}
}

func certificateProblem(text string) error {
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(content) == 0 {
		return err
	}
	n := 0
	for {
		var block *pem.Block
		if block, content = pem.Decode(content); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		}
		if len(block.Headers) > 0 {
			return errors.New("no PEM block headers are permitted")
		}
		n++
		certificates, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(certificates) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
	}
	if n == 0 {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}

// checkKeptDecisions rejects updates of a CertificateSigningRequest that remove an Approved, Denied or Failed condition.
func checkKeptDecisions(c *checker, request, oldRequest document.Value) {
	value, old := request.Lookup("status", "conditions"), oldRequest.Lookup("status", "conditions")
	for _, name := range [...]string{"Approved", "Denied", "Failed"} {
		if countType(value, name) < countType(old, name) {
			c.checkFrozenDecision("remove", name)
		}
	}
}

// checkFrozenDecisions rejects updates of a CertificateSigningRequest that add or change an Approved or Denied condition, which
// only the subresource approval may set.
func checkFrozenDecisions(c *checker, request, oldRequest document.Value) {
	value, old := request.Lookup("status", "conditions"), oldRequest.Lookup("status", "conditions")
	t, _ := c.kind.Lookup("status", "conditions")
	for _, name := range [...]string{"Approved", "Denied"} {
		switch current, oldValue := conditionsOfType(value, name), conditionsOfType(old, name); {
		case current.Len() > oldValue.Len():
			c.checkFrozenDecision("add", name)
		case current.Len() == oldValue.Len() && !equalLists(t, current, oldValue):
			c.checkFrozenDecision("modify", name)
		}
	}
}

func (c *checker) checkFrozenDecision(verb, name string) {
	c.forbidden(fmt.Sprintf("updates may not %s a condition of type %q", verb, name), "status", "conditions")
}

// conditionsOfType returns the items of conditions whose type is name, as a list.
func conditionsOfType(conditions document.Value, name string) document.Value {
	var found []document.Value
	for _, condition := range conditions.Items() {
		if condition.Get("type").Text() == name {
			found = append(found, condition)
		}
	}
	return document.NewList(found...)
}

func checkCertificateFrozen(c *checker, request, oldRequest document.Value) {
	value, old := request.Lookup("status", "certificate"), oldRequest.Lookup("status", "certificate")
	if old.Text() != "" && value.Text() != old.Text() {
		c.forbidden("updates may not modify existing certificate content", "status", "certificate")
	}
}
