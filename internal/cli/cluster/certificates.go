package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	signingRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	// signingPoll is the interval at which a signing request is read until it has a certificate.
	signingPoll = 100 * time.Millisecond
)

// IssueClientCertificate creates a CertificateSigningRequest for a client of the server, approves it, waits until a signer has signed
// it, and deletes it. request is a certificate request as PEM; 0 seconds mean the signer's default lifetime. The result is PEM. The
// context limits the wait.
func (c *Cluster) IssueClientCertificate(ctx context.Context, request []byte, lifetime time.Duration) (certificate []byte, err error) {
	spec := certificatesv1.CertificateSigningRequestSpec{
		Request: request, SignerName: certificatesv1.KubeAPIServerClientSignerName,
		Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
	}
	if seconds := int32(lifetime / time.Second); seconds > 0 {
		spec.ExpirationSeconds = &seconds
	}
	r, err := c.sendSigningRequest(ctx, http.MethodPost, "", &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{GenerateName: "user-"}, Spec: spec})
	if err != nil {
		return nil, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_, deleteErr := c.send(ctx, signingRequest(http.MethodDelete, r.Name, ""))
		if deleteErr != nil {
			err = errors.Join(err, fmt.Errorf("delete CertificateSigningRequest %s: %w", r.Name, deleteErr))
		}
	}()
	r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "UserCreated", Message: "approved by cadastre user create",
	})
	if _, err := c.sendSigningRequest(ctx, http.MethodPut, r.Name+"/approval", r); err != nil {
		return nil, err
	}
	return c.waitForCertificate(ctx, r.Name)
}

// waitForCertificate waits until a signing request has a certificate, or has failed.
func (c *Cluster) waitForCertificate(ctx context.Context, name string) ([]byte, error) {
	ticker := time.NewTicker(signingPoll)
	defer ticker.Stop()
	for {
		r, err := c.sendSigningRequest(ctx, http.MethodGet, name, nil)
		if err != nil {
			return nil, err
		}
		if len(r.Status.Certificate) > 0 {
			return r.Status.Certificate, nil
		}
		for _, condition := range r.Status.Conditions {
			if condition.Type == certificatesv1.CertificateFailed || condition.Type == certificatesv1.CertificateDenied {
				return nil, fmt.Errorf("CertificateSigningRequest %s: %s: %s", name, condition.Type, condition.Message)
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("CertificateSigningRequest %s: not signed: %w; the server signs unless --controllers=false or --cluster-signing-duration=0, then kube-controller-manager must run", name, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// sendSigningRequest sends a CertificateSigningRequest, or no body if it is nil, to a path below the resource, and returns the object of
// the response.
func (c *Cluster) sendSigningRequest(ctx context.Context, method, path string, body *certificatesv1.CertificateSigningRequest) (*certificatesv1.CertificateSigningRequest, error) {
	text := ""
	if body != nil {
		body.APIVersion, body.Kind = certificatesv1.SchemeGroupVersion.String(), "CertificateSigningRequest"
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		text = string(encoded)
	}
	answer, err := c.send(ctx, signingRequest(method, path, text))
	if err != nil {
		return nil, err
	}
	received := &certificatesv1.CertificateSigningRequest{}
	if err := json.Unmarshal([]byte(answer), received); err != nil {
		return nil, fmt.Errorf("decode a CertificateSigningRequest from the server: %w", err)
	}
	return received, nil
}

// signingRequest returns a request for a path below CertificateSigningRequests.
func signingRequest(method, path, body string) request {
	r := request{method: method, path: signingRequests, body: body}
	if path != "" {
		r.path += "/" + path
	}
	if body != "" {
		r.contentType = jsonType
		r.query = url.Values{"fieldManager": {"cadastre-user"}}
	}
	return r
}
