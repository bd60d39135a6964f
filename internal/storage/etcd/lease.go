package etcd

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// leases grants leases. Items that are written within a minute share a lease, because a lease per item would be expensive for etcd.
// It is safe for concurrent use.
type leases struct {
	// grant grants a lease with the given duration.
	grant func(ctx context.Context, duration time.Duration) (clientv3.LeaseID, error)

	mu sync.Mutex
	// current maps each time to live to the lease that new items get.
	current map[time.Duration]sharedLease
}

// sharedLease is a lease for the items that are written until the time until, and at most maxLeaseItems items.
type sharedLease struct {
	id    clientv3.LeaseID
	until time.Time
	items int
}

const (
	// maxLeaseSharing is the maximum time for which new items get the same lease; leaseSharingShare limits it to a share of the time to
	// live. maxLeaseItems is the maximum number of items of a lease: etcd deletes them in one transaction. The numbers are those of
	// kube-apiserver.
	maxLeaseSharing   = time.Minute
	leaseSharingShare = 20
	maxLeaseItems     = 1000
)

// forTTL returns the lease of an item that is written now and lives for at least ttl; 0, which means no lease, if ttl is 0.
func (l *leases) forTTL(ctx context.Context, ttl time.Duration) (clientv3.LeaseID, error) {
	if ttl <= 0 {
		return 0, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if shared := l.current[ttl]; now.Before(shared.until) && shared.items < maxLeaseItems {
		shared.items++
		l.current[ttl] = shared
		return shared.id, nil
	}
	sharing := min(maxLeaseSharing, ttl/leaseSharingShare)
	id, err := l.grant(ctx, ttl+sharing)
	if err != nil {
		return 0, err
	}
	if l.current == nil {
		l.current = map[time.Duration]sharedLease{}
	}
	l.current[ttl] = sharedLease{id: id, until: now.Add(sharing), items: 1}
	return id, nil
}

// forget makes later calls grant new leases.
func (l *leases) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = nil
}

// grantLease grants a lease with the given duration, rounded up to seconds.
func (s *Store) grantLease(ctx context.Context, duration time.Duration) (clientv3.LeaseID, error) {
	response, err := s.client.Grant(ctx, int64((duration+time.Second-1)/time.Second))
	if err != nil {
		return 0, err
	}
	return response.ID, nil
}
