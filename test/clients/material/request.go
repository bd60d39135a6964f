package material

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/test/clients/target"
)

// Server is a server whose responses are observed.
type Server struct {
	Config      *rest.Config
	Namespace   string   // namespace of the samples
	Kubectl     string   // path of kubectl
	Environment []string // additional environment variables of kubectl
	Folder      string   // folder for the kubeconfig and the cache of kubectl

	client *http.Client
}

// open creates the HTTP client and the kubeconfig.
func (s *Server) open() error {
	trust, err := rest.TLSConfigFor(s.Config)
	if err != nil {
		return err
	}
	// The transport has no timeout for the TLS handshake, which may be slow on a busy machine.
	transport, err := rest.HTTPWrappersForConfig(s.Config, &http.Transport{TLSClientConfig: trust, ForceAttemptHTTP2: true})
	if err != nil {
		return err
	}
	s.client = &http.Client{Transport: transport}
	return target.WriteKubeconfig(s.kubeconfig(), s.Config, s.Namespace)
}

func (s *Server) kubeconfig() string { return filepath.Join(s.Folder, "kubeconfig") }

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
const table = "application/json;as=Table;v=v1;g=meta.k8s.io"

// apiResponse is a decoded response.
type apiResponse struct {
	code     int
	warnings []string
	body     map[string]any
}

func (a apiResponse) ok() bool { return a.code < 300 }

// request sends a request and parses the JSON response.
func (s *Server) request(ctx context.Context, method, address, accept string, body []byte) (apiResponse, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.Config.Host+address, bytes.NewReader(body))
	if err != nil {
		return apiResponse{}, err
	}
	request.Header.Set("Accept", accept)
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/apply-patch+yaml")
	}
	response, err := s.client.Do(request)
	if err != nil {
		return apiResponse{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return apiResponse{}, err
	}
	a := apiResponse{code: response.StatusCode, warnings: response.Header.Values("Warning")}
	if len(text) == 0 || text[0] != '{' {
		a.body = map[string]any{"text": string(text)}
		return a, nil
	}
	if err := json.Unmarshal(text, &a.body); err != nil {
		return a, fmt.Errorf("%s %s: %w", method, address, err)
	}
	return a, nil
}

// kubectl runs kubectl and returns its stdout and stderr.
func (s *Server) kubectl(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, s.Kubectl, args...)
	command.Env = append(os.Environ(), "HOME="+s.Folder, "KUBECONFIG="+s.kubeconfig(), "TZ=UTC")
	command.Env = append(command.Env, s.Environment...)
	out, err := command.CombinedOutput()
	if err != nil && len(out) == 0 {
		return "", fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}

// age matches the ages in Tables.
var age = regexp.MustCompile(`\b\d+[ms](\d+s)?\b`)

func withoutAges(text string) string { return age.ReplaceAllString(text, "AGE") }

var spaces = regexp.MustCompile(` +`)

// withoutWidths removes the padding of columns, whose widths depend on the ages.
func withoutWidths(text string) string { return spaces.ReplaceAllString(text, " ") }

// canonical returns indented JSON with sorted keys.
func canonical(value any) string {
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		panic(err) // cannot fail: the value was parsed from JSON
	}
	return string(text)
}
