package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
)

// target identifies one object on the server, at an API version.
type target struct {
	kind            cluster.Kind
	namespace, name string
}

// String returns the object's name in kubectl's format, such as deployment.apps/web, or only the kind if the name is empty.
func (t target) String() string {
	if t.name == "" {
		return t.kind.String()
	}
	return t.kind.String() + "/" + t.name
}

// fields returns kind, apiVersion, namespace and name as document fields, for -o json and -o yaml.
func (t target) fields() []document.Field {
	return []document.Field{
		{Name: "kind", Value: document.NewString(t.kind.Name)},
		{Name: "apiVersion", Value: document.NewString(t.kind.APIVersion())},
		{Name: "namespace", Value: document.NewString(t.namespace)},
		{Name: "name", Value: document.NewString(t.name)},
	}
}

// checkName returns an error if name is not a single path segment, because it would then address another resource, such as
// a subresource.
func checkName(name string) error {
	if problems := content.IsPathSegmentName(name); len(problems) > 0 {
		return fmt.Errorf("expected the name of an object, received %q, which %s", name, strings.Join(problems, ", "))
	}
	return nil
}

// targetOf returns the target of an object of kind k, with the namespace and name in its metadata.
func targetOf(k cluster.Kind, doc document.Value) target {
	return target{k, doc.Lookup("metadata", "namespace").Text(), doc.Lookup("metadata", "name").Text()}
}

// withNamespace returns config with the target's namespace if config has none, like kubectl. Servers copy the configuration
// to the last-applied-configuration annotation; without the namespace, alternating applies by cadastre and kubectl would
// each change the annotation.
func (t target) withNamespace(config document.Value) document.Value {
	metadata := config.Get("metadata")
	if !t.kind.Namespaced || metadata.Get("namespace").Text() != "" {
		return config
	}
	return config.With("metadata", metadata.With("namespace", document.NewString(t.namespace)))
}

// parseTarget returns the target of the arguments TYPE NAME or TYPE/NAME, and the remaining arguments.
func parseTarget(ctx context.Context, c *cluster.Cluster, namespace string, args []string) (t target, rest []string, err error) {
	if len(args) == 0 {
		return t, nil, &usageError{fmt.Errorf("TYPE NAME or TYPE/NAME must be given")}
	}
	name, rest := "", args[1:]
	kind, name, slash := strings.Cut(args[0], "/")
	if !slash {
		if len(rest) == 0 {
			return t, nil, &usageError{fmt.Errorf("expected TYPE NAME or TYPE/NAME, received only %q", args[0])}
		}
		name, rest = rest[0], rest[1:]
	}
	if kind == "" || name == "" {
		return t, nil, &usageError{fmt.Errorf("expected TYPE NAME or TYPE/NAME, received %q", strings.Join(args, " "))}
	}
	if err := checkName(name); err != nil {
		return t, nil, &usageError{err}
	}
	k, err := c.FindKind(ctx, kind)
	if err != nil {
		return t, nil, err
	}
	return target{k, namespace, name}, rest, nil
}

// openTarget connects to the server and returns the target that args name. More than one object in args is a usage error of
// verb. Warnings of the server are printed to stderr.
func (c *connection) openTarget(ctx context.Context, verb string, args []string, stderr io.Writer) (server *cluster.Cluster, t target, err error) {
	server, namespace, err := c.open()
	if err != nil {
		return nil, t, err
	}
	printWarnings(server, stderr)
	t, rest, err := parseTarget(ctx, server, namespace, args)
	if err == nil && len(rest) > 0 {
		err = &usageError{fmt.Errorf("%s: expected one object, received further arguments %q", verb, rest)}
	}
	return server, t, err
}

// get reads the object. Its error is a *targetError.
func (t target) get(ctx context.Context, c *cluster.Cluster) (apply.Object, error) {
	o, err := c.Get(ctx, t.kind, t.namespace, t.name)
	if err != nil {
		return o, &targetError{t, err}
	}
	return o, nil
}

// targetError is an error about an object. Its message starts with the name of the object.
type targetError struct {
	target target
	err    error
}

func (e *targetError) Error() string { return e.target.String() + ": " + e.err.Error() }
func (e *targetError) Unwrap() error { return e.err }

// withoutTarget returns the error within err if err wraps a *targetError, for messages that already name the object. It
// returns any other err unchanged.
func withoutTarget(err error) error {
	if targeted := (*targetError)(nil); errors.As(err, &targeted) {
		return targeted.err
	}
	return err
}
