package encoding

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatusOf returns the Status of err. Its code is never 0. An error without a Status gets code 500 and its text as message.
func StatusOf(err error) metav1.Status {
	var known apierrors.APIStatus
	status := metav1.Status{Status: metav1.StatusFailure}
	if errors.As(err, &known) {
		status = known.Status()
	} else {
		status.Message = err.Error()
	}
	if status.Status == "" {
		status.Status = metav1.StatusFailure
	}
	if status.Code == 0 {
		status.Code = http.StatusInternalServerError
		if status.Status == metav1.StatusSuccess {
			status.Code = http.StatusOK
		}
	}
	status.TypeMeta = statusType
	return status
}

var statusType = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}

// AppendStatus appends the response body for a Status, which is the same in all shapes.
func AppendStatus(dst []byte, f Format, s *metav1.Status) ([]byte, error) {
	typed := *s
	typed.TypeMeta = statusType
	return f.encoding().AppendTyped(dst, f, &typed)
}
