// Program server embeds a server that stores objects in memory and opens no socket. It prints the time from apiserver.New to
// the first response.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/cadastre/cadastre/apiserver"
)

func main() {
	begun := time.Now()
	server, err := apiserver.New(apiserver.Options{InProcess: true, Log: slog.New(slog.DiscardHandler)})
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
	if _, err := client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(time.Since(begun))
	stop()
	if err := <-stopped; err != nil {
		log.Fatal(err)
	}
}
