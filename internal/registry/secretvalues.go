package registry

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// hiddenValues replaces messages that contain a value of a Secret.
const hiddenValues = "the values of Secrets are not shown"

// A value of a Secret is found in a message by its first bytes, because messages truncate values.
const (
	minSecretBytes    = 4  // values with fewer bytes are not searched
	maxSearchedSecret = 12 // number of leading bytes of a value that are searched
)

// isApplyConflict reports whether all causes of an error are conflicts with field managers.
func isApplyConflict(status *metav1.Status) bool {
	return status.Reason == metav1.StatusReasonConflict && status.Details != nil && len(status.Details.Causes) > 0 &&
		!slices.ContainsFunc(status.Details.Causes, func(cause metav1.StatusCause) bool { return cause.Type != metav1.CauseTypeFieldManagerConflict })
}

// withoutSecretValues returns the error of a write without messages that contain a value of the Secret: of the live object,
// because a JSON patch can copy a value to a field whose validation shows it, or of the body. It keeps the code, the reason and
// the fields. Clients and servers log errors, so values in errors would be readable in logs. Errors of other resources are
// returned unchanged, and so are conflicts of apply: they contain no values of Secrets, but names of field managers, which a
// value can equal.
func (r *Registry) withoutSecretValues(ctx context.Context, request *Request, err error) error {
	var status *apierrors.StatusError
	if err == nil || !request.Endpoint.isSecret() || !errors.As(err, &status) || isApplyConflict(&status.ErrStatus) {
		return err
	}
	var secrets []string
	key := watchcache.Key{Kind: request.Endpoint.Kind.StoreName(), Namespace: request.Namespace, Name: request.Name}
	if live, err := r.Cache.Get(ctx, key, watchcache.Latest); err == nil {
		if doc, err := document.ParseJSONLimited(live.JSONWithoutManagedFields(), anySize); err == nil {
			secrets = appendSecrets(secrets, doc)
		}
	}
	body, parseErr := request.Body.parse(document.Value{})
	if parseErr != nil {
		shown := status.ErrStatus.DeepCopy()
		if before, _, found := strings.Cut(shown.Message, ", received "); found {
			shown.Message = before + " (" + hiddenValues + ")"
		}
		return &apierrors.StatusError{ErrStatus: *shown}
	}
	secrets = appendSecrets(secrets, body)
	if !slices.ContainsFunc(secrets, func(secret string) bool { return containsText(&status.ErrStatus, secret) }) {
		return err
	}
	return redacted(status.ErrStatus)
}

// appendSecrets appends the start of each value of data and stringData in an object, or in the operations of a JSON patch.
func appendSecrets(secrets []string, doc document.Value) []string {
	for _, name := range []string{"data", "stringData"} {
		secrets = appendScalars(secrets, doc.Get(name))
	}
	if doc.Kind() != document.List {
		return secrets
	}
	for _, operation := range doc.Items() {
		value, path := operation.Get("value"), operation.Get("path").Text()
		if strings.HasPrefix(path, "/data") || strings.HasPrefix(path, "/stringData") {
			secrets = appendScalars(secrets, value)
		} else {
			secrets = appendSecrets(secrets, value)
		}
	}
	return secrets
}

// appendScalars appends the start of each scalar in v except unset markers, and of its decoded form if the scalar is base64.
func appendScalars(secrets []string, v document.Value) []string {
	if document.Equal(v, unsetMarker) {
		return secrets
	}
	for i := range v.Len() {
		secrets = appendScalars(secrets, v.At(i))
	}
	if v.Kind() != document.String && v.Kind() != document.Number {
		return secrets
	}
	texts := []string{v.Text()}
	if decoded, err := base64.StdEncoding.DecodeString(v.Text()); err == nil {
		texts = append(texts, string(decoded))
	}
	for _, text := range texts {
		if i := strings.IndexFunc(text, isEscaped); i >= 0 {
			text = text[:i]
		}
		if text = text[:min(len(text), maxSearchedSecret)]; len(text) >= minSecretBytes {
			secrets = append(secrets, text)
		}
	}
	return secrets
}

// isEscaped reports whether messages may contain a character as an escape sequence.
func isEscaped(c rune) bool {
	return c < ' ' || c > '~' || strings.ContainsRune(`"\'<>&`, c)
}

// containsText reports whether a message of a Status contains a text.
func containsText(s *metav1.Status, text string) bool {
	if strings.Contains(s.Message, text) {
		return true
	}
	return s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool { return strings.Contains(c.Message, text) })
}

// redacted returns an error with the code, the reason and the fields of a Status, and no other text.
func redacted(s metav1.Status) error {
	shown := s.DeepCopy()
	var fields []string
	if shown.Details != nil {
		shown.Details.Name = "" // the name may be a value of the Secret
		for i := range shown.Details.Causes {
			cause := &shown.Details.Causes[i]
			cause.Message = hiddenValues
			if cause.Field != "" {
				fields = append(fields, cause.Field)
			}
		}
	}
	shown.Message = fmt.Sprintf("the Secret is invalid: %s", hiddenValues)
	if len(fields) > 0 {
		shown.Message = fmt.Sprintf("the Secret is invalid: %s: %s", strings.Join(fields, ", "), hiddenValues)
	}
	return &apierrors.StatusError{ErrStatus: *shown}
}
