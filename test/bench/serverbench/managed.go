package serverbench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// ManagedObjects is a namespace with a number of Deployments (Objects), each of which has a number of field managers
// (Managers).
type ManagedObjects struct{ Managers, Objects int }

// Listed is the number of objects in a list response.
const Listed = listed

// entry is a managed fields entry that is added to an object.
type entry struct{ name, operation, subresource, fieldsV1 string }

// extraManagers lists typical field managers of a Deployment in a cluster, in the order in which they are added to an
// object.
var extraManagers = []entry{
	{"kube-controller-manager", "Update", "status", `{"f:metadata":{"f:annotations":{"f:deployment.kubernetes.io/revision":{}}},` +
		`"f:status":{"f:availableReplicas":{},"f:conditions":{".":{},"k:{\"type\":\"Available\"}":{".":{},"f:lastTransitionTime":{},"f:lastUpdateTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}},` +
		`"k:{\"type\":\"Progressing\"}":{".":{},"f:lastTransitionTime":{},"f:lastUpdateTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}},` +
		`"f:observedGeneration":{},"f:readyReplicas":{},"f:replicas":{},"f:updatedReplicas":{}}}`},
	{"argocd-controller", "Apply", "", `{"f:metadata":{"f:annotations":{"f:ci.example.com/build":{},"f:ci.example.com/commit":{}},"f:labels":{"f:app":{},"f:app.kubernetes.io/part-of":{},"f:team":{}}},` +
		`"f:spec":{"f:minReadySeconds":{},"f:selector":{},"f:strategy":{"f:rollingUpdate":{"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},"f:template":{"f:metadata":{"f:labels":{"f:app":{},"f:tier":{}}},` +
		`"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:env":{"k:{\"name\":\"CART_URL\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"DB_PASSWORD\"}":{".":{},"f:name":{},"f:valueFrom":{"f:secretKeyRef":{}}},` +
		`"k:{\"name\":\"LOG_LEVEL\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:name":{},"f:ports":{"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},` +
		`"f:readinessProbe":{"f:httpGet":{"f:path":{},"f:port":{}},"f:periodSeconds":{}},"f:volumeMounts":{"k:{\"mountPath\":\"/etc/web\"}":{".":{},"f:mountPath":{},"f:name":{},"f:readOnly":{}}}}},` +
		`"f:terminationGracePeriodSeconds":{},"f:volumes":{"k:{\"name\":\"config\"}":{".":{},"f:configMap":{"f:name":{}},"f:name":{}}}}}}}`},
	{"mesh-injector", "Update", "", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"proxy\"}":{".":{},"f:args":{},"f:image":{},"f:name":{},` +
		`"f:ports":{".":{},"k:{\"containerPort\":15001,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}}}}}}}}`},
	{"horizontal-pod-autoscaler", "Update", "scale", `{"f:spec":{"f:replicas":{}}}`},
	{"vertical-autoscaler", "Apply", "", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"proxy\"}":{".":{},"f:name":{},"f:resources":{"f:limits":{"f:memory":{}},"f:requests":{"f:cpu":{},"f:memory":{}}}},` +
		`"k:{\"name\":\"web\"}":{".":{},"f:name":{},"f:resources":{"f:limits":{"f:memory":{}},"f:requests":{"f:cpu":{},"f:memory":{}}}}}}}}}`},
	{"policy-controller", "Apply", "", `{"f:metadata":{"f:labels":{"f:team":{}}},"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"proxy\"}":{".":{},"f:image":{},"f:name":{}},"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:name":{}}},` +
		`"f:terminationGracePeriodSeconds":{}}}}}`},
	{"config-reloader", "Update", "", `{"f:spec":{"f:template":{"f:metadata":{"f:labels":{"f:tier":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:env":{".":{},"k:{\"name\":\"CART_URL\"}":{".":{},"f:name":{},"f:value":{}},` +
		`"k:{\"name\":\"LOG_LEVEL\"}":{".":{},"f:name":{},"f:value":{}}},"f:volumeMounts":{".":{},"k:{\"mountPath\":\"/etc/web\"}":{".":{},"f:mountPath":{},"f:name":{},"f:readOnly":{}}}}},"f:volumes":{".":{},"k:{\"name\":\"config\"}":{".":{},"f:configMap":{".":{},"f:name":{}},"f:name":{}}}}}}}`},
}

// MaxManagers is the maximum number of field managers of an object.
var MaxManagers = 1 + len(extraManagers)

func (m ManagedObjects) key(number int) objectKey {
	return objectKey{fmt.Sprintf("bench-%d-of-%d", m.Objects, m.Managers), fmt.Sprintf("web-%04d", number%m.Objects)}
}

// fields is a JSON object whose values are not decoded.
type fields = map[string]json.RawMessage

// Prepare creates the objects. Each object is created by one field manager, and then updated with the managed fields
// entries of the extra managers, which servers accept from any client that may write the object.
func (m ManagedObjects) Prepare(ctx context.Context, s *Server) error {
	if err := s.makeNamespace(ctx, m.key(0)); err != nil {
		return err
	}
	return s.each(ctx, fillers, m.Objects, func(ctx context.Context, c *Client, i int) error {
		created, err := c.Do(ctx, m.key(i).create(0))
		if err != nil {
			return err
		}
		object, err := m.addManagers(created)
		if err != nil || object == nil {
			return err
		}
		body, err := c.Do(ctx, write("PUT", m.key(i).path()+"?fieldManager="+manager, jsonType, object))
		if err != nil {
			return err
		}
		return m.check(body)
	})
}

// addManagers returns the created object with the managed fields entries of the extra managers. It returns nil if Managers is
// 1, because then there is no entry to add.
func (m ManagedObjects) addManagers(created []byte) ([]byte, error) {
	if m.Managers == 1 {
		return nil, m.check(created)
	}
	var object, metadata fields
	var entries []json.RawMessage
	if err := decode(created, &object, "metadata", &metadata, "managedFields", &entries); err != nil {
		return nil, err
	}
	for _, other := range extraManagers[:m.Managers-1] {
		entries = append(entries, other.json())
	}
	if err := encode(metadata, "managedFields", entries); err != nil {
		return nil, err
	}
	if err := encode(object, "metadata", metadata); err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

func (e entry) json() json.RawMessage {
	subresource := ""
	if e.subresource != "" {
		subresource = fmt.Sprintf(`,"subresource":%q`, e.subresource)
	}
	return fmt.Appendf(nil, `{"manager":%q,"operation":%q,"apiVersion":"apps/v1","time":"2026-03-02T09:00:00Z","fieldsType":"FieldsV1","fieldsV1":%s%s}`,
		e.name, e.operation, e.fieldsV1, subresource)
}

// check returns an error if the response does not contain the expected number of managed fields entries.
func (m ManagedObjects) check(body []byte) error {
	var object, metadata fields
	var entries []json.RawMessage
	if err := decode(body, &object, "metadata", &metadata, "managedFields", &entries); err != nil {
		return err
	}
	if len(entries) != m.Managers {
		return fmt.Errorf("metadata.managedFields: expected %[2]d managers, received %[1]d: %[3]s", len(entries), m.Managers, metadata["managedFields"])
	}
	return nil
}

// decode decodes text into object, its field metadataField into metadata, and the field entriesField of metadata into
// entries.
func decode(text []byte, object *fields, metadataField string, metadata *fields, entriesField string, entries *[]json.RawMessage) error {
	if err := json.Unmarshal(text, object); err != nil {
		return err
	}
	if err := json.Unmarshal((*object)[metadataField], metadata); err != nil {
		return err
	}
	return json.Unmarshal((*metadata)[entriesField], entries)
}

func encode(to fields, name string, value any) (err error) {
	to[name], err = json.Marshal(value)
	return err
}

// change returns a request that changes an annotation of an object. The field manager that created the object sends the
// request, so the set of field managers remains the same.
func (m ManagedObjects) change(number, version int) Request {
	key := m.key(number)
	body := fmt.Appendf(nil, `{"metadata":{"annotations":{"ci.example.com/build":"%d"}}}`, version)
	return write("PATCH", key.path()+"?fieldManager="+manager, "application/merge-patch+json", body)
}

// get returns the request for one object.
func (m ManagedObjects) get(number int, format Format) Request {
	r := m.key(number).get()
	r.Accept = format.Accept()
	return r
}

// list returns the request for all objects of the namespace.
func (m ManagedObjects) list(format Format) Request {
	r := m.key(0).list()
	r.Accept = format.Accept()
	return r
}

// Get returns a case that reads one object per operation.
func (m ManagedObjects) Get(format Format) Case {
	return Case{Name: "get", do: do(func(w *worker) Request { return m.get(w.number*97+w.turn*13, format) })}
}

// List returns a case that lists the namespace.
func (m ManagedObjects) List(format Format) Case {
	return Case{Name: "list", do: do(func(*worker) Request { return m.list(format) })}
}

// Responses returns the responses of s to a get and to a list, in the given format.
func (m ManagedObjects) Responses(ctx context.Context, s *Server, format Format) (object, list []byte, err error) {
	c := s.NewClient()
	defer c.Close()
	body, err := c.Do(ctx, m.get(0, format))
	if err != nil {
		return nil, nil, err
	}
	object = bytes.Clone(body)
	body, err = c.Do(ctx, m.list(format))
	return object, slices.Clone(body), err
}
