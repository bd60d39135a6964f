package apiserver

import (
	"errors"
	"time"

	"github.com/cadastre/cadastre/internal/app"
	"github.com/cadastre/cadastre/internal/encoding/stored"
	"github.com/cadastre/cadastre/internal/storage/etcd"
)

// Etcd stores the objects in an etcd cluster, in kube-apiserver's layout, instead of the embedded store. Several servers, and
// kube-apiservers of the same Kubernetes version, can use the same cluster at the same time. It is experimental.
type Etcd struct {
	// Servers are the URLs of the members of the cluster. If there are none, the embedded store is used.
	Servers []string
	// CAFile contains the CA certificates that verify the members; CertFile and KeyFile contain the client certificate. They are
	// PEM files.
	CAFile, CertFile, KeyFile string
	// Username and Password authenticate the server, if etcd authenticates users by password.
	Username, Password string
	// Prefix is the prefix of all keys; "" means /registry.
	Prefix string
	// CompactionInterval is the interval of compactions of etcd's history; 0 means 5 minutes, and a negative interval disables
	// compaction.
	CompactionInterval time.Duration
	// MediaType is the media type of the objects that are written: StorageJSON or StorageProtobuf; "" means StorageJSON. Custom
	// resources are always JSON. Objects of both media types are read.
	MediaType string
}

// The media types of objects in etcd.
const (
	StorageJSON     = stored.JSON
	StorageProtobuf = stored.Protobuf
)

// config returns the configuration of the store.
func (e Etcd) config() app.Etcd {
	return app.Etcd{MediaType: e.MediaType, Options: etcd.Options{
		Endpoints: e.Servers, CAFile: e.CAFile, CertFile: e.CertFile, KeyFile: e.KeyFile,
		Username: e.Username, Password: e.Password, Prefix: e.Prefix, CompactionInterval: e.CompactionInterval,
	}}
}

// checkEtcd returns an error if the options of etcd are invalid, or contradict others.
func (o Options) checkEtcd() error {
	if len(o.Etcd.Servers) == 0 {
		return nil
	}
	if o.Storage.QuotaBytes > 0 {
		return errors.New("Storage.QuotaBytes: expected 0 with Etcd, whose own quota applies")
	}
	if o.Storage.schedule().Folder != "" {
		return errors.New("Storage: expected no backups with Etcd; save snapshots of etcd with etcdctl snapshot save")
	}
	return o.Etcd.config().Check()
}
