package cli

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/internal/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// ownersManager is the manager that changes of owners are written as. It never owns anything: no value changes.
const ownersManager = "cadastre"

// writeOwners gives an object other entries, provided that nobody has written it since it was read.
func (t target) writeOwners(ctx context.Context, c *cluster.Cluster, read apply.Object, entries []apply.Entry) error {
	patch, err := ownership.Patch(read, entries)
	if err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	if _, err := c.Patch(ctx, t.kind, t.namespace, t.name, ownersManager, patch); err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	return nil
}

// mostRaces is how often an object is read again because somebody else wrote it meanwhile.
const mostRaces = 10

// isLostRace reports whether an object has to be read again: somebody else was faster, and not too often.
func isLostRace(err error, race int) bool {
	return cluster.IsCode(err, http.StatusConflict) && race < mostRaces
}
