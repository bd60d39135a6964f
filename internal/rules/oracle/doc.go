// Package oracle compares internal/rules with kube-apiserver itself.
package oracle

import (
	_ "k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
)
