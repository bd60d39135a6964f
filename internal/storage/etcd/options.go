package etcd

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
)

// Options configure a store. Endpoints is required.
type Options struct {
	// Endpoints are the URLs of the members of the cluster.
	Endpoints []string
	// CAFile contains the CA certificates that verify the members; CertFile and KeyFile contain the client certificate. They are
	// PEM files. CertFile and KeyFile are read again for each connection.
	CAFile, CertFile, KeyFile string
	// Username and Password authenticate the client, if etcd has authentication enabled and the client certificate names no user.
	Username, Password string
	// Prefix is the first part of all keys; "" means DefaultPrefix.
	Prefix string
	// TTL returns the time to live of items with the given key; 0 means that they do not expire. nil means that no items expire.
	// Each write of an item starts its time to live again.
	TTL func(key string) time.Duration
	// CompactionInterval is the age at which history is compacted; 0 means DefaultCompactionInterval, a negative interval disables
	// compaction.
	CompactionInterval time.Duration
	// Log is the logger for messages to the operator; nil means slog.Default.
	Log *slog.Logger
}

const (
	// DefaultPrefix is the prefix of kube-apiserver's keys.
	DefaultPrefix = "/registry"
	// DefaultCompactionInterval is the interval at which kube-apiserver compacts.
	DefaultCompactionInterval = 5 * time.Minute
)

// withDefaults returns the options with defaults for the fields that are not set.
func (o Options) withDefaults() Options {
	o.Prefix = "/" + strings.Trim(cmp.Or(o.Prefix, DefaultPrefix), "/") + "/"
	o.CompactionInterval = cmp.Or(o.CompactionInterval, DefaultCompactionInterval)
	if o.TTL == nil {
		o.TTL = func(string) time.Duration { return 0 }
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Check returns an error if the options are invalid.
func (o Options) Check() error {
	if len(o.Endpoints) == 0 {
		return errors.New("etcd endpoints: expected at least one URL such as https://127.0.0.1:2379, received none")
	}
	for _, endpoint := range o.Endpoints {
		parsed, err := url.Parse(endpoint)
		if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
			return fmt.Errorf("etcd endpoints: expected URLs such as https://127.0.0.1:2379, received %q", endpoint)
		}
		if parsed.Scheme == "http" && (o.CAFile != "" || o.CertFile != "") {
			return fmt.Errorf("etcd endpoints: expected https URLs with CA and client certificates, received %q", endpoint)
		}
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		return errors.New("etcd client certificate: expected a certificate file and a key file, or none; received one of them")
	}
	return nil
}

// tls returns the TLS configuration of connections; nil if the endpoints do not use TLS and no files are set.
func (o Options) tls() (*tls.Config, error) {
	if o.CAFile == "" && o.CertFile == "" {
		return nil, nil // the client uses TLS for https URLs, with the CA certificates of the system
	}
	config, err := transport.TLSInfo{CertFile: o.CertFile, KeyFile: o.KeyFile, TrustedCAFile: o.CAFile}.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("etcd certificates: %w", err)
	}
	return config, nil
}

// Prefix returns the first part of all keys in etcd, which ends with a slash.
func (s *Store) Prefix() string { return s.prefix }
