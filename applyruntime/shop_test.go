package applyruntime_test

import "github.com/cadastre/cadastre/applyruntime"

// shop is declared like a generated apply configuration, with one field of each kind.
type shop struct {
	TypeMeta    `json:""`
	*ObjectMeta `json:"metadata,omitempty"`
	Spec        *shopSpec           `json:"spec,omitempty"`
	Type        *string             `json:"type,omitempty"`
	Data        map[string][]byte   `json:"data,omitempty"`
	StringData  map[string]string   `json:"stringData,omitempty"`
	UnsetMarks  *applyruntime.Marks `json:"-"`
}

type TypeMeta struct {
	Kind       *string             `json:"kind,omitempty"`
	APIVersion *string             `json:"apiVersion,omitempty"`
	UnsetMarks *applyruntime.Marks `json:"-"`
}

type ObjectMeta struct {
	Name       *string             `json:"name,omitempty"`
	Labels     map[string]string   `json:"labels,omitempty"`
	Finalizers []string            `json:"finalizers,omitempty" merge:"set"`
	UnsetMarks *applyruntime.Marks `json:"-"`
}

type shopSpec struct {
	Size       *int32            `json:"size,omitempty"`
	Open       *bool             `json:"open,omitempty"`
	Ports      []port            `json:"ports,omitempty" merge:"map,port,protocol=TCP"`
	Steps      []step            `json:"steps,omitempty"`
	Selector   *selector         `json:"selector,omitempty"`
	Floors     map[string]step   `json:"floors,omitempty"`
	Exact      map[string]string `json:"exact,omitempty" merge:"atomic"`
	Free       map[string]any    `json:"free,omitempty"`
	Source     `json:""`
	UnsetMarks *applyruntime.Marks `json:"-"`
}

type port struct {
	Port       *int32              `json:"port,omitempty"`
	Protocol   *string             `json:"protocol,omitempty"`
	Name       *string             `json:"name,omitempty"`
	UnsetMarks *applyruntime.Marks `json:"-"`
}

type step struct {
	Command    *string             `json:"command,omitempty"`
	Next       *step               `json:"next,omitempty"`
	UnsetMarks *applyruntime.Marks `json:"-"`
}

type selector struct {
	Labels     map[string]string   `json:"labels,omitempty"`
	UnsetMarks *applyruntime.Marks `json:"-" merge:"atomic"`
}

type Source struct {
	Git        *string             `json:"git,omitempty"`
	Local      *string             `json:"local,omitempty"`
	UnsetMarks *applyruntime.Marks `json:"-"`
}

func (b shop) MarshalJSON() ([]byte, error)           { return applyruntime.Marshal(&b) }
func (b *shop) UnmarshalJSON(data []byte) error       { return applyruntime.Unmarshal(data, b) }
func (b shopSpec) MarshalJSON() ([]byte, error)       { return applyruntime.Marshal(&b) }
func (b *shopSpec) UnmarshalJSON(data []byte) error   { return applyruntime.Unmarshal(data, b) }
func (b ObjectMeta) MarshalJSON() ([]byte, error)     { return applyruntime.Marshal(&b) }
func (b *ObjectMeta) UnmarshalJSON(data []byte) error { return applyruntime.Unmarshal(data, b) }
func (b Source) MarshalJSON() ([]byte, error)         { return applyruntime.Marshal(&b) }
func (b *Source) UnmarshalJSON(data []byte) error     { return applyruntime.Unmarshal(data, b) }
func (b step) MarshalJSON() ([]byte, error)           { return applyruntime.Marshal(&b) }
func (b *step) UnmarshalJSON(data []byte) error       { return applyruntime.Unmarshal(data, b) }
func ptr[T any](v T) *T                               { return &v }
func unset(fields ...string) (m *applyruntime.Marks) {
	for _, name := range fields {
		m = m.WithField(name)
	}
	return m
}
