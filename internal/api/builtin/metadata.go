package builtin

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// maxAnnotationBytes is the maximum total size of the keys and values of an object's annotations, in bytes.
const maxAnnotationBytes = 256 << 10

// nameFormat is the format of metadata.name, and of metadata.generateName (prefix), for a kind.
type nameFormat struct {
	name, prefix format
	generated    bool // generated makes a create accept an empty name, because the server generates the name.
}

// nameFormats maps the arguments of the check object-meta to name formats.
var nameFormats = map[string]nameFormat{
	"dns-label":     {formats["dns-label"], prefixFormat("dns-label"), false},
	"dns-subdomain": {formats["dns-subdomain"], prefixFormat("dns-subdomain"), false},
	"dns1035-label": {formats["dns1035-label"], prefixFormat("dns1035-label"), false},
	// The prefix is not validated: for kinds with this format, kube-apiserver validates only the whole name.
	"whole-dns-subdomain": {format{isDNSSubdomain, content.IsDNS1123Subdomain, "format=k8s-long-name"}, format{accepts: anyText}, false},
	"path-segment":        {pathSegment, segmentPrefix, false},
	"any":                 {format{accepts: anyText}, format{accepts: anyText}, false},

	"ip-address": {addressName, addressName, false},

	"generated-dns-subdomain": {formats["dns-subdomain"], prefixFormat("dns-subdomain"), true},
}

func anyText(string) bool { return true }

func prefixFormat(name string) format {
	f := formats[name]
	return format{f.accepts, func(s string) []string { return f.problems(replaceTrailingDash(s)) }, f.origin}
}

// makeObjectMeta returns a check of metadata on create. The arguments are a key of nameFormats and, optionally, the word
// "always", which makes the check apply to updates as well.
func makeObjectMeta(args []string) (check, error) {
	always := len(args) == 2 && args[1] == "always"
	if len(args) != 1 && !always {
		return nil, fmt.Errorf("expected a name format, optionally followed by \"always\", received %q", args)
	}
	names, ok := nameFormats[args[0]]
	if !ok {
		return nil, fmt.Errorf("expected a name format, received %q", args[0])
	}
	return func(c *checker, value, _ document.Value) bool {
		if c.updating && !always {
			return true
		}
		c.checkCreatedMeta(value, names)
		c.checkFinalizerKinds(value)
		return true
	}, nil
}

// checkObjectMetaUpdate validates the metadata on update. kube-apiserver runs these checks for some kinds a second time, after
// the checks for objects of all kinds.
func checkObjectMetaUpdate(c *checker, value, old document.Value) {
	if c.updating {
		c.checkUpdatedMeta(value, old)
		c.checkFinalizerKinds(value)
	}
}

// checkMeta validates the metadata with the checks for objects of all kinds; names is the format of metadata.name.
func (c *checker) checkMeta(meta document.Value, names format) {
	c.checkCreatedMeta(meta, nameFormat{names, segmentPrefix, false})
}

func (c *checker) checkCreatedMeta(meta document.Value, names nameFormat) {
	if prefix := meta.Get("generateName").Text(); prefix != "" {
		c.invalidAll(prefix, names.prefix.check(prefix), "generateName")
	}
	if name := meta.Get("name").Text(); name == "" && names.generated && !c.updating {
	} else if name == "" {
		c.required("name or generateName is required", "name")
	} else {
		c.push("name")
		c.invalidFormat(names.name, name)
		c.pop()
	}
	switch namespace := meta.Get("namespace").Text(); {
	case c.namespaced && namespace == "":
		c.required("", "namespace")
	case c.namespaced && !isDNSLabel(namespace):
		c.invalidAll(namespace, formats["dns-label"].check(namespace), "namespace")
	case c.namespaced:
	case namespace != "":
		c.forbidden("not allowed on this type", "namespace")
	}
	if n := intValue(meta.Get("generation")); n < 0 {
		c.invalid(n, "must be greater than or equal to 0", "generation")
	}
	c.checkLabels(meta.Get("labels"), "labels")
	c.checkAnnotations(meta.Get("annotations"), "annotations")
	c.checkOwners(meta.Get("ownerReferences"))
	c.checkFinalizers(meta.Get("finalizers"))
	c.checkManagedFields(meta.Get("managedFields"))
}

// checkUpdatedMeta validates the metadata of an update: that immutable fields do not change, and that the other fields are
// valid.
func (c *checker) checkUpdatedMeta(value, old document.Value) {
	if !isEmpty(old.Get("deletionTimestamp")) {
		c.rejectNewFinalizers(value.Get("finalizers"), old.Get("finalizers"))
	}
	for _, name := range []string{"name", "namespace", "uid"} {
		oldValue, current := old.Get(name).Text(), value.Get(name).Text()
		if current != oldValue && !(name == "uid" && current == "") {
			c.invalid(current, "field is immutable", name)
		}
	}
	// Only deletions set these fields.
	for _, name := range []string{"deletionTimestamp", "deletionGracePeriodSeconds"} {
		if current := value.Get(name); !isAbsentOrNull(current) && !document.Equal(current, old.Get(name)) {
			c.invalid(errorValue(current), "field is immutable", name)
		}
	}
	c.checkLabels(value.Get("labels"), "labels")
	c.checkAnnotations(value.Get("annotations"), "annotations")
	c.checkOwners(value.Get("ownerReferences"))
	c.checkManagedFields(value.Get("managedFields"))
}

