package storebench

import (
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// startTimeout is the maximum time until etcd serves.
const startTimeout = 30 * time.Second

// quota is larger than the data of any run; etcd's default is 2 GiB.
const quota = 64 << 30

// address is the output of etcd's process when it is ready.
type address struct{ Endpoint string }

// serveEtcd is the main function of the child process of the peer: it returns its address for an order, and serves
// until stdin is closed, which also happens if the benchmark dies.
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

// etcdConfig has etcd's defaults, including fsync, except for free ports, disabled logging and a larger quota.
func etcdConfig(folder string) *embed.Config {
	free := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config := embed.NewConfig()
	config.Dir = folder
	config.ListenClientUrls, config.AdvertiseClientUrls = free, free
	config.ListenPeerUrls, config.AdvertisePeerUrls = free, free
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.LogLevel = "fatal" // errors at the start are returned; at the stop each listener would log one
	config.QuotaBackendBytes = quota
	return config
}
