package webhookclient

import (
	"context"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/wait"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
)

// reviewRetries is the backoff with which calls are repeated after an internal error or a lost connection: kube-apiserver's five
// attempts.
var reviewRetries = wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 5}

// Reviews sends TokenReviews or SubjectAccessReviews to a webhook for authentication or authorization. It is safe for concurrent use.
//
// The packages of k8s.io/apiserver for these webhooks are not used, because they import the Go types of all kinds (3 MB of the program).
type Reviews struct{ webhook *webhookutil.GenericWebhook }

// OpenReviews returns a client for the webhook in a file in kubeconfig format. register adds the types of the reviews to a scheme, and
// version is the API version in which they are encoded. timeout limits each attempt.
func OpenReviews(kubeconfig string, timeout time.Duration, register func(*runtime.Scheme) error, version schema.GroupVersion) (*Reviews, error) {
	config, err := webhookutil.LoadKubeconfig(kubeconfig, nil)
	if err != nil {
		return nil, err
	}
	config.Timeout = timeout
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return noRedirects{next} })
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // for responses that are a Status
	if err := register(scheme); err != nil {
		return nil, err
	}
	webhook, err := webhookutil.NewGenericWebhook(scheme, serializer.NewCodecFactory(scheme), config, []schema.GroupVersion{version}, reviewRetries)
	if err != nil {
		return nil, err
	}
	return &Reviews{webhook}, nil
}

// Send sends a review and decodes the response into result. The context limits all attempts together.
func (r *Reviews) Send(ctx context.Context, review, result runtime.Object) error {
	return webhookutil.WithExponentialBackoff(ctx, reviewRetries, func() error {
		return r.webhook.RestClient.Post().Body(review).Do(ctx).Into(result)
	}, webhookutil.DefaultShouldRetry)
}

// noRedirects is a transport that returns an error for redirects. A client that followed them would send tokens, or the decision about
// a request, to a place that is not configured.
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
