package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	authnv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/yaml"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/registry"
)

// auditRecord is the audit event of a request. It is nil if the policy does not select the request; then its methods do
// nothing.
type auditRecord struct {
	h      *Handler
	config audit.RequestAuditConfig
	event  auditinternal.Event
	// hasStarted is true for requests that get an event when the response starts: watches, and requests whose authentication
	// failed. Those that failed get no event when the response is complete.
	hasStarted, isRejected bool
	// body is the response body, if its object is recorded.
	body *bytes.Buffer
}

// The keys of annotations.
const (
	decisionAnnotation = "authorization.k8s.io/decision"
	reasonAnnotation   = "authorization.k8s.io/reason"
)

// maxUserAgent is the maximum length of a recorded User-Agent, in bytes.
const maxUserAgent = 1024

// auditRequests writes the events of a request when the response is complete, or the request has panicked. The event of the
// stage RequestReceived is written after authentication.
func auditRequests(q *request, next handler) error {
	id := q.r.Header.Get(auditinternal.HeaderAuditID)
	if id == "" && q.h.Audit == nil && !q.h.logsAccess {
		return next(q)
	}
	if id == "" {
		id = uuid.NewString()
	}
	q.w.Header()[auditinternal.HeaderAuditID] = []string{id}
	if q.h.Audit == nil {
		return next(q)
	}
	q.auditID = types.UID(id)
	defer q.completeAudit()
	return next(q)
}

// responseAuditID returns the Audit-Id of the response; "" if it has none.
func (q *request) responseAuditID() string {
	for name, ids := range q.w.Header() { // the name is not in the canonical spelling, which Get requires
		if name == auditinternal.HeaderAuditID && len(ids) > 0 {
			return ids[0]
		}
	}
	return ""
}

// startAudit evaluates the policy and writes the event of the stage RequestReceived. rejection is the reason why authentication
// failed, "" if it succeeded. It returns a 500 if the event cannot be written and the configuration requires that.
func (q *request) startAudit(rejection string) error {
	if q.h.Audit == nil {
		return nil
	}
	attributes := q.attributes()
	a := &auditRecord{h: q.h, config: q.h.Audit.Evaluate(attributes), hasStarted: q.target.verb == "watch", isRejected: rejection != ""}
	if a.config.Level == auditinternal.LevelNone {
		return nil
	}
	a.event = auditinternal.Event{
		Level: a.config.Level, AuditID: q.auditID, Verb: q.target.verb, RequestURI: q.r.URL.RequestURI(), UserAgent: q.r.UserAgent(),
		RequestReceivedTimestamp: metav1.NewMicroTime(q.start), User: auditUser(q.user),
	}
	if agent := a.event.UserAgent; len(agent) > maxUserAgent {
		a.event.UserAgent = agent[:maxUserAgent] + "...TRUNCATED"
	}
	for _, ip := range utilnet.SourceIPs(q.r) {
		a.event.SourceIPs = append(a.event.SourceIPs, ip.String())
	}
	if t := &q.target; t.isResource() {
		a.event.ObjectRef = &auditinternal.ObjectReference{
			Namespace: attributes.Namespace, Name: attributes.Name, Resource: t.resource, Subresource: t.subresource, APIGroup: t.group, APIVersion: t.version,
		}
	}
	q.audit, q.w.audit = a, a
	if a.isRejected {
		a.hasStarted = true
		a.event.ResponseStatus = &metav1.Status{Message: rejection}
		return nil
	}
	if !a.Level().Less(auditinternal.LevelRequestResponse) && !a.hasStarted {
		a.body = &bytes.Buffer{}
	}
	if !a.write(auditinternal.StageRequestReceived) {
		return apierrors.NewInternalError(errors.New("failed to store audit event"))
	}
	return nil
}

// Level returns the level at which the request is recorded, LevelNone if a is nil.
func (a *auditRecord) Level() auditinternal.Level {
	if a == nil {
		return auditinternal.LevelNone
	}
	return a.config.Level
}

