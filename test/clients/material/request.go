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

// A Server is asked.
type Server struct {
	Config      *rest.Config
	Namespace   string   // where objects go
	Kubectl     string   // the program
	Environment []string // what kubectl needs beside a kubeconfig
	Folder      string   // where kubectl's files go

	client *http.Client
}

// open prepares everything to ask with.
func (s *Server) open() error {
	trust, err := rest.TLSConfigFor(s.Config)
	if err != nil {
		return err
	}
	// However busy the machine is, a handshake may take its time.
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

// An answer is a status code and a document.
type answer struct {
	code     int
	warnings []string
	body     map[string]any
}

func (a answer) ok() bool { return a.code < 300 }

// ask sends a request and reads the answer, which is JSON.
func (s *Server) ask(ctx context.Context, method, address, accept string, body []byte) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.Config.Host+address, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Accept", accept)
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/apply-patch+yaml")
	}
	response, err := s.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{code: response.StatusCode, warnings: response.Header.Values("Warning")}
	if len(text) == 0 || text[0] != '{' {
		a.body = map[string]any{"text": string(text)}
		return a, nil
	}
	if err := json.Unmarshal(text, &a.body); err != nil {
		return a, fmt.Errorf("%s %s: %w", method, address, err)
	}
	return a, nil
}

// kubectl runs it and returns what it prints, errors included.
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

// An age is how long ago something happened, as tables tell it.
var age = regexp.MustCompile(`\b\d+[ms](\d+s)?\b`)

func withoutAges(text string) string { return age.ReplaceAllString(text, "AGE") }

var spaces = regexp.MustCompile(` +`)

// withoutWidths makes columns as wide as what is in them: ages are of different lengths.
func withoutWidths(text string) string { return spaces.ReplaceAllString(text, " ") }

// canonical writes a document with sorted keys, a field a line.
func canonical(value any) string {
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		panic(err) // it came from JSON
	}
	return string(text)
}
