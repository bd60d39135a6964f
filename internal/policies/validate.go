package policies

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/cadastre/cadastre/internal/admit"
)

// Validate asks the policies about a write. All are asked, so that the client hears all warnings.
func (p *Policies) Validate(ctx context.Context, q *admit.Question) error {
	now := p.now.Load()
	if now == nil || q.Kind.OnlyCreate {
		return nil
	}
	var first *denial
	for _, one := range *now {
		denials, err := p.ask(ctx, one, q)
		if err != nil {
			return err
		}
		if first == nil && len(denials) > 0 {
			first = &denials[0]
		}
	}
	if first == nil {
		return nil
	}
	return first.error(q)
}

// ask asks one policy. What is wrong with it, or with a binding, refuses writes as well, unless that is ignored.
func (p *Policies) ask(ctx context.Context, one *policy, q *admit.Question) (denials []denial, err error) {
	form, ok, err := one.criteria.Match(ctx, q, p.Namespaces)
	if err != nil {
		return one.misconfigured("", err), nil
	}
	if !ok {
		return nil, nil
	}
	kind, err := p.paramKind(one)
	if err != nil {
		return one.misconfigured("", err), nil
	}
	var at *admission.VersionedAttributes
	for _, b := range one.bindings {
		if b.criteria != nil {
			if _, ok, err := b.criteria.Match(ctx, q, p.Namespaces); err != nil {
				denials = append(denials, one.misconfigured(b.name, err)...)
				continue
			} else if !ok {
				continue
			}
		}
		params, err := p.collect(ctx, kind, b, q.Namespace)
		if err == nil && at == nil && len(params) > 0 {
			if at, err = q.Attributes(form); err != nil {
				err = fmt.Errorf("failed to convert object version: %w", err)
			}
		}
		if err != nil {
			denials = append(denials, one.misconfigured(b.name, err)...)
			continue
		}
		namespace, err := p.namespaceOf(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, param := range params {
			for _, d := range p.evaluate(ctx, one, newSample(at, form, param, namespace)) {
				if p.act(q, one, b, &d) {
					denials = append(denials, denial{d, one.name, b.name})
				}
			}
		}
	}
	return denials, nil
}

// misconfigured is the denial for a policy or binding that is not right.
func (one *policy) misconfigured(binding string, err error) []denial {
	if one.ignores {
		return nil
	}
	what := "policy"
	if binding != "" {
		what = "binding"
	}
	return []denial{{decision{denies: true, message: fmt.Sprintf("failed to configure %s: %v", what, err)}, one.name, binding}}
}

// namespaceOf is the namespace of what is asked about; nil if it has none.
func (p *Policies) namespaceOf(ctx context.Context, q *admit.Question) (*corev1.Namespace, error) {
	if q.Namespace == "" || q.IsNamespace() {
		return nil, nil
	}
	doc, err := p.Namespaces(ctx, q.Namespace)
	if err != nil {
		return nil, err
	}
	if doc.IsAbsent() {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, q.Namespace)
	}
	namespace := &corev1.Namespace{}
	if err := json.Unmarshal(doc.AppendJSON(nil), namespace); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return namespace, nil
}
