// Package controllerruntime contains a controller-runtime manager with two small reconcilers that share objects by apply,
// as operators do, and tests that run it against the server.
//
// A ConfigMap with the label website=true specifies a website: image and replicas. The website reconciler applies a
// Deployment for it and reports the number of ready replicas in another field of the ConfigMap. The rollout
// reconciler replaces the Deployment controller, which a bare API server does not have: it reports all replicas as
// ready in the status.
//
// Files:
//
//   - website.go: ConfigMap → Deployment, and ready replicas → ConfigMap
//   - rollout.go: status of the Deployment
package controllerruntime