// auditUser returns the user of an event; the zero value if u is nil.
func auditUser(u user.Info) authnv1.UserInfo {
	if u == nil {
		return authnv1.UserInfo{}
	}
	info := authnv1.UserInfo{Username: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: map[string]authnv1.ExtraValue{}}
	for key, values := range u.GetExtra() {
		info.Extra[key] = values
	}
	return info
}

// write writes the event of a stage, unless the policy omits the stage.
func (a *auditRecord) write(stage auditinternal.Stage) bool {
	for _, omitted := range a.config.OmitStages {
		if stage == omitted {
			return true
		}
	}
	a.event.Stage = stage
	a.event.StageTimestamp = metav1.NewMicroTime(time.Now())
	if stage == auditinternal.StageRequestReceived {
		a.event.StageTimestamp = a.event.RequestReceivedTimestamp
	}
	return a.h.Audit.Write(&a.event)
}

// completeAudit writes the last event of a request. It must be called by defer, because it recovers from a panic, and panics
// again.
func (q *request) completeAudit() {
	a := q.audit
	if a == nil {
		return
	}
	if reason := recover(); reason != nil {
		defer panic(reason)
		a.event.ResponseStatus = &metav1.Status{
			Code: http.StatusInternalServerError, Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError,
			Message: fmt.Sprintf("APIServer panic'd: %v", reason),
		}
		a.write(auditinternal.StagePanic)
		return
	}
	if a.isRejected {
		return
	}
	if a.event.ResponseStatus == nil {
		a.event.ResponseStatus = &metav1.Status{Code: http.StatusOK, Status: metav1.StatusSuccess, Message: "Connection closed early"}
		if a.hasStarted {
			a.write(auditinternal.StageResponseStarted)
		}
	}
	a.setResponseObject(q.w.Header())
	a.write(auditinternal.StageResponseComplete)
}

// start records the status code of the response, and writes the event of the stage ResponseStarted for requests that have one.
func (a *auditRecord) start(code int) {
	if a == nil {
		return
	}
	if a.event.ResponseStatus == nil {
		a.event.ResponseStatus = &metav1.Status{}
	}
	a.event.ResponseStatus.Code = int32(code)
	if a.hasStarted {
		a.write(auditinternal.StageResponseStarted)
	}
}

// annotate records an annotation.
func (a *auditRecord) annotate(key, value string) {
	if a == nil {
		return
	}
	if a.event.Annotations == nil {
		a.event.Annotations = map[string]string{}
	}
	a.event.Annotations[key] = value
}

// setImpersonated records the user that the request impersonates, and the constraint under which it may do so, if there is one.
func (a *auditRecord) setImpersonated(u user.Info, constraint string) {
	if a == nil {
		return
	}
	info := auditUser(u)
	a.event.ImpersonatedUser = &info
	if constraint != "" {
		a.event.AuthenticationMetadata = &auditinternal.AuthenticationMetadata{ImpersonationConstraint: constraint}
	}
}

// setStatus records the Status that is the response.
func (a *auditRecord) setStatus(s metav1.Status) {
	if a != nil {
		a.event.ResponseStatus = &metav1.Status{Status: s.Status, Message: s.Message, Reason: s.Reason, Details: s.Details, Code: s.Code}
	}
}

// setRequestObject records a body: at the level Metadata the parts of its metadata that the path does not contain, at higher
// levels the whole body. kind is that of a body without kind. Bodies that are not valid are not recorded.
func (a *auditRecord) setRequestObject(body registry.Body, kind schema.GroupVersionKind) {
	text := []byte(body.Text)
	if a == nil || len(text) == 0 {
		return
	}
	if body.YAML && !json.Valid(text) {
		var err error
		if text, err = yaml.YAMLToJSON(text); err != nil {
			return
		}
	}
	if kind.Empty() { // a patch
		if !a.Level().Less(auditinternal.LevelRequest) && json.Valid(text) {
			a.event.RequestObject = &runtime.Unknown{Raw: text, ContentType: runtime.ContentTypeJSON}
		}
		return
	}
	object, err := document.ParseJSON(string(text))
	if err != nil || object.Kind() != document.Map {
		return
	}
	a.refer(object)
	if a.Level().Less(auditinternal.LevelRequest) {
		return
	}
	if object.Get("kind").Text() == "" {
		version, kind := kind.ToAPIVersionAndKind()
		object = object.With("kind", document.NewString(kind)).With("apiVersion", document.NewString(version))
	}
	a.event.RequestObject = a.raw(object)
}

