package etcd

import (
	"context"
	"errors"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cadastre/cadastre/internal/storage"
)

// compactionKey is the key in etcd, outside of the prefix, with which kube-apiservers agree on the process that compacts. Its version
// is the number of the interval; its value is the revision that was compacted.
const compactionKey = "compact_rev_key"

// Compact implements storage.Store.
func (s *Store) Compact(ctx context.Context, revision storage.Revision) error {
	operation, end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if revision <= 0 {
		return nil
	}
	_, err = s.client.Compact(operation, int64(revision))
	if errors.Is(err, rpctypes.ErrCompacted) {
		return nil
	}
	return s.readError(ctx, err)
}

// runCompaction compacts the history once per interval, up to the revision at the end of the previous interval. Among all processes
// that use the cluster, kube-apiservers included, the first whose transaction succeeds in an interval compacts.
func (s *Store) runCompaction() {
	turn := compactionTurn{}
	ticker := time.NewTicker(s.options.CompactionInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-s.ctx.Done():
			return
		}
		next, err := s.takeCompactionTurn(s.ctx, turn)
		if err == nil {
			turn = next
		} else if s.ctx.Err() == nil {
			s.options.Log.Warn("etcd: compaction failed; the next interval tries again", "error", err)
		}
	}
}

// compactionTurn is the state of compaction at the end of an interval: the version of compactionKey, and the revision of etcd, up to
// which the next interval compacts. It is zero before the first interval.
type compactionTurn struct{ version, revision int64 }

// takeCompactionTurn compacts up to turn.revision, unless another process has taken its turn since, and returns the state for the
// next interval.
func (s *Store) takeCompactionTurn(ctx context.Context, turn compactionTurn) (compactionTurn, error) {
	response, err := s.client.Txn(ctx).
		If(clientv3.Compare(clientv3.Version(compactionKey), "=", turn.version)).
		Then(clientv3.OpPut(compactionKey, strconv.FormatInt(turn.revision, 10))).
		Else(clientv3.OpGet(compactionKey)).
		Commit()
	if err != nil {
		return turn, err
	}
	next := compactionTurn{turn.version + 1, response.Header.Revision}
	if !response.Succeeded {
		next.version = 0
		if kvs := response.Responses[0].GetResponseRange().GetKvs(); len(kvs) > 0 {
			next.version = kvs[0].Version
		}
		return next, nil
	}
	if turn.revision == 0 {
		return next, nil // the age of the history is unknown
	}
	if _, err := s.client.Compact(ctx, turn.revision); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return next, err
	}
	return next, nil
}
