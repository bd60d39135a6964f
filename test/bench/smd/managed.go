package smd

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	operationApply  = "Apply"
	operationUpdate = "Update"
)

// managed contains the managedFields of an object as structured-merge-diff represents them: field sets by
// manager identifier.
type managed struct {
	fields fieldpath.ManagedFields
	times  map[string]string
}

// entry is a managed fields entry. Its Go fields are in the order of the JSON encoding.
type entry struct {
	APIVersion  string          `json:"apiVersion,omitempty"`
	FieldsType  string          `json:"fieldsType,omitempty"`
	FieldsV1    json.RawMessage `json:"fieldsV1,omitempty"`
	Manager     string          `json:"manager,omitempty"`
	Operation   string          `json:"operation,omitempty"`
	Subresource string          `json:"subresource,omitempty"`
	Time        string          `json:"time,omitempty"`
}

// identifier returns the manager identifier of e. It includes the apiVersion for operation Update, but not for Apply.
func identifier(e entry) (string, error) {
	e.FieldsType, e.FieldsV1, e.Time = "", nil, ""
	if e.Operation == operationApply {
		e.APIVersion = ""
	}
	id, err := json.Marshal(e)
	return string(id), err
}

func decodeManaged(entries []any) (*managed, error) {
	m := &managed{
		fields: make(fieldpath.ManagedFields, len(entries)),
		times:  make(map[string]string, len(entries)),
	}
	for i, raw := range entries {
		if err := m.decodeEntry(raw); err != nil {
			return nil, fmt.Errorf("managedFields[%d]: %w", i, err)
		}
	}
	return m, nil
}

func (m *managed) decodeEntry(raw any) error {
	fields, ok := raw.(map[string]any)
	if !ok {
		return fmt.Errorf("not an object")
	}
	text := func(name string) string { s, _ := fields[name].(string); return s }
	e := entry{
		APIVersion:  text("apiVersion"),
		FieldsType:  text("fieldsType"),
		Manager:     text("manager"),
		Operation:   text("operation"),
		Subresource: text("subresource"),
		Time:        text("time"),
	}
	switch {
	case e.Operation != operationApply && e.Operation != operationUpdate:
		return fmt.Errorf("operation must be Apply or Update")
	case e.APIVersion == "":
		return fmt.Errorf("apiVersion must not be empty")
	case e.FieldsType != "FieldsV1":
		return fmt.Errorf("invalid fieldsType %q", e.FieldsType)
	}
	id, err := identifier(e)
	if err != nil {
		return err
	}
	// The decoder of unstructured objects has decoded fieldsV1, but the field set is decoded from its bytes.
	wire, err := json.Marshal(fields["fieldsV1"])
	if err != nil {
		return err
	}
	set := fieldpath.NewSet()
	if err := set.FromJSON(bytes.NewReader(wire)); err != nil {
		return err
	}
	m.fields[id] = fieldpath.NewVersionedSet(set, fieldpath.APIVersion(e.APIVersion), e.Operation == operationApply)
	m.times[id] = e.Time
	return nil
}

// encode returns the managed fields entries in the order in which Kubernetes sorts them.
func (m *managed) encode() ([]entry, error) {
	entries := make([]entry, 0, len(m.fields))
	for id, versioned := range m.fields {
		var e entry
		if err := json.Unmarshal([]byte(id), &e); err != nil {
			return nil, err
		}
		wire, err := versioned.Set().ToJSON()
		if err != nil {
			return nil, err
		}
		e.APIVersion = string(versioned.APIVersion())
		e.FieldsType = "FieldsV1"
		e.FieldsV1 = wire
		e.Time = m.times[id]
		entries = append(entries, e)
	}
	slices.SortFunc(entries, compareEntries)
	return entries, nil
}

// compareEntries orders managed fields entries as Kubernetes does. It compares times as text, which is correct because
// all times are in UTC with seconds.
func compareEntries(a, b entry) int {
	for _, order := range []int{
		strings.Compare(a.Operation, b.Operation),
		strings.Compare(a.Time, b.Time),
		strings.Compare(a.Manager, b.Manager),
		strings.Compare(a.APIVersion, b.APIVersion),
	} {
		if order != 0 {
			return order
		}
	}
	return strings.Compare(a.Subresource, b.Subresource)
}

// rename removes the entry of oldID, and adds set to the entry of newID: it stores the union of set and the set that
// newID already has, if any.
func (m *managed) rename(oldID, newID string, set fieldpath.VersionedSet) {
	delete(m.fields, oldID)
	if previous, ok := m.fields[newID]; ok {
		set = fieldpath.NewVersionedSet(set.Set().Union(previous.Set()), set.APIVersion(), set.Applied())
	}
	m.fields[newID] = set
}

// strip removes the metadata paths that no field manager may own from the set of id, a manager identifier.
func (m *managed) strip(id string) {
	versioned, ok := m.fields[id]
	if !ok {
		return
	}
	set := versioned.Set().Difference(unowned)
	if set.Empty() {
		delete(m.fields, id)
		return
	}
	m.fields[id] = fieldpath.NewVersionedSet(set, versioned.APIVersion(), versioned.Applied())
}

var unowned = fieldpath.NewSet(
	fieldpath.MakePathOrDie("apiVersion"),
	fieldpath.MakePathOrDie("kind"),
	fieldpath.MakePathOrDie("metadata"),
	fieldpath.MakePathOrDie("metadata", "name"),
	fieldpath.MakePathOrDie("metadata", "namespace"),
	fieldpath.MakePathOrDie("metadata", "creationTimestamp"),
	fieldpath.MakePathOrDie("metadata", "selfLink"),
	fieldpath.MakePathOrDie("metadata", "uid"),
	fieldpath.MakePathOrDie("metadata", "clusterName"),
	fieldpath.MakePathOrDie("metadata", "generation"),
	fieldpath.MakePathOrDie("metadata", "managedFields"),
	fieldpath.MakePathOrDie("metadata", "resourceVersion"),
)
