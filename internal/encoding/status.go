package codec

import (
	"encoding/json"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatusOf returns the status that tells about an error. It has a code. An error that does not
// know its own status is an internal one.
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
	return status
}

// AppendStatus appends the answer that is a status. It has the same shape for everybody.
func AppendStatus(dst []byte, f Format, s *metav1.Status) ([]byte, error) {
	return f.finish(dst, func(dst []byte) []byte { return appendStatus(dst, s) })
}

func appendStatus(dst []byte, s *metav1.Status) []byte {
	typed := *s
	typed.Kind, typed.APIVersion = "Status", "v1"
	text, err := json.Marshal(&typed)
	if err != nil {
		panic(err) // a status has nothing that JSON does not
	}
	return append(dst, text...)
}
