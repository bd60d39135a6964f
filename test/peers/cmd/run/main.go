// Command run starts etcd and kube-apiserver, writes a kubeconfig for kube-apiserver, and stops both when it is
// interrupted: go run ./cmd/run [-kubeconfig FILE].
package main

import (
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/cadastre/cadastre/test/peers"
)

// kubeconfig is the template of the kubeconfig file. Its parameters are address, certificate authority and token.
const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: peer
  cluster: {server: %q, certificate-authority-data: %s}
users:
- name: admin
  user: {token: %s}
contexts:
- name: peer
  context: {cluster: peer, user: admin}
current-context: peer
`

func main() {
	file := flag.String("kubeconfig", filepath.Join(os.TempDir(), "peer.kubeconfig"), "`file` to write the kubeconfig to")
	flag.Parse()
	if err := run(*file, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string, args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := peers.Start(ctx, peers.Options{Args: args})
	if err != nil {
		return err
	}
	defer server.Stop()
	text := fmt.Sprintf(kubeconfig, server.Host, base64.StdEncoding.EncodeToString(server.CA), server.Token)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	fmt.Printf("ready %s\nexport KUBECONFIG=%s\n", server.Host, file)
	<-ctx.Done()
	return nil
}