func (c *checker) rejectNewFinalizers(value, old document.Value) {
	var added []string
	for _, f := range value.Items() {
		if c.firstIndex(old, "", f.Text(), false) < 0 {
			added = append(added, f.Text())
		}
	}
	if len(added) > 0 {
		slices.Sort(added)
		c.forbidden(fmt.Sprintf("no new finalizers can be added if the object is being deleted, found new finalizers %#v", slices.Compact(added)), "finalizers")
	}
}

func (c *checker) checkLabels(labels document.Value, below ...string) {
	for key, value := range labels.Fields() {
		if !isLabelKey(key) {
			c.invalidAll(key, formats["qualified-name"].problems(key), below...)
		}
		if text := value.Text(); !isLabelValue(text) {
			c.invalidAll(text, formats["label-value"].problems(text), below...)
		}
	}
}

func (c *checker) checkAnnotations(annotations document.Value, below ...string) {
	size := 0
	for key, value := range annotations.Fields() {
		if !isLabelKey(key) {
			c.invalidAll(key, formats["qualified-name-any-case"].problems(key), below...)
		}
		size += len(key) + len(value.Text())
	}
	if size > maxAnnotationBytes {
		c.tooLong(maxAnnotationBytes, below...)
	}
}

func (c *checker) checkOwners(owners document.Value) {
	controller := ""
	for i, owner := range owners.Items() {
		c.checkOwner(i, owner)
		if !owner.Get("controller").Bool() {
			continue
		}
		name := owner.Get("kind").Text() + "/" + owner.Get("name").Text()
		if controller == "" {
			controller = name
			continue
		}
		c.invalid(errorValue(owners), fmt.Sprintf("Only one reference can have Controller set to true. Found \"true\" in references for %v and %v", controller, name), "ownerReferences")
	}
}

func (c *checker) checkOwner(i int, owner document.Value) {
	c.push("ownerReferences")
	c.pushItem(i)
	apiVersion := owner.Get("apiVersion").Text()
	gv, err := schema.ParseGroupVersion(apiVersion)
	switch {
	case apiVersion == "":
		c.required("must not be empty", "apiVersion")
	case err != nil || gv.Version == "":
		c.invalid(apiVersion, "must be <group>/<version> or <version>", "apiVersion")
	}
	for _, name := range []string{"kind", "name", "uid"} {
		if owner.Get(name).Text() == "" {
			c.required("must not be empty", name)
		}
	}
	gvk := gv.WithKind(owner.Get("kind").Text())
	if gvk == (schema.GroupVersionKind{Version: "v1", Kind: "Event"}) {
		c.invalid(errorValue(owner), fmt.Sprintf("%s is disallowed from being an owner", gvk))
	}
	c.pop()
	c.pop()
}

func (c *checker) checkFinalizers(finalizers document.Value) {
	orphan, foreground := false, false
	for _, f := range finalizers.Items() {
		c.invalidAll(f.Text(), formats["qualified-name"].check(f.Text()), "finalizers")
		orphan = orphan || f.Text() == metav1.FinalizerOrphanDependents
		foreground = foreground || f.Text() == metav1.FinalizerDeleteDependents
	}
	if orphan && foreground {
		c.invalid(errorValue(finalizers), fmt.Sprintf("finalizer %s and %s cannot be both set", metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents), "finalizers")
	}
}

// checkFinalizerKinds requires that each finalizer is one that Kubernetes defines or has a domain-qualified name.
func (c *checker) checkFinalizerKinds(meta document.Value) {
	finalizers := meta.Get("finalizers")
	for i, f := range finalizers.Items() {
		if isQualifiedFinalizer(f.Text()) {
			continue
		}
		c.push("finalizers")
		c.pushItem(i)
		c.invalid(f.Text(), "name is neither a standard finalizer name nor is it fully qualified")
		c.pop()
		c.pop()
	}
}

func isQualifiedFinalizer(name string) bool {
	switch name {
	case "kubernetes", metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
		return true
	}
	return strings.Contains(name, "/")
}

// checkManagedFields validates managed fields entries. It skips unparsed entries, which come from the live object and were
// validated when they were written.
func (c *checker) checkManagedFields(entries document.Value) {
	if fastdoc.IsUnparsed(entries) {
		return
	}
	for i, entry := range entries.Items() {
		if fastdoc.IsUnparsed(entry) {
			continue
		}
		operation, fieldsType := entry.Get("operation").Text(), entry.Get("fieldsType").Text()
		if operation == "Apply" || operation == "Update" {
			if (fieldsType == "" || fieldsType == "FieldsV1") && len(entry.Get("subresource").Text()) <= 256 && len(entry.Get("manager").Text()) <= 128 {
				continue
			}
		}
		c.push("managedFields")
		c.pushItem(i)
		switch operation {
		case "Apply", "Update":
		case "":
			c.required("must not be empty", "operation")
		default:
			c.unsupported(operation, []string{"Apply", "Update"}, "operation")
		}
		if fieldsType != "" && fieldsType != "FieldsV1" {
			c.invalid(fieldsType, "must be `FieldsV1`", "fieldsType")
		}
		if len(entry.Get("manager").Text()) > 128 {
			c.tooLong(128, "manager")
		}
		if len(entry.Get("subresource").Text()) > 256 {
			c.tooLong(256, "subresource")
		}
		c.pop()
		c.pop()
	}
}
