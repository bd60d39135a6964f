package builtin

import (
	"fmt"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cadastre/cadastre/document"
)

// checkDomainName requires that the name of a webhook is a domain name of at least three DNS labels.
func checkDomainName(c *checker, value, _ document.Value) {
	c.addErrors(validation.IsFullyQualifiedName(nil, value.Text()))
}

// checkWebhookClient requires that the clientConfig of a webhook has either a valid url or a valid service.
func checkWebhookClient(c *checker, client, _ document.Value) {
	address, service := client.Get("url"), client.Get("service")
	switch {
	case isAbsentOrNull(address) == isAbsentOrNull(service):
		c.required("exactly one of url or service is required")
	case !isAbsentOrNull(address):
		c.checkWebhookURL(address.Text(), "url")
	default:
		c.push("service")
		c.checkWebhookService(service)
		c.pop()
	}
}

func (c *checker) checkWebhookURL(text, fieldName string) {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		c.required("url must be a valid URL: "+err.Error()+form, fieldName)
		return
	}
	if u.Scheme != "https" {
		c.invalid(u.Scheme, "'https' is the only allowed URL scheme"+form, fieldName)
	}
	if u.Host == "" {
		c.invalid(u.Host, "host must be specified"+form, fieldName)
	}
	if u.User != nil {
		c.invalid(u.User.String(), "user information is not permitted in the URL", fieldName)
	}
	if u.Fragment != "" {
		c.invalid(u.Fragment, "fragments are not permitted in the URL", fieldName)
	}
	if u.RawQuery != "" {
		c.invalid(u.RawQuery, "query parameters are not permitted in the URL", fieldName)
	}
}

// checkWebhookService validates the service in the clientConfig of a webhook. Like kube-apiserver, it reports a missing
// namespace at name and a missing name at namespace.
func (c *checker) checkWebhookService(service document.Value) {
	for _, name := range []string{"namespace", "name"} {
		if service.Get(name).Text() == "" {
			c.required("", webhookServiceFields[name])
		}
	}
	if n := intValue(service.Get("port")); n < 1 || n > 65535 {
		c.invalid(n, "port is not valid: "+strings.Join(validation.IsValidPortNum(int(n)), ", "), "port")
	}
	c.checkWebhookPath(service.Get("path").Text())
}

// webhookServiceFields maps a missing field of a service to the field at which kube-apiserver reports the error.
var webhookServiceFields = map[string]string{"namespace": "name", "name": "namespace"}

func (c *checker) checkWebhookPath(path string) {
	switch path {
	case "", "/":
		return
	case "//":
		c.invalid(path, "segment[0] may not be empty", "path")
		return
	}
	if path[0] != '/' {
		c.invalid(path, "must start with a '/'", "path")
	}
	segments := strings.Split(strings.TrimSuffix(path[1:], "/"), "/")
	for i, segment := range segments {
		if segment == "" {
			c.invalid(path, fmt.Sprintf("segment[%d] may not be empty", i), "path")
			continue
		}
		for _, problem := range formats["dns-subdomain"].check(segment) {
			c.invalid(path, fmt.Sprintf("segment[%d]: %v", i, problem), "path")
		}
	}
}

// checkReviewVersions requires that admissionReviewVersions of a webhook are distinct, and contain v1 or v1beta1.
func checkReviewVersions(c *checker, versions, _ document.Value) {
	supported := false
	for i, v := range versions.Items() {
		version := v.Text()
		c.pushItem(i)
		if c.firstIndex(versions, "", version, false) < i {
			c.invalid(version, "duplicate version")
		} else {
			c.invalidAll(version, validation.IsDNS1035Label(version))
		}
		c.pop()
		supported = supported || version == "v1" || version == "v1beta1"
	}
	if !supported {
		c.invalid(errorValue(versions), "must include at least one of v1, v1beta1")
	}
}

// checkAdmissionResources rejects each item of resources in an admission rule that another item includes. An item is RESOURCE
// or RESOURCE/SUBRESOURCE, where * matches all.
func checkAdmissionResources(c *checker, resources, _ document.Value) {
	withAllBelow := map[string]bool{} // the resources r for which the list contains r/*
	belowAll := map[string]bool{}     // the subresources s for which the list contains */s
	plain := false                    // whether the last item without a subresource names a resource (is not *)
	for i, r := range resources.Items() {
		text := r.Text()
		c.pushItem(i)
		resource, below, has := strings.Cut(text, "/")
		switch {
		case text == "":
			c.required("")
		case !has:
			plain = text != "*"
		default:
			if withAllBelow[resource] {
				c.invalid(text, fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, text))
			}
			if belowAll[below] {
				c.invalid(text, fmt.Sprintf("if '*/%s' is present, must not specify %s", below, text))
			}
			if below == "*" {
				withAllBelow[resource] = true
			}
			if resource == "*" {
				belowAll[below] = true
			}
		}
		c.pop()
	}
	if resources.Len() > 1 && c.firstIndex(resources, "", "*/*", false) >= 0 {
		c.invalid(errorValue(resources), "if '*/*' is present, must not specify other resources")
	}
	if plain && c.firstIndex(resources, "", "*", false) >= 0 {
		c.invalid(errorValue(resources), "if '*' is present, must not specify other resources without subresources")
	}
}
