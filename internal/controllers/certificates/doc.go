// Package certificates signs approved CertificateSigningRequests, as the signing controllers of kube-controller-manager do.
//
// [Controller] handles the signers kubernetes.io/kube-apiserver-client and kubernetes.io/kube-apiserver-client-kubelet, whose
// certificates authenticate clients of the API server. Approval is left to users and other controllers.
//
// # Invariants
//
//   - Only a request with the condition Approved, and without Denied and Failed, is signed.
//   - A certificate is written only if the request has none, with the resourceVersion at which it was read: a certificate of another
//     signer, such as a kube-controller-manager, is never replaced.
//   - A certificate is a leaf: it contains no extensions of the request, cannot sign others, and does not outlive the CA certificate.
//   - The usages of a certificate are those that the request names, which must be those of a client.
//
// # Where to look
//
//	controller.go  the watch, the workqueue and the status
//	sign.go        checks of requests, and certificates
package certificates
