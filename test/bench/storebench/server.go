package storebench

import (
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// startTimeout is how long etcd may take until it serves.
const startTimeout = 30 * time.Second

// quota is more than any run writes; etcd's own default is 2 GiB.
const quota = 64 << 30

// address is the answer of the process that is etcd, as soon as it serves.
type address struct{ Endpoint string }

// serveEtcd is the process of the peer: it answers an order with its address and serves until its input
// ends, which it also does if the benchmark dies.
func serveEtcd(in io.Reader, out io.Writer) error {
	var o order
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return err
	}
	server, err := embed.StartEtcd(etcdConfig(o.Folder))
	if err != nil {
		return err
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		return err
	case <-time.After(startTimeout):
		return errors.New("etcd: not ready in time")
	}
	if err := json.NewEncoder(out).Encode(address{Endpoint: server.Clients[0].Addr().String()}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// etcdConfig is etcd's own defaults, syncs included, but for free ports, silence and room.
func etcdConfig(folder string) *embed.Config {
	free := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config := embed.NewConfig()
	config.Dir = folder
	config.ListenClientUrls, config.AdvertiseClientUrls = free, free
	config.ListenPeerUrls, config.AdvertisePeerUrls = free, free
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.LogLevel = "fatal" // errors at the start are returned; when it stops, each listener logs one
	config.QuotaBackendBytes = quota
	return config
}