// recordBody records the body of a request.
func (q *request) recordBody(body registry.Body) {
	kind := schema.GroupVersionKind{}
	if q.r.Method != http.MethodPatch {
		kind = q.defaultBodyKind()
	}
	q.audit.setRequestObject(body, kind)
}

// refer completes the reference of the event with the metadata of the body.
func (a *auditRecord) refer(object document.Value) {
	ref := a.event.ObjectRef
	if ref == nil {
		return
	}
	metadata := object.Get("metadata")
	for _, part := range []struct {
		to   *string
		name string
	}{{&ref.Namespace, "namespace"}, {&ref.Name, "name"}, {(*string)(&ref.UID), "uid"}, {&ref.ResourceVersion, "resourceVersion"}} {
		if *part.to == "" {
			*part.to = metadata.Get(part.name).Text()
		}
	}
}

// raw returns the JSON of an object, without managedFields if the policy omits them.
func (a *auditRecord) raw(object document.Value) *runtime.Unknown {
	if a.config.OmitManagedFields {
		object = withoutManagedFields(object)
	}
	return &runtime.Unknown{Raw: object.AppendJSON(nil), ContentType: runtime.ContentTypeJSON}
}

// withoutManagedFields returns an object, a list or a Table without metadata.managedFields.
func withoutManagedFields(object document.Value) document.Value {
	if metadata := object.Get("metadata"); !metadata.Get("managedFields").IsAbsent() {
		object = object.With("metadata", metadata.Without("managedFields"))
	}
	if items := object.Get("items"); items.Kind() == document.List {
		object = object.With("items", mapItems(items, withoutManagedFields))
	}
	if rows := object.Get("rows"); rows.Kind() == document.List && object.Get("kind").Text() == "Table" {
		object = object.With("rows", mapItems(rows, func(row document.Value) document.Value {
			if o := row.Get("object"); o.Kind() == document.Map {
				return row.With("object", withoutManagedFields(o))
			}
			return row
		}))
	}
	return object
}

// mapItems returns a list with the results of convert for the items of list.
func mapItems(list document.Value, convert func(document.Value) document.Value) document.Value {
	items := make([]document.Value, 0, list.Len())
	for _, item := range list.Items() {
		items = append(items, convert(item))
	}
	return document.NewList(items...)
}

// setResponseObject records the response body. Bodies in other formats are converted to JSON.
func (a *auditRecord) setResponseObject(header http.Header) {
	if a.body == nil || a.body.Len() == 0 {
		return
	}
	text, err := a.body.Bytes(), error(nil)
	if header.Get("Content-Encoding") == "gzip" {
		if text, err = gunzip(text); err != nil {
			return
		}
	}
	mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	e := encoding.ForMediaType(mediaType)
	if err != nil || e == nil {
		return
	}
	json, err := e.DecodeBody(string(text), schema.GroupVersionKind{})
	if err != nil {
		return
	}
	if e.YAML {
		converted, err := yaml.YAMLToJSON([]byte(json))
		if err != nil {
			return
		}
		json = string(converted)
	}
	if object, err := document.ParseJSONLimited(json, document.Limits{MaxBytes: -1}); err == nil && object.Kind() == document.Map {
		a.event.ResponseObject = a.raw(object)
	}
}

func gunzip(compressed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// attemptedAuthentication describes the credentials of a request whose authentication failed.
func attemptedAuthentication(r *http.Request) string {
	var methods []string
	if _, _, ok := r.BasicAuth(); ok {
		methods = append(methods, "basic")
	}
	if scheme, _, ok := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " "); ok && strings.EqualFold(scheme, "bearer") {
		methods = append(methods, "bearer")
	}
	if strings.TrimSpace(r.URL.Query().Get("access_token")) != "" {
		methods = append(methods, "access_token")
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		methods = append(methods, "x509")
	}
	if len(methods) == 0 {
		return "Authentication failed, no credentials provided"
	}
	return "Authentication failed, attempted: " + strings.Join(methods, ", ")
}
