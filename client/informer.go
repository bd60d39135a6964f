package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Informer returns a ListerWatcher whose lists and watches do without managedFields, for one informer of a client
// that was made with OnRequest.
func Informer(of cache.ListerWatcher) cache.ListerWatcher {
	return &listerWatcher{cache.ToListerWatcherWithContext(of)}
}

type listerWatcher struct {
	next cache.ListerWatcherWithContext
}

func (l *listerWatcher) List(options metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), options)
}

func (l *listerWatcher) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), options)
}

func (l *listerWatcher) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return l.next.ListWithContext(Drop(ctx), options)
}

func (l *listerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return l.next.WatchWithContext(Drop(ctx), options)
}
