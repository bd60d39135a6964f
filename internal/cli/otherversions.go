package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cli/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// otherVersions reads o, the object t, at the API versions of its managed fields entries that differ from the version of t.
// The result is keyed by apiVersion, and omits versions that are no longer served.
func otherVersions(ctx context.Context, c *cluster.Cluster, t target, o apply.Object) (map[string]document.Value, error) {
	byVersion := map[string]document.Value{}
	for _, e := range o.Entries {
		if _, known := byVersion[e.APIVersion]; known || e.APIVersion == t.kind.APIVersion() {
			continue
		}
		k, err := c.KindOf(ctx, e.APIVersion, t.kind.Name)
		if err != nil {
			continue
		}
		other, err := target{k, t.namespace, t.name}.get(ctx, c)
		switch {
		case cluster.IsCode(err, http.StatusNotFound): // the version is no longer served
		case err != nil:
			return nil, err
		default:
			byVersion[e.APIVersion] = other.Document
		}
	}
	return byVersion, nil
}

// reportOtherVersions prints the managed fields entries whose fields do not exist at the API version of the output, and the
// command that shows these fields.
func reportOtherVersions(w io.Writer, t target, lines []ownership.Line, byVersion map[string]document.Value) {
	reported := map[string]bool{t.kind.APIVersion(): true}
	for _, line := range lines {
		for _, e := range line.Owners {
			if line.State != ownership.OtherVersion || reported[e.APIVersion] {
				continue
			}
			reported[e.APIVersion] = true
			fmt.Fprintf(w, "%s: %s owns fields at %s that do not exist at %s; ? marks the fields that may correspond to them; %s\n",
				t, entryName(e), e.APIVersion, t.kind.APIVersion(), otherVersionHint(t, e.APIVersion, byVersion))
		}
	}
}

func otherVersionHint(t target, apiVersion string, byVersion map[string]document.Value) string {
	if _, known := byVersion[apiVersion]; !known {
		return "the server no longer serves that version"
	}
	group, version, found := strings.Cut(apiVersion, "/")
	name := t.kind.Resource + "." + version + "." + group
	if !found {
		name = t.kind.Resource + "." + apiVersion
	}
	return fmt.Sprintf("run blame %s %s", name, t.name)
}
