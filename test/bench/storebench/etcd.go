package storebench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/version"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cadastre/cadastre/test/bench/proc"
)

// EtcdVersion returns the version of the etcd that Cadastre is compared with.
func EtcdVersion() string { return version.Version }

// connections is the number of connections that writers and watchers share. It is large enough that no connection is
// the bottleneck.
const connections = 4

// Etcd runs a load on etcd, which runs in a child process. The load runs in this process and uses etcd's client.
func Etcd(ctx context.Context, folder string, l Load) (result Result, err error) {
	err = withEtcd(ctx, folder, func(t *etcdTarget) error {
		result, err = l.Run(ctx, t)
		return err
	})
	return result, err
}

// withEtcd starts etcd with its data in folder, calls use, and stops etcd.
func withEtcd(ctx context.Context, folder string, use func(*etcdTarget) error) (err error) {
	c, err := startChild(ctx, etcdRole, parameters{Folder: folder})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	var at address
	if err := c.read(&at); err != nil {
		return err
	}
	t := &etcdTarget{server: c.pid()}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.connect(at.Endpoint); err != nil {
		return err
	}
	return use(t)
}

type etcdTarget struct {
	server  int // process ID of etcd
	clients []*clientv3.Client
	turn    atomic.Uint64
}

func (t *etcdTarget) connect(endpoint string) error {
	for range connections {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, DialTimeout: startTimeout})
		if err != nil {
			return err
		}
		t.clients = append(t.clients, client)
	}
	return nil
}

func (t *etcdTarget) close() (err error) {
	for _, client := range t.clients {
		err = errors.Join(err, client.Close())
	}
	return err
}

// client returns one of the clients, each in turn.
func (t *etcdTarget) client() *clientv3.Client {
	return t.clients[t.turn.Add(1)%uint64(len(t.clients))]
}

func (t *etcdTarget) Commit(ctx context.Context, key string, expected int64, value []byte) (int64, error) {
	response, err := t.client().Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", expected)).
		Then(clientv3.OpPut(key, string(value))).
		Commit()
	if err != nil {
		return 0, err
	}
	if !response.Succeeded {
		return 0, fmt.Errorf("etcd: %s is not at revision %d", key, expected)
	}
	return response.Header.Revision, nil
}

// Watch implements Target. It requests previous values too, because the events of Cadastre's store include them.
func (t *etcdTarget) Watch(ctx context.Context, w *Watcher) error {
	for response := range t.client().Watch(ctx, "", clientv3.WithPrefix(), clientv3.WithPrevKV(), clientv3.WithCreatedNotify()) {
		if err := response.Err(); err != nil {
			return err
		}
		w.Ready() // the first response confirms that the watch is established
		w.Count(len(response.Events))
	}
	return errors.New("etcd: the watch ended")
}

func (t *etcdTarget) CPU() (time.Duration, error) { return proc.CPU(t.server) }
