// Package v1 is an API with one field of each sort, for tests of the generator.
//
// +groupName=shop.example.com
package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// +genclient
// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale

// Shop sells things.
type Shop struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// spec is the desired state.
	Spec ShopSpec `json:"spec,omitempty"`
	// +optional
	Status ShopStatus `json:"status,omitempty"`
}

// ShopList is not a kind with an apply configuration.
type ShopList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Shop `json:"items"`
}

// +genclient
// +genclient:nonNamespaced
// +genclient:noStatus

// Chain is a kind without namespaces and without an endpoint of its status.
type Chain struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            ShopStatus `json:"status,omitempty"`
}

// Size is a scalar with a name.
type Size string

// ShopSpec has scalars, lists and maps.
type ShopSpec struct {
	// size is defaulted.
	// +default="small"
	Size Size `json:"size,omitempty"`
	// replicas is a pointer.
	Replicas *int32              `json:"replicas"`
	Budget   resource.Quantity   `json:"budget,omitempty"`
	Stock    corev1.ResourceList `json:"stock,omitempty"`
	Limit    *intstr.IntOrString `json:"limit,omitempty"`
	Opened   metav1.Time         `json:"opened,omitempty"`
	CABundle []byte              `json:"caBundle,omitempty"`
	// +listType=map
	// +listMapKey=port
	// +listMapKey=protocol
	Ports []Port `json:"ports,omitempty"`
	// +patchStrategy=merge
	// +patchMergeKey=name
	Shelves []*Shelf `json:"shelves,omitempty"`
	// +listType=set
	Tags []string `json:"tags,omitempty"`
	// +listType=atomic
	Steps []Shelf    `json:"steps,omitempty"`
	Lists [][]string `json:"lists,omitempty"`
	// +mapType=atomic
	Selector map[string]string `json:"selector,omitempty"`
	Floors   map[Size]Shelf    `json:"floors,omitempty"`
	// +structType=atomic
	Owner  *Reference `json:"owner,omitempty"`
	Source `json:",inline"`
	Pod    *corev1.PodSpec `json:"pod,omitempty"`
	Secret string          `json:"-"`
	hidden string
}

// Port is an item with two keys.
type Port struct {
	Port int32 `json:"port"`
	// +default="TCP"
	Protocol string `json:"protocol,omitempty"`
}

// Shelf refers to itself.
type Shelf struct {
	Name  string `json:"name"`
	Below *Shelf `json:"below,omitempty"`
}

// Reference is atomic.
// +structType=atomic
type Reference struct {
	Name string `json:"name"`
}

// Source is inlined.
type Source struct {
	Git *string `json:"git,omitempty"`
}

// ShopStatus is the observed state.
type ShopStatus struct {
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

var _ = ShopSpec{}.hidden
