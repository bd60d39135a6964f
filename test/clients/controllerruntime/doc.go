// Package controllerruntime has a manager of controller-runtime with two small reconcilers that share
// objects by apply, as operators do, and the test that runs it against the server.
//
// A ConfigMap with the label website=true is a wish: its image and replicas. The website reconciler applies
// a Deployment for it and notes in the ConfigMap how many replicas are ready, in a field beside those of the
// user. The rollout reconciler plays the Deployment controller, which a bare API server does not have: it
// says in the status that everything is ready.
//
// Where to look:
//
//   - website.go: from ConfigMap to Deployment, and back to the ConfigMap
//   - rollout.go: the Deployment's status
package controllerruntime
