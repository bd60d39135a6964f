package server

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	optionsvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// get handles the verb get.
func (q *request) get() error {
	view, err := q.negotiate()
	if err != nil {
		return err
	}
	endpoint, err := q.endpoint()
	if err != nil {
		return err
	}
	freshness, err := readFreshness(q.query().Get("resourceVersion"), "")
	if err != nil {
		return err
	}
	object, err := q.h.Cache.Get(q.r.Context(), q.key(), freshness) // no timeout: the cache limits the wait for a revision itself
	if errors.Is(err, storage.ErrNotFound) {
		return q.notFound()
	}
	if err != nil {
		return registry.StoreError(err)
	}
	if err := q.h.Objects.CheckScale(endpoint, object); err != nil {
		return err
	}
	return q.respondObject(http.StatusOK, view, endpoint, object)
}

// key returns the key of the object that the path names.
func (q *request) key() watchcache.Key {
	return watchcache.Key{Kind: q.kind.StoreName(), Namespace: q.target.objectNamespace(q.kind), Name: q.target.name}
}

// notFound returns the 404 for the object that the path names.
func (q *request) notFound() error {
	return apierrors.NewNotFound(schema.GroupResource{Group: q.target.group, Resource: q.target.resource}, q.target.name)
}

// listOptions are the query parameters of list, watch and deletecollection.
type listOptions struct {
	internalversion.ListOptions
	selection watchcache.Selection
	timeout   time.Duration
}

// readListOptions parses and validates the query parameters of a list, watch or deletecollection.
func (q *request) readListOptions() (listOptions, error) {
	query := q.query()
	o := listOptions{selection: watchcache.Selection{Kind: q.kind.StoreName(), Namespace: q.target.objectNamespace(q.kind), Name: q.target.name}}
	o.Watch = q.target.verb == "watch"
	o.ResourceVersion = query.Get("resourceVersion")
	o.ResourceVersionMatch = metav1.ResourceVersionMatch(query.Get("resourceVersionMatch"))
	o.Continue = query.Get("continue")
	o.AllowWatchBookmarks = isTrue(query.Get("allowWatchBookmarks"))
	if query.Has("sendInitialEvents") {
		o.SendInitialEvents = new(hasTrue(query, "sendInitialEvents"))
	}
	var err error
	if o.Limit, err = readNumber(query, "limit"); err != nil {
		return o, err
	}
	seconds, err := readNumber(query, "timeoutSeconds")
	if err != nil {
		return o, err
	}
	internalversion.SetListOptionsDefaults(&o.ListOptions, true)
	o.timeout = time.Duration(min(seconds, math.MaxInt32)) * time.Second // without the limit, the product could overflow
	if seconds == 0 && strings.HasPrefix(query.Get("timeoutSeconds"), "-") {
		o.timeout = time.Nanosecond // as in Kubernetes, where a request with a negative timeout ends immediately
	}
	if errs := optionsvalidation.ValidateListOptions(&o.ListOptions, true); len(errs) > 0 {
		return o, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	return o, q.readSelectors(&o.selection)
}

// readNumber parses a query parameter that is a number; 0 if it is absent.
func readNumber(query url.Values, name string) (int64, error) {
	if !query.Has(name) {
		return 0, nil
	}
	text := query.Get(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("%s: expected a number, received %q", name, text))
	}
	return max(n, 0), nil // as in Kubernetes, where a negative number means no limit
}

// readSelectors parses the label and field selectors.
func (q *request) readSelectors(s *watchcache.Selection) error {
	query := q.query()
	if text := query.Get("labelSelector"); text != "" {
		selector, err := labels.Parse(text)
		if err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		s.Labels = selector
	}
	text := query.Get("fieldSelector")
	if text == "" {
		return nil
	}
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if name, ok := selector.RequiresExactMatch("metadata.name"); ok && s.Name != "" && name != s.Name {
		return apierrors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	if q.kind.Custom {
		return q.selectCustomFields(s, selector)
	}
	s.Fields, err = selector.Transform(func(field, value string) (string, string, error) {
		stored, err := q.kind.StoredField(field)
		return stored, value, err
	})
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// readFreshness parses resourceVersion and resourceVersionMatch of a read. It returns a 400 if they are invalid.
func readFreshness(version string, match metav1.ResourceVersionMatch) (watchcache.Freshness, error) {
	switch version {
	case "":
		return watchcache.Latest, nil
	case "0":
		return watchcache.Any, nil
	}
	revision, err := readRevision(version)
	if err != nil {
		return watchcache.Freshness{}, err
	}
	if match == metav1.ResourceVersionMatchExact {
		return watchcache.Exactly(revision), nil
	}
	return watchcache.NotOlderThan(revision), nil
}

// readRevision parses a resourceVersion. It returns a 400 if it is not a number.
func readRevision(version string) (storage.Revision, error) {
	revision, err := strconv.ParseInt(version, 10, 64)
	if err != nil || revision < 0 {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("invalid resource version: resourceVersion: expected a number, received %q", version))
	}
	return storage.Revision(revision), nil
}

// list handles the verb list.
func (q *request) list() error {
	if q.target.subresource != "" {
		return q.methodNotAllowed()
	}
	view, err := q.negotiate()
	if err != nil {
		return err
	}
	endpoint, err := q.endpoint()
	if err != nil {
		return err
	}
	o, err := q.readListOptions()
	if err != nil {
		return err
	}
	list, err := q.listPage(o, func(query watchcache.Query) (watchcache.List, error) { return q.listSelected(q.r.Context(), query) })
	if err != nil {
		return err
	}
	shown, err := q.h.Objects.AllAt(endpoint, list.Objects)
	if err != nil {
		return err
	}
	return q.respondList(view, endpoint, list, shown)
}

// page is one page of a list. next is the continue token of the next page; "" for the last page.
type page struct {
	watchcache.List
	next string
}

// listQuery returns the watch cache query for the first page of a list, or for the page that a continue token selects.
func (q *request) listQuery(o listOptions) (query watchcache.Query, err error) {
	query = watchcache.Query{Selection: o.selection, Limit: int(o.Limit)}
	match := o.ResourceVersionMatch
	if o.ResourceVersion == "0" {
		query.Limit = 0 // as in Kubernetes, where lists from the watch cache have no pages
	}
	switch {
	case o.Continue != "":
		query.After, query.Freshness, err = parseContinue(o, q.kind.StoreName())
		return query, err
	case query.Limit > 0 && o.ResourceVersion != "" && match == "":
		// All pages are read at the revision of the first page, so a resourceVersion with a limit is exact, as in Kubernetes.
		match = metav1.ResourceVersionMatchExact
	}
	query.Freshness, err = readFreshness(o.ResourceVersion, match)
	return query, err
}

// listPage reads one page of a list by calling read. It returns a 410 if the revision of the continue token was compacted.
func (q *request) listPage(o listOptions, read func(watchcache.Query) (watchcache.List, error)) (page, error) {
	query, err := q.listQuery(o)
	if err != nil {
		return page{}, err
	}
	list, err := read(query)
	if errors.Is(err, watchcache.ErrTooOld) && o.Continue != "" {
		return page{}, expiredContinue(query.After)
	}
	if err != nil {
		return page{}, registry.StoreError(err)
	}
	p := page{List: list}
	if list.More {
		p.next = newContinue(list)
	}
	return p, nil
}
