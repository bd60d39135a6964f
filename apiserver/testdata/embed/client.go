// Program client uses client-go's typed clients and embeds no server. BenchmarkEmbedding compares its size with that of the
// program server.
package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func main() {
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://127.0.0.1:1"})
	_, err := client.CoreV1().Namespaces().Get(context.Background(), "default", metav1.GetOptions{})
	fmt.Println(err)
}
