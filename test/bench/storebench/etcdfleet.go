package storebench

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// A PeerFleet is what etcd does with a fleet, all through its client.
type PeerFleet struct {
	// Start is from the start of its process to the answer of the first linearizable read.
	Start time.Duration
	// List is to list all, page after page; ListCPU is what its process used for that.
	List, ListCPU time.Duration
	Bytes         int64
}

const (
	// opsPerTxn is how many operations etcd allows in a transaction.
	opsPerTxn = 128
	// peerPage is how many objects Kubernetes' clients ask for at a time.
	peerPage = 500
)

// FillEtcd makes a folder of etcd that has the fleet.
func (f Fleet) FillEtcd(ctx context.Context, folder string) error {
	return withEtcd(ctx, folder, func(t *etcdTarget) error {
		return f.batches(opsPerTxn, func(keys []string, values [][]byte) error {
			var puts []clientv3.Op
			for i := range keys {
				puts = append(puts, clientv3.OpPut(keys[i], string(values[i])))
			}
			_, err := t.client().Txn(ctx).Then(puts...).Commit()
			return err
		})
	})
}

// UseEtcd starts etcd on the folder that it filled, and lists the fleet.
func (f Fleet) UseEtcd(ctx context.Context, folder string) (peer PeerFleet, err error) {
	start := time.Now()
	err = withEtcd(ctx, folder, func(t *etcdTarget) error {
		if _, err := t.client().Get(ctx, kind, clientv3.WithKeysOnly()); err != nil {
			return err
		}
		peer.Start = time.Since(start)
		return peer.list(ctx, t, f)
	})
	return peer, err
}

func (p *PeerFleet) list(ctx context.Context, t *etcdTarget, f Fleet) error {
	used, err := t.CPU()
	if err != nil {
		return err
	}
	start, next, objects := time.Now(), kind+"/", 0
	end := clientv3.GetPrefixRangeEnd(next)
	for more, revision := true, int64(0); more; {
		page, err := t.client().Get(ctx, next, clientv3.WithRange(end), clientv3.WithLimit(peerPage), clientv3.WithRev(revision))
		if err != nil {
			return err
		}
		for _, item := range page.Kvs {
			p.Bytes += int64(len(item.Value))
			next = string(item.Key) + "\x00"
		}
		objects += len(page.Kvs)
		more, revision = page.More, page.Header.Revision
	}
	p.List = time.Since(start)
	now, err := t.CPU()
	p.ListCPU = now - used
	if objects != f.Objects {
		err = errors.Join(err, fmt.Errorf("etcd: %d objects, expected %d", objects, f.Objects))
	}
	return err
}
