package app

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/encoding/stored"
	"github.com/cadastre/cadastre/internal/storage/encryption"
	"github.com/cadastre/cadastre/internal/storage/etcd"
	"github.com/cadastre/cadastre/internal/storage/kubernetes"
)

// Etcd configures a store in an etcd cluster, in the layout of kube-apiserver.
type Etcd struct {
	// Options configure the connection; Endpoints is required. Start sets TTL and Log.
	etcd.Options
	// MediaType is the media type of stored objects; "" means JSON. See stored.NewCodec.
	MediaType string
}

// isSet reports whether objects are stored in etcd.
func (e Etcd) isSet() bool { return len(e.Endpoints) > 0 }

// eventResource is the GROUP/RESOURCE of events in keys.
const eventResource = "core/events"

// etcdStore is a Store in etcd that uses the layout of kube-apiserver.
type etcdStore struct {
	*kubernetes.Store
	cluster *etcd.Store
}

func (s etcdStore) Failure() error   { return s.cluster.Failure() }
func (s etcdStore) MayRecover() bool { return s.cluster.MayRecover() }

// openEtcd connects to etcd. Events expire by leases of etcd.
func (s *Server) openEtcd(ctx context.Context) (Store, error) {
	codec, err := stored.NewCodec(append(api.Builtin(), crd.Kind()), s.config.Etcd.MediaType)
	if err != nil {
		return nil, err
	}
	layout, err := kubernetes.NewLayout(codec.Resources())
	if err != nil {
		return nil, err
	}
	eventPrefix, err := layout.Stored(eventResource + "/")
	if err != nil {
		return nil, err
	}
	options := s.config.Etcd.Options
	options.Log = s.config.Log
	options.TTL = func(key string) time.Duration {
		if strings.HasPrefix(key, eventPrefix) {
			return s.config.EventTTL
		}
		return 0
	}
	cluster, err := etcd.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	prefix := cluster.Prefix()
	encrypted := encryption.NewStore(cluster, s.encryption, func(key string) (schema.GroupResource, string) {
		item, _ := layout.Item(key)
		resource, _ := encryption.Items(item)
		return resource, prefix + key
	})
	return etcdStore{kubernetes.New(kubernetes.Options{Store: encrypted, Layout: layout, Codec: codec, Log: s.config.Log}), cluster}, nil
}
