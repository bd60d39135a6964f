package certificates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/internal/controllers/workqueue"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

const (
	group    = "certificates.k8s.io"
	resource = "certificatesigningrequests"
	kind     = group + "/" + resource

	// minBackoff and maxBackoff are the bounds of the exponential backoff between attempts to sign a request. maxBackoff is also the
	// wait before a failed watch is restarted.
	minBackoff = 20 * time.Millisecond
	maxBackoff = 10 * time.Second
	workers    = 2
)

// Controller signs approved CertificateSigningRequests.
type Controller struct {
	Objects *registry.Registry
	// CA returns the authority that signs; it may change while the controller runs.
	CA func() *CA
	// Duration is the maximum lifetime of certificates, and that of requests without expirationSeconds.
	Duration time.Duration
	// User is the user of the controller's writes, Manager their field manager.
	User    user.Info
	Manager string
	Log     *slog.Logger

	// queue is the workqueue of the names of requests.
	queue *workqueue.Queue[string]
}

// Run watches CertificateSigningRequests and signs those that are approved, until the context ends or the cache is closed.
func (c *Controller) Run(ctx context.Context) {
	c.queue = workqueue.NewQueue[string](minBackoff, maxBackoff)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		defer cancel()
		c.watchRequests(ctx)
	})
	c.queue.Run(ctx, workers, c.process)
}

// watchRequests watches requests, and restarts a failed watch, until the context ends or the cache is closed.
func (c *Controller) watchRequests(ctx context.Context) {
	for ctx.Err() == nil {
		err := c.watch(ctx)
		if errors.Is(err, watchcache.ErrClosed) || ctx.Err() != nil {
			return
		}
		if errors.Is(err, watchcache.ErrTooOld) {
			continue
		}
		c.Log.Error("cannot watch CertificateSigningRequests; retrying", "error", err)
		timer := time.NewTimer(maxBackoff)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
}

// watch enqueues all requests, and then each that changes, until the watch fails. It never returns nil.
func (c *Controller) watch(ctx context.Context) error {
	watcher, err := c.Objects.Cache.Watch(ctx, watchcache.WatchOptions{Selection: watchcache.Selection{Kind: kind}, InitialState: true, Freshness: watchcache.Any})
	if err != nil {
		return err
	}
	defer watcher.Close()
	for {
		events, err := watcher.Next(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Object != nil && e.Type != watchcache.Deleted {
				c.queue.Add(e.Object.Name())
			}
		}
	}
}

// process reconciles a request and logs the error, if any. It reports whether the request is done; the workqueue retries a request
// that is not done.
func (c *Controller) process(ctx context.Context, name string) (isDone bool) {
	err := c.reconcile(ctx, name)
	if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !errors.Is(err, watchcache.ErrClosed) {
		c.Log.Warn("cannot sign a CertificateSigningRequest; retrying", "name", name, "error", err)
	}
	return err == nil
}

// reconcile signs a request if it is approved and has no certificate, or marks it as failed if it is not one for its signer.
func (c *Controller) reconcile(ctx context.Context, name string) error {
	object, err := c.Objects.Cache.Get(ctx, watchcache.Key{Kind: kind, Name: name}, watchcache.Latest)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	doc, err := object.WithoutManagedFields() // an update whose body has no managedFields does not change them
	if err != nil {
		return err
	}
	var request certificatesv1.CertificateSigningRequest
	if err := json.Unmarshal(doc.AppendJSON(nil), &request); err != nil {
		return err
	}
	check := signers[request.Spec.SignerName]
	if check == nil || !isPending(&request) {
		return nil
	}
	parsed, err := parseRequest(request.Spec.Request)
	if err == nil {
		err = check(parsed, request.Spec.Usages)
	}
	if err != nil {
		return c.fail(ctx, &request, err)
	}
	now := c.Objects.Now()
	if request.Status.Certificate, err = c.CA().sign(parsed, request.Spec.Usages, duration(request.Spec.ExpirationSeconds, c.Duration), now); err != nil {
		return err
	}
	if err := c.updateStatus(ctx, &request); err != nil {
		return err
	}
	c.Log.Info("signed a CertificateSigningRequest", "name", name, "signer", request.Spec.SignerName, "user", parsed.Subject.CommonName, "groups", parsed.Subject.Organization, "requester", request.Spec.Username)
	return nil
}

// isPending reports whether a request is approved and neither denied, failed nor signed.
func isPending(r *certificatesv1.CertificateSigningRequest) bool {
	has := func(kind certificatesv1.RequestConditionType) bool {
		return slices.ContainsFunc(r.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
			return c.Type == kind && (c.Status == corev1.ConditionTrue || c.Status == "")
		})
	}
	return len(r.Status.Certificate) == 0 && has(certificatesv1.CertificateApproved) && !has(certificatesv1.CertificateDenied) && !has(certificatesv1.CertificateFailed)
}

// fail adds the condition Failed, which is final, with the reason of Kubernetes' controller.
func (c *Controller) fail(ctx context.Context, r *certificatesv1.CertificateSigningRequest, reason error) error {
	r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateFailed, Status: corev1.ConditionTrue, Reason: "SignerValidationFailure", Message: reason.Error(),
		LastUpdateTime: metav1.NewTime(c.Objects.Now()),
	})
	return c.updateStatus(ctx, r)
}

// updateStatus writes the status of a request at the resourceVersion at which it was read.
func (c *Controller) updateStatus(ctx context.Context, r *certificatesv1.CertificateSigningRequest) error {
	r.APIVersion, r.Kind = certificatesv1.SchemeGroupVersion.String(), "CertificateSigningRequest"
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	k, _ := c.Objects.Kinds.Resource(group, "v1", resource)
	endpoint, err := c.Objects.Endpoint(k, "v1", "status")
	if err != nil {
		return fmt.Errorf("status of CertificateSigningRequests: %w", err)
	}
	_, err = c.Objects.Update(ctx, &registry.Request{
		Endpoint: endpoint, Name: r.Name, Body: registry.Body{Text: string(body)},
		User: c.User, Manager: c.Manager, FieldValidation: registry.Ignore, Warn: func(string) {},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
