package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/cadastre/cadastre/apiserver"
)

// etcdFlags are the flags of the store in etcd. Their names are those of kube-apiserver, which has no flags for a user and a password.
type etcdFlags struct {
	options      apiserver.Etcd
	passwordFile string
}

func (f *etcdFlags) bind(flags *pflag.FlagSet) {
	o := &f.options
	flags.StringSliceVar(&o.Servers, "etcd-servers", nil, "The `URLs` of the members of an etcd cluster that stores the objects, separated by commas. The default is the embedded store in the data folder. Experimental.")
	flags.StringVar(&o.CAFile, "etcd-cafile", "", "The `file` with the CA certificates that verify etcd.")
	flags.StringVar(&o.CertFile, "etcd-certfile", "", "The `file` with the client certificate for etcd.")
	flags.StringVar(&o.KeyFile, "etcd-keyfile", "", "The `file` with the private key of the client certificate for etcd.")
	flags.StringVar(&o.Username, "etcd-username", "", "The `user` of etcd, if etcd authenticates users by password.")
	flags.StringVar(&f.passwordFile, "etcd-password-file", "", "The `file` with the password of the user of etcd.")
	flags.StringVar(&o.Prefix, "etcd-prefix", "/registry", "The `prefix` of all keys in etcd.")
	flags.DurationVar(&o.CompactionInterval, "etcd-compaction-interval", 5*time.Minute, "The interval of compactions of etcd's history. 0 disables compaction.")
	flags.StringVar(&o.MediaType, "storage-media-type", apiserver.StorageJSON, "The media `type` of objects in etcd: "+strings.Join(storageMediaTypes, " or ")+". Objects of all other media types can be read.")
}

// storageMediaTypes are the values of --storage-media-type.
var storageMediaTypes = []string{apiserver.StorageJSON, apiserver.StorageProtobuf}

// check validates the flags, reads the password, and sets options that have other zero values than flags.
func (f *etcdFlags) check() error {
	o := &f.options
	if len(o.Servers) == 0 {
		if o.CAFile != "" || o.CertFile != "" || o.KeyFile != "" || o.Username != "" || f.passwordFile != "" {
			return errors.New("--etcd-servers must be set with the other flags of etcd")
		}
		return nil
	}
	if !slices.Contains(storageMediaTypes, o.MediaType) {
		return fmt.Errorf("--storage-media-type: expected %s, received %q", strings.Join(storageMediaTypes, " or "), o.MediaType)
	}
	if o.CompactionInterval < 0 {
		return fmt.Errorf("--etcd-compaction-interval: expected a duration such as 5m, or 0, received %s", o.CompactionInterval)
	}
	if o.CompactionInterval == 0 {
		o.CompactionInterval = -1 // 0 would mean the default
	}
	if (o.Username == "") != (f.passwordFile == "") {
		return errors.New("--etcd-username and --etcd-password-file: expected both or none, received one")
	}
	if f.passwordFile == "" {
		return nil
	}
	password, err := os.ReadFile(f.passwordFile)
	if err != nil {
		return fmt.Errorf("--etcd-password-file: %w", err)
	}
	o.Password = strings.TrimRight(string(password), "\r\n")
	return nil
}
