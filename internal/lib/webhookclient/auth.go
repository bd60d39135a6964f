package webhookclient

import (
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// AuthRetries returns the backoff with which calls of webhooks for authentication and authorization are repeated after an internal
// error or a lost connection: kube-apiserver's five attempts.
func AuthRetries() wait.Backoff {
	return wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 5}
}

// RejectRedirects returns a transport that returns an error for redirects. A client that followed them would send tokens, or the
// decision about a request, to a place that nobody has configured.
func RejectRedirects(next http.RoundTripper) http.RoundTripper { return noRedirects{next} }

type noRedirects struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (n noRedirects) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := n.next.RoundTrip(r)
	if err != nil || response.StatusCode/100 != 3 {
		return response, err
	}
	_ = response.Body.Close()
	return nil, fmt.Errorf("%s: expected a review, received a redirect (%s); configure the final URL", r.URL.Redacted(), response.Status)
}
