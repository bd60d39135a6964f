package discovery

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cadastre/cadastre/internal/api"
)

// writeOpenAPI2Proto writes the OpenAPI v2 document of kinds as protobuf. To save memory, it writes a sequence of messages
// with one path or definition each; protobuf decoders merge concatenated messages.
func writeOpenAPI2Proto(w io.Writer, all []*api.Kind, options Options) error {
	m := newPathBuilder(openAPIV2, options)
	out := &protoWriter{w: w}
	out.write(&openapi_v2.Document{
		Swagger:             "2.0",
		Info:                &openapi_v2.Info{Title: title, Version: documentVersion},
		Security:            []*openapi_v2.SecurityRequirement{{AdditionalProperties: []*openapi_v2.NamedStringArray{{Name: securityName, Value: &openapi_v2.StringArray{}}}}},
		SecurityDefinitions: securityProto(),
	})
	for _, p := range m.allPaths(all) {
		item := &openapi_v2.NamedPathItem{Name: p.address, Value: p.proto()}
		out.write(&openapi_v2.Document{Paths: &openapi_v2.Paths{Path: []*openapi_v2.NamedPathItem{item}}})
	}
	for _, name := range m.names() {
		d := m.definitions[name]
		addKinds(d.schema, d.kinds)
		made := &openapi_v2.NamedSchema{Name: name, Value: schemaProto(d.schema)}
		out.write(&openapi_v2.Document{Definitions: &openapi_v2.Definitions{AdditionalProperties: []*openapi_v2.NamedSchema{made}}})
	}
	for _, p := range m.parameters.shared() {
		made := &openapi_v2.NamedParameter{Name: p.key, Value: p.declarationProto()}
		out.write(&openapi_v2.Document{Parameters: &openapi_v2.ParameterDefinitions{AdditionalProperties: []*openapi_v2.NamedParameter{made}}})
	}
	return out.err
}

// protoWriter writes concatenated protobuf messages. After an error, which err retains, it writes nothing.
type protoWriter struct {
	w      io.Writer
	buffer []byte
	err    error
}

func (p *protoWriter) write(m proto.Message) {
	if p.err != nil {
		return
	}
	if p.buffer, p.err = (proto.MarshalOptions{Deterministic: true}).MarshalAppend(p.buffer[:0], m); p.err == nil {
		_, p.err = p.w.Write(p.buffer)
	}
}

func securityProto() *openapi_v2.SecurityDefinitions {
	scheme := bearerToken()
	item := &openapi_v2.SecurityDefinitionsItem{Oneof: &openapi_v2.SecurityDefinitionsItem_ApiKeySecurity{ApiKeySecurity: &openapi_v2.ApiKeySecurity{
		Type: scheme.Type, Name: scheme.Name, In: scheme.In, Description: scheme.Description,
	}}}
	return &openapi_v2.SecurityDefinitions{AdditionalProperties: []*openapi_v2.NamedSecurityDefinitionsItem{{Name: securityName, Value: item}}}
}

func (p *path) proto() *openapi_v2.PathItem {
	item := &openapi_v2.PathItem{Parameters: parametersProto(p.parameters)}
	for _, o := range p.operations {
		made := o.proto()
		switch o.method {
		case "get":
			item.Get = made
		case "put":
			item.Put = made
		case "post":
			item.Post = made
		case "delete":
			item.Delete = made
		case "patch":
			item.Patch = made
		}
	}
	return item
}

func (o *operation) proto() *openapi_v2.Operation {
	made := &openapi_v2.Operation{
		OperationId: o.id, Description: o.description, Tags: []string{o.tag},
		Consumes: o.consumes, Produces: o.produces, Schemes: []string{"https"},
		VendorExtension: extensionsProto(o.extensions()), Responses: o.responsesProto(),
	}
	if o.body != "" {
		body := &openapi_v2.BodyParameter{Name: "body", In: "body", Required: !o.optionalBody, Schema: schemaProto(reference(openAPIV2, o.body))}
		made.Parameters = append(made.Parameters, itemProto(&openapi_v2.Parameter{Oneof: &openapi_v2.Parameter_BodyParameter{BodyParameter: body}}))
	}
	made.Parameters = append(made.Parameters, parametersProto(o.parameters)...)
	return made
}

func (o *operation) responsesProto() *openapi_v2.Responses {
	made := &openapi_v2.Responses{}
	add := func(code int, schema *openapi_v2.SchemaItem) {
		response := &openapi_v2.Response{Description: http.StatusText(code), Schema: schema}
		value := &openapi_v2.ResponseValue{Oneof: &openapi_v2.ResponseValue_Response{Response: response}}
		made.ResponseCode = append(made.ResponseCode, &openapi_v2.NamedResponseValue{Name: strconv.Itoa(code), Value: value})
	}
	for _, code := range o.codes {
		add(code, &openapi_v2.SchemaItem{Oneof: &openapi_v2.SchemaItem_Schema{Schema: schemaProto(reference(openAPIV2, o.response))}})
	}
	add(http.StatusUnauthorized, nil)
	return made
}

