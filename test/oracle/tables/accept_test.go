package tables

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/feature"
	featuretesting "k8s.io/component-base/featuregate/testing"
)

// serializers restricts Kubernetes' media types to those that package encoding supports too. Kubernetes does not stream
// YAML.
type serializers struct{ runtime.NegotiatedSerializer }

func (serializers) SupportedMediaTypes() []runtime.SerializerInfo {
	return []runtime.SerializerInfo{
		{MediaType: "application/json", MediaTypeType: "application", MediaTypeSubType: "json", StreamSerializer: &runtime.StreamSerializerInfo{}},
		{MediaType: "application/yaml", MediaTypeType: "application", MediaTypeSubType: "yaml"},
		{MediaType: "application/vnd.kubernetes.protobuf", MediaTypeType: "application", MediaTypeSubType: "vnd.kubernetes.protobuf", StreamSerializer: &runtime.StreamSerializerInfo{}},
		{MediaType: "application/cbor", MediaTypeType: "application", MediaTypeSubType: "cbor", StreamSerializer: &runtime.StreamSerializerInfo{}},
	}
}

// acceptParts contains the media types and parameters of which random Accept headers are composed.
var acceptParts = struct{ media, params []string }{
	media: []string{"application/json", "application/json", "application/yaml", "application/*", "*/*", "*", "text/html",
		"application/vnd.kubernetes.protobuf", "application/cbor", "application", "", "a/b/c", "*/json"},
	params: []string{"as=Table", "as=PartialObjectMetadata", "as=PartialObjectMetadataList", "as=Robot", "g=meta.k8s.io", "g=apps", "v=v1", "v=v1beta1",
		"v=v2", "q=0.5", "q=0", "q=0.9", "q=x", "stream=watch", "stream=other", "stream=", "charset=utf-8", "pretty=1", "pretty=0", "sv=v1", "sv=v2", "export=1", "x=y=z", "odd",
		"as=Table;v=v1;g=meta.k8s.io", "as=Table;v=v1;g=meta.k8s.io", "as=PartialObjectMetadata;v=v1;g=meta.k8s.io", " g = meta.k8s.io ; v=v1 ; as=Table "},
}

// usualHeaders lists Accept headers that real clients send.
var usualHeaders = []string{
	"", "*/*", "application/json", "application/yaml", "application/*", "application/json, */*",
	"application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
	"application/vnd.kubernetes.protobuf,application/json",
	"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
	"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "application/json;stream=watch", "application/json; charset=utf-8",
	"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/vnd.kubernetes.protobuf", "text/plain",
	"application/cbor", "application/cbor,application/json", "application/vnd.kubernetes.protobuf;stream=watch,application/json;stream=watch",
	"application/yaml;q=0.5,application/json;q=0.9", "application/yaml,application/json", "application/yaml;as=Table;v=v1;g=meta.k8s.io",
	"application/vnd.kubernetes.protobuf,*/*;q=0.1", "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
	"application/vnd.kubernetes.protobuf;q=0.9,application/yaml;q=0.5,application/json;q=0.1",
	"application/yaml;stream=watch,application/json", "application/yaml;stream=watch", "application/json;stream=watch;as=Table;v=v1;g=meta.k8s.io",
}

// TestWriteAccept records Kubernetes' negotiation of Accept headers, for endpoints with objects, with watches, and with
// fixed types, and for objects and watches of custom resources.
func TestWriteAccept(t *testing.T) {
	// The media type of CBOR streams depends on the feature gate.
	featuretesting.SetFeatureGateDuringTest(t, feature.DefaultFeatureGate, features.CBORServingAndStorage, true)
	headers := usualHeaders
	r := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		clauses := make([]string, 1+r.IntN(3))
		for i := range clauses {
			parts := []string{acceptParts.media[r.IntN(len(acceptParts.media))]}
			for range r.IntN(4) {
				parts = append(parts, acceptParts.params[r.IntN(len(acceptParts.params))])
			}
			clauses[i] = strings.Join(parts, ";")
		}
		headers = append(headers, strings.Join(clauses, []string{",", ", "}[r.IntN(2)]))
	}
	var out bytes.Buffer
	for _, header := range headers {
		fmt.Fprintf(&out, "%s\n", header)
		for _, endpoint := range []string{"objects", "watch", "fixed", "custom objects", "custom watch"} {
			fmt.Fprintf(&out, "  %s: %s\n", endpoint, negotiated(header, endpoint))
		}
	}
	write(t, "accept.txt", append([]byte(header), out.Bytes()...))
}

func negotiated(header, endpoint string) string {
	scope := &handlers.RequestScope{
		MetaGroupVersion: schema.GroupVersion{Version: "v1"},
		TableConvertor:   rest.NewDefaultTableConvertor(schema.GroupResource{}),
	}
	endpoint, isCustom := strings.CutPrefix(endpoint, "custom ")
	if isCustom { // custom resources have no protobuf encoding
		scope.StandardSerializers = slices.DeleteFunc(serializers{}.SupportedMediaTypes(), func(info runtime.SerializerInfo) bool {
			return info.MediaType == runtime.ContentTypeProtobuf
		})
	}
	var restrictions negotiation.EndpointRestrictions = scope
	if endpoint == "fixed" {
		restrictions = negotiation.DefaultEndpointRestrictions
	}
	request := &http.Request{Header: http.Header{"Accept": {header}}}
	options, info, err := negotiation.NegotiateOutputMediaType(request, serializers{}, restrictions)
	if err == nil && endpoint == "watch" {
		_, err = negotiation.NegotiateOutputMediaTypeStream(request, serializers{}, restrictions)
	}
	if err != nil {
		return err.Error()
	}
	answer := info.MediaType
	if options.Convert != nil {
		answer += " " + options.Convert.Kind + " " + options.Convert.GroupVersion().String()
	}
	if options.Pretty {
		answer += " pretty"
	}
	return answer
}
