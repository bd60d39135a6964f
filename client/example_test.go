package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/client"
)

// withShop calls f with the config of a server on which the field manager alice has applied the ConfigMap shop.
func withShop(f func(config *rest.Config)) {
	config, stop, err := cadastretest.Open()
	if err != nil {
		log.Fatal(err)
	}
	shop := corev1apply.ConfigMap("shop", "default").WithData(map[string]string{"color": "red"})
	configMaps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	if _, err := configMaps.Apply(context.Background(), shop, metav1.ApplyOptions{FieldManager: "alice"}); err != nil {
		log.Fatal(err)
	}
	f(config)
	if err := stop(); err != nil {
		log.Fatal(err)
	}
}

// getShop reads the ConfigMap shop, prints its color and the number of its managed fields entries, and returns it.
func getShop(ctx context.Context, clientset kubernetes.Interface) *corev1.ConfigMap {
	shop, err := clientset.CoreV1().ConfigMaps("default").Get(ctx, "shop", metav1.GetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(shop.Data["color"], "managers:", len(shop.ManagedFields))
	return shop
}

// Clients that are created from the returned config never receive managedFields.
func ExampleWithoutManagedFields() {
	withShop(func(config *rest.Config) {
		getShop(context.Background(), kubernetes.NewForConfigOrDie(config))
		getShop(context.Background(), kubernetes.NewForConfigOrDie(client.WithoutManagedFields(config)))
	})
	// Output:
	// red managers: 1
	// red managers: 0
}

// Responses to requests with a context of OptOut contain no managedFields; responses to other requests of the client do.
func ExampleOptOutOnRequest() {
	withShop(func(config *rest.Config) {
		clientset := kubernetes.NewForConfigOrDie(client.OptOutOnRequest(config))
		getShop(context.Background(), clientset)
		getShop(client.OptOut(context.Background()), clientset)
	})
	// Output:
	// red managers: 1
	// red managers: 0
}

// One informer receives no managedFields, while other requests of the client do.
func ExampleOptOutListerWatcher() {
	withShop(func(config *rest.Config) {
		clientset := kubernetes.NewForConfigOrDie(client.OptOutOnRequest(config))
		source := cache.NewListWatchFromClient(clientset.CoreV1().RESTClient(), "configmaps", "default", fields.Everything())
		informer := cache.NewSharedIndexInformer(client.OptOutListerWatcher(source), &corev1.ConfigMap{}, 0, cache.Indexers{})
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		go informer.RunWithContext(ctx)
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			log.Fatal("the informer has not synced within 30 seconds")
		}
		shop, _, err := informer.GetStore().GetByKey("default/shop")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("in the cache, managers:", len(shop.(*corev1.ConfigMap).ManagedFields))
		getShop(ctx, clientset)
	})
	// Output:
	// in the cache, managers: 0
	// red managers: 1
}

// Extract returns the configuration that alice applied, and an error if the object was read without managedFields.
func ExampleExtract() {
	withShop(func(config *rest.Config) {
		shop := getShop(context.Background(), kubernetes.NewForConfigOrDie(config))
		applied, err := client.Extract(shop, "alice", corev1apply.ExtractConfigMap)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("alice applied", applied.Data)

		shop = getShop(context.Background(), kubernetes.NewForConfigOrDie(client.WithoutManagedFields(config)))
		_, err = client.Extract(shop, "alice", corev1apply.ExtractConfigMap)
		var unknown *client.NoManagedFieldsError
		fmt.Println(errors.As(err, &unknown))
	})
	// Output:
	// red managers: 1
	// alice applied map[color:red]
	// red managers: 0
	// true
}
