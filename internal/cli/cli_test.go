package cli_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cadastre/cadastre/internal/cli"
	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// TestMain makes the test binary act as cadastre or kubectl-own when a script runs it under that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cadastre":             func() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) },
		"kubectl-own":          func() { os.Exit(cli.Plugin(cli.PluginArgs(os.Args), os.Stdout, os.Stderr)) },
		"kubectl_complete-own": func() { os.Exit(cli.Plugin(cli.PluginArgs(os.Args), os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the scripts in testdata/*.txtar. CADASTRE_UPDATE=1 updates their expected output.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       os.Getenv("CADASTRE_UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "you"))
			env.Setenv("XDG_DATA_HOME", "")
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Getuid() == 0, nil // scripts about file permissions do not apply to root, which can read and write all files
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await":  await,
			"code":   code,
			"mode":   mode,
			"call":   call,
			"served": served,
			"cut":    cut,
		},
	})
}

// timeout is the maximum time that a command of a script waits for a condition.
const timeout = 30 * time.Second

// await implements the script command await FILE TEXT, which waits until a file contains a text.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE TEXT")
	}
	var content []byte
	var err error
	hasText := func() bool {
		content, err = os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && strings.Contains(string(content), args[1])
	}
	if !testwait.Within(timeout, hasText) {
		ts.Fatalf("waited for %q in %s: %v, %s", args[1], args[0], err, content)
	}
}

// code implements the script command code N COMMAND ARGS…, which runs a command and checks its exit code.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	received := 0
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		received = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if fmt.Sprint(received) != args[0] {
		ts.Fatalf("exit code %d, want %s", received, args[0])
	}
}

// mode implements the script command mode 0600 FILE…, which checks the permissions of files.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
			ts.Fatalf("%s: mode %s, want %s", name, got, args[0])
		}
	}
}

// cut implements the script command cut FILE, which truncates a file to its first half, as a full disk might.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	content, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), content[:len(content)/2], 0o600))
}

// call implements the script command call FOLDER READYFILE METHOD PATH [BODY]. It sends a request to the server whose
// address is in the file READYFILE, with the administrator's certificate in the data folder FOLDER. The method APPLY sends
// a Server-Side Apply patch. The script fails if the response has an error status, or with "! call" if it has not.
func call(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 4 {
		ts.Fatalf("usage: call FOLDER READYFILE METHOD PATH [BODY]")
	}
	status, text := send(ts, args)
	fmt.Fprintf(ts.Stdout(), "%d %s\n", status, text)
	if failed := status >= http.StatusBadRequest; failed != neg {
		ts.Fatalf("%s %s: %d %s", args[2], args[3], status, text)
	}
}

// served implements the script command served FOLDER READYFILE PATH. It waits until a GET of PATH succeeds, for example
// after the script has created the CustomResourceDefinition of the resource at PATH.
func served(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: served FOLDER READYFILE PATH")
	}
	var status int
	var text string
	if !testwait.Within(timeout, func() bool {
		status, text = send(ts, []string{args[0], args[1], http.MethodGet, args[2]})
		return status == http.StatusOK
	}) {
		ts.Fatalf("waited for GET %s to succeed: %d %s", args[2], status, text)
	}
}

// send sends the request that args, the arguments of the script command call, describe. It returns the status code and the
// body of the response.
func send(ts *testscript.TestScript, args []string) (status int, text string) {
	line, _, _ := strings.Cut(ts.ReadFile(args[1]), "\n")
	url := strings.TrimPrefix(line, "ready ")
	client := adminOf(ts, args[0])
	defer client.CloseIdleConnections()
	body := strings.Join(args[4:], " ")
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	method, mediaType := args[2], "application/json"
	if method == "APPLY" {
		method, mediaType = http.MethodPatch, "application/apply-patch+yaml"
	}
	request, err := http.NewRequestWithContext(ctx, method, url+args[3], strings.NewReader(body))
	ts.Check(err)
	request.Header.Set("Content-Type", mediaType)
	response, err := client.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	ts.Check(err)
	return response.StatusCode, string(content)
}

func adminOf(ts *testscript.TestScript, folder string) *http.Client {
	pki := filepath.Join(ts.MkAbs(folder), "pki")
	certificate, err := tls.LoadX509KeyPair(filepath.Join(pki, "admin.pem"), filepath.Join(pki, "admin.pem"))
	ts.Check(err)
	ca, err := os.ReadFile(filepath.Join(pki, "ca.crt"))
	ts.Check(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{certificate}}}}
}
