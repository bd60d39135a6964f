// Package authutil grants permissions to the users of integration tests.
package authutil

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// GrantUserAuthorization grants the permissions of a rule to a user until the test ends.
func GrantUserAuthorization(t *testing.T, ctx context.Context, admin kubernetes.Interface, user string, rule rbacv1.PolicyRule) {
	t.Helper()
	grant(t, ctx, admin, rbacv1.Subject{Kind: rbacv1.UserKind, Name: user}, rule)
}

// grant needs not wait: Cadastre acknowledges a role after its authorizer has observed it.
func grant(t *testing.T, ctx context.Context, admin kubernetes.Interface, subject rbacv1.Subject, rule rbacv1.PolicyRule) {
	t.Helper()
	role, err := admin.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "granted-"}, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding, err := admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "granted-"}, Subjects: []rbacv1.Subject{subject},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = admin.RbacV1().ClusterRoleBindings().Delete(ctx, binding.Name, metav1.DeleteOptions{})
		_ = admin.RbacV1().ClusterRoles().Delete(ctx, role.Name, metav1.DeleteOptions{})
	})
}

// ServiceAccountClient returns a function that returns a client of a service account with the permissions of rules.
func ServiceAccountClient(namespace, name string) func(*testing.T, *kubernetes.Clientset, *rest.Config, []rbacv1.PolicyRule) *kubernetes.Clientset {
	return func(t *testing.T, admin *kubernetes.Clientset, config *rest.Config, rules []rbacv1.PolicyRule) *kubernetes.Clientset {
		t.Helper()
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := admin.CoreV1().ServiceAccounts(namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
		for _, rule := range rules {
			grant(t, context.Background(), admin, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}, rule)
		}
		config = rest.CopyConfig(config)
		config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + name}
		return kubernetes.NewForConfigOrDie(config)
	}
}
