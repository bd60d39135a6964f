package etcd

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cadastre/cadastre/internal/storage"
)

// Commit implements storage.Store.
func (s *Store) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if err := storage.CheckCommit(writes); err != nil {
		return 0, err
	}
	operation, end, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	if err := s.Failure(); err != nil {
		return 0, &storage.UnavailableError{Err: err}
	}
	transaction, err := s.transaction(operation, writes)
	if err != nil {
		return 0, s.readError(ctx, err) // a lease was not granted; nothing was written
	}
	request, sent := withSent(operation)
	response, err := transaction(s.client.Txn(request)).Commit()
	if err != nil {
		return 0, s.commitError(ctx, err, sent.Load())
	}
	revision := storage.Revision(response.Header.Revision)
	s.observe(revision)
	if response.Succeeded {
		return revision, nil
	}
	return 0, conflictOf(writes, response)
}

// transaction returns a function that adds the conditions and operations of writes to a transaction: if all keys have their expected
// revisions, the writes, and otherwise reads of the revisions of all keys.
func (s *Store) transaction(ctx context.Context, writes []storage.Write) (func(clientv3.Txn) clientv3.Txn, error) {
	conditions := make([]clientv3.Cmp, len(writes))
	found := make([]clientv3.Op, len(writes))
	changes := make([]clientv3.Op, 0, len(writes))
	for i, w := range writes {
		key := s.key(w.Key)
		conditions[i] = clientv3.Compare(clientv3.ModRevision(key), "=", int64(w.Expected))
		found[i] = clientv3.OpGet(key, clientv3.WithKeysOnly())
		switch {
		case w.Keep:
		case w.IsDelete():
			changes = append(changes, clientv3.OpDelete(key))
		default:
			lease, err := s.leases.forTTL(ctx, s.options.TTL(w.Key))
			if err != nil {
				return nil, err
			}
			changes = append(changes, putOf(key, w.Value, lease))
		}
	}
	return func(t clientv3.Txn) clientv3.Txn { return t.If(conditions...).Then(changes...).Else(found...) }, nil
}

// putOf returns the operation that puts a value, under a lease unless lease is 0.
func putOf(key string, value []byte, lease clientv3.LeaseID) clientv3.Op {
	return clientv3.OpPut(key, string(value), clientv3.WithLease(lease))
}

// conflictOf returns the conflict of the first of the writes whose key does not have the expected revision, according to response,
// the response of a transaction whose conditions were not met.
func conflictOf(writes []storage.Write, response *clientv3.TxnResponse) error {
	for i, w := range writes {
		now := storage.Revision(0)
		if kvs := response.Responses[i].GetResponseRange().GetKvs(); len(kvs) > 0 {
			now = storage.Revision(kvs[0].ModRevision)
		}
		if now != w.Expected {
			return &storage.ConflictError{Key: w.Key, Expected: w.Expected, Found: now}
		}
	}
	return errors.New("etcd: expected a transaction that fails to have a conflict, received none")
}