func itemProto(p *openapi_v2.Parameter) *openapi_v2.ParametersItem {
	return &openapi_v2.ParametersItem{Oneof: &openapi_v2.ParametersItem_Parameter{Parameter: p}}
}

func parametersProto(list []parameter) (made []*openapi_v2.ParametersItem) {
	for _, p := range list {
		if p.key == "" {
			made = append(made, itemProto(p.declarationProto()))
			continue
		}
		ref := &openapi_v2.JsonReference{XRef: "#/parameters/" + p.key}
		made = append(made, &openapi_v2.ParametersItem{Oneof: &openapi_v2.ParametersItem_JsonReference{JsonReference: ref}})
	}
	return made
}

func (p parameter) declarationProto() *openapi_v2.Parameter {
	made := &openapi_v2.NonBodyParameter{}
	if p.in == "path" {
		made.Oneof = &openapi_v2.NonBodyParameter_PathParameterSubSchema{PathParameterSubSchema: &openapi_v2.PathParameterSubSchema{
			Name: p.name, In: p.in, Description: p.description, Type: p.valueType, UniqueItems: true, Required: true,
		}}
	} else {
		made.Oneof = &openapi_v2.NonBodyParameter_QueryParameterSubSchema{QueryParameterSubSchema: &openapi_v2.QueryParameterSubSchema{
			Name: p.name, In: p.in, Description: p.description, Type: p.valueType, UniqueItems: true,
		}}
	}
	return &openapi_v2.Parameter{Oneof: &openapi_v2.Parameter_NonBodyParameter{NonBodyParameter: made}}
}

// addLimits copies the keywords of s that restrict values, such as maximum, to message. Only schemas of custom resources have
// such keywords.
func addLimits(message *openapi_v2.Schema, s *spec.Schema) {
	message.Minimum, message.Maximum, message.MultipleOf = orZero(s.Minimum), orZero(s.Maximum), orZero(s.MultipleOf)
	message.ExclusiveMinimum, message.ExclusiveMaximum = s.ExclusiveMinimum, s.ExclusiveMaximum
	message.MinLength, message.MaxLength, message.Pattern = orZero(s.MinLength), orZero(s.MaxLength), s.Pattern
	message.MinItems, message.MaxItems, message.UniqueItems = orZero(s.MinItems), orZero(s.MaxItems), s.UniqueItems
	message.MinProperties, message.MaxProperties = orZero(s.MinProperties), orZero(s.MaxProperties)
}

// orZero returns the value that a pointer refers to; the zero value if the pointer is nil.
func orZero[T any](value *T) (zero T) {
	if value != nil {
		return *value
	}
	return zero
}

// additionalProto converts additionalProperties, which is a schema or a boolean, to a protobuf message; nil if it is absent.
func additionalProto(s *spec.SchemaOrBool) *openapi_v2.AdditionalPropertiesItem {
	switch {
	case s == nil:
		return nil
	case s.Schema == nil:
		return &openapi_v2.AdditionalPropertiesItem{Oneof: &openapi_v2.AdditionalPropertiesItem_Boolean{Boolean: s.Allows}}
	}
	return &openapi_v2.AdditionalPropertiesItem{Oneof: &openapi_v2.AdditionalPropertiesItem_Schema{Schema: schemaProto(s.Schema)}}
}

// schemaProto converts a schema to a protobuf message. It supports only the keywords that definitionBuilder uses for
// OpenAPI v2.
func schemaProto(s *spec.Schema) *openapi_v2.Schema {
	made := &openapi_v2.Schema{
		XRef: s.Ref.String(), Title: s.Title, Description: s.Description, Format: s.Format, Required: s.Required,
		VendorExtension: extensionsProto(s.Extensions),
	}
	addLimits(made, s)
	if s.Default != nil {
		made.Default = anyProto(s.Default)
	}
	if len(s.Type) > 0 {
		made.Type = &openapi_v2.TypeItem{Value: s.Type}
	}
	for _, value := range s.Enum {
		made.Enum = append(made.Enum, anyProto(value))
	}
	if s.Items != nil {
		made.Items = &openapi_v2.ItemsItem{Schema: []*openapi_v2.Schema{schemaProto(s.Items.Schema)}}
	}
	made.AdditionalProperties = additionalProto(s.AdditionalProperties)
	if len(s.Properties) > 0 {
		made.Properties = &openapi_v2.Properties{}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		made.Properties.AdditionalProperties = append(made.Properties.AdditionalProperties, &openapi_v2.NamedSchema{Name: name, Value: schemaProto(&property)})
	}
	return made
}

func extensionsProto(extensions spec.Extensions) (made []*openapi_v2.NamedAny) {
	for _, name := range slices.Sorted(maps.Keys(extensions)) {
		made = append(made, &openapi_v2.NamedAny{Name: name, Value: anyProto(extensions[name])})
	}
	return made
}

// anyProto converts a value to a protobuf message that contains it as YAML. The YAML is JSON, which is a subset of YAML.
func anyProto(value any) *openapi_v2.Any {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // unreachable: the value consists of strings, lists and maps
	}
	return &openapi_v2.Any{Yaml: string(text)}
}
