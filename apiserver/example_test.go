package apiserver_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/apiserver"
	"github.com/cadastre/cadastre/apiserver/admission"
	"github.com/cadastre/cadastre/document"
)

// teamLabel is an admission plugin that labels new ConfigMaps with the name of their creator.
type teamLabel struct{ admission.MutatingOnly }

func (teamLabel) Name() string { return "TeamLabel" }

func (teamLabel) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if operation == admission.Create && r.Is("", "configmaps") {
		return admission.Mutating
	}
	return 0
}

func (teamLabel) Admit(_ context.Context, a *admission.Attributes) error {
	metadata := a.Object.Get("metadata")
	labels := metadata.Get("labels").With("team", document.NewString(a.User.GetName()))
	a.Object = a.Object.With("metadata", metadata.With("labels", labels))
	return nil
}

// The example runs a server that stores objects in memory, opens no socket and calls an admission plugin. The client is in the
// same process.
func Example() {
	server, err := apiserver.New(apiserver.Options{InProcess: true, Admission: []admission.Plugin{teamLabel{}}})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- server.Run(ctx) }()
	if err := server.WaitReady(ctx); err != nil {
		log.Fatal(err)
	}

	client := kubernetes.NewForConfigOrDie(server.RESTConfig())
	shop := corev1.ConfigMap("shop", "default").WithData(map[string]string{"color": "red"})
	applied, err := client.CoreV1().ConfigMaps("default").Apply(ctx, shop, metav1.ApplyOptions{FieldManager: "example"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(applied.Name, applied.Labels, applied.Data)

	stop()
	fmt.Println("stopped:", <-stopped)
	// Output:
	// shop map[team:cadastre-admin] map[color:red]
	// stopped: <nil>
}

// The example extends a server with an authenticator, an authorizer and an HTTP handler: users authenticate with the header
// X-User, and every user, also the anonymous one, may read /whoami.
func Example_extensions() {
	header := authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		name := r.Header.Get("X-User")
		return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, name != "", nil
	})
	readers := authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if !a.IsResourceRequest() && a.GetPath() == "/whoami" && a.IsReadOnly() {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil // RBAC authorizes all other requests
	})
	whoami := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, _ := apirequest.UserFrom(r.Context())
		fmt.Fprintf(w, "%s in %s", u.GetName(), strings.Join(u.GetGroups(), ", "))
	})
	server, err := apiserver.New(apiserver.Options{
		Authenticators: []authenticator.Request{header},
		Authorizers:    []authorizer.Authorizer{readers},
		Handlers:       map[string]http.Handler{"/whoami": whoami},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- server.Run(ctx) }()
	if err := server.WaitReady(ctx); err != nil {
		log.Fatal(err)
	}

	client, err := rest.HTTPClientFor(rest.AnonymousClientConfig(server.RESTConfig()))
	if err != nil {
		log.Fatal(err)
	}
	get := func(path, name string) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL()+path, nil)
		if err != nil {
			log.Fatal(err)
		}
		r.Header.Set("X-User", name)
		response, err := client.Do(r)
		if err != nil {
			log.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			fmt.Printf("%s as %q: %d\n", path, name, response.StatusCode)
			return
		}
		body, _ := io.ReadAll(response.Body)
		fmt.Printf("%s as %q: %s\n", path, name, body)
	}
	get("/whoami", "ann")
	get("/whoami", "")
	get("/api/v1/namespaces", "ann")

	stop()
	fmt.Println("stopped:", <-stopped)
	// Output:
	// /whoami as "ann": ann in system:authenticated
	// /whoami as "": system:anonymous in system:unauthenticated
	// /api/v1/namespaces as "ann": 403
	// stopped: <nil>
}
