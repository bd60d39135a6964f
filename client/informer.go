package client

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

// OptOutListerWatcher returns a ListerWatcher whose objects have no managedFields. It is for single informers of a client
// whose config was returned by [OptOutOnRequest]. If the given ListerWatcher does not accept contexts, the server still
// sends managedFields, and they are removed from the decoded objects.
func OptOutListerWatcher(of cache.ListerWatcher) cache.ListerWatcher {
	return &listerWatcher{cache.ToListerWatcherWithContext(of), watchlist.DoesClientNotSupportWatchListSemantics(of)}
}

// listerWatcher removes managedFields from the objects of another ListerWatcher.
type listerWatcher struct {
	next        cache.ListerWatcherWithContext
	noWatchList bool // reports whether the client of next does not support WatchList
}

// IsWatchListSemanticsUnSupported is called by client-go's reflectors to detect clients that do not support WatchList, such
// as fake clients.
func (l *listerWatcher) IsWatchListSemanticsUnSupported() bool { return l.noWatchList }

func (l *listerWatcher) List(options metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), options)
}

func (l *listerWatcher) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), options)
}

func (l *listerWatcher) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := l.next.ListWithContext(OptOut(ctx), options)
	if err != nil || !Enabled() {
		return list, err
	}
	return list, meta.EachListItem(list, func(item runtime.Object) error {
		if o, err := meta.Accessor(item); err == nil {
			o.SetManagedFields(nil)
		}
		return nil
	})
}

func (l *listerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	events, err := l.next.WatchWithContext(OptOut(ctx), options)
	if err != nil || !Enabled() {
		return events, err
	}
	return watch.Filter(events, func(event watch.Event) (watch.Event, bool) {
		event.Object = withoutManagedFields(event.Object)
		return event, true
	}), nil
}

// withoutManagedFields returns an object without managedFields. It copies an object that has managedFields instead of
// modifying it, because several receivers may share the objects of watch events.
func withoutManagedFields(object runtime.Object) runtime.Object {
	if o, err := meta.Accessor(object); err != nil || o.GetManagedFields() == nil {
		return object
	}
	object = object.DeepCopyObject()
	if o, err := meta.Accessor(object); err == nil {
		o.SetManagedFields(nil)
	}
	return object
}
