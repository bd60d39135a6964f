package storebench

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// EtcdFleet contains the measurements of etcd with a fleet, as seen by its client.
type EtcdFleet struct {
	// Start is the time from the start of the process until the first linearizable read has been answered.
	Start time.Duration
	// List is the time of a paginated list of all objects; ListCPU is the CPU time that etcd uses for it.
	List, ListCPU time.Duration
	Bytes         int64
}

const (
	// opsPerTxn is etcd's maximum number of operations per transaction.
	opsPerTxn = 128
	// etcdPageSize is the page size that clients of Kubernetes use for lists.
	etcdPageSize = 500
)

// FillEtcd creates a data folder of etcd that contains the fleet.
func (f Fleet) FillEtcd(ctx context.Context, folder string) error {
	return withEtcd(ctx, folder, func(t *etcdTarget) error {
		return f.writeBatches(opsPerTxn, func(keys []string, values [][]byte) error {
			var puts []clientv3.Op
			for i := range keys {
				puts = append(puts, clientv3.OpPut(keys[i], string(values[i])))
			}
			_, err := t.client().Txn(ctx).Then(puts...).Commit()
			return err
		})
	})
}

// UseEtcd starts etcd with a data folder of FillEtcd, and lists the fleet.
func (f Fleet) UseEtcd(ctx context.Context, folder string) (etcd EtcdFleet, err error) {
	start := time.Now()
	err = withEtcd(ctx, folder, func(t *etcdTarget) error {
		if _, err := t.client().Get(ctx, kind, clientv3.WithKeysOnly()); err != nil {
			return err
		}
		etcd.Start = time.Since(start)
		return etcd.list(ctx, t, f)
	})
	return etcd, err
}

func (e *EtcdFleet) list(ctx context.Context, t *etcdTarget, f Fleet) error {
	used, err := t.CPU()
	if err != nil {
		return err
	}
	start, next, objects := time.Now(), kind+"/", 0
	end := clientv3.GetPrefixRangeEnd(next)
	for more, revision := true, int64(0); more; {
		page, err := t.client().Get(ctx, next, clientv3.WithRange(end), clientv3.WithLimit(etcdPageSize), clientv3.WithRev(revision))
		if err != nil {
			return err
		}
		for _, item := range page.Kvs {
			e.Bytes += int64(len(item.Value))
			next = string(item.Key) + "\x00"
		}
		objects += len(page.Kvs)
		more, revision = page.More, page.Header.Revision
	}
	e.List = time.Since(start)
	now, err := t.CPU()
	e.ListCPU = now - used
	if objects != f.Objects {
		err = errors.Join(err, fmt.Errorf("etcd: expected a list of %[2]d objects, received %[1]d", objects, f.Objects))
	}
	return err
}
