package storebench

import (
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// startTimeout is the maximum time until etcd serves requests.
const startTimeout = 30 * time.Second

// quota is etcd's maximum database size in bytes, which no run reaches; the default of 2 GiB would be too small.
const quota = 64 << 30

// address is the JSON that the child process of etcd prints when it is ready.
type address struct{ Endpoint string }

// serveEtcd is the main function of the child process that runs etcd. It reads its parameters from in, writes its
// address to out, and serves until in is closed, which also happens if the benchmark is killed.
func serveEtcd(in io.Reader, out io.Writer) error {
	var o parameters
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
		return errors.New("etcd was not ready within 30s of its start")
	}
	if err := json.NewEncoder(out).Encode(address{Endpoint: server.Clients[0].Addr().String()}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// etcdConfig returns etcd's default configuration, including fsync, except for free ports, disabled logging and a
// larger quota.
func etcdConfig(folder string) *embed.Config {
	free := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config := embed.NewConfig()
	config.Dir = folder
	config.ListenClientUrls, config.AdvertiseClientUrls = free, free
	config.ListenPeerUrls, config.AdvertisePeerUrls = free, free
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.LogLevel = "fatal" // errors of the start are returned; at the stop each listener would log an expected error
	config.QuotaBackendBytes = quota
	return config
}
