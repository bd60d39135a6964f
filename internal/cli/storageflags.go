package cli

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/apiserver"
)

// storageFlags are the flags of serve that limit the store and schedule backups. check sets options.
type storageFlags struct {
	options        apiserver.Storage
	quota, minFree string
}

func (f *storageFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.quota, "storage-quota", "0", "The `size` of the store, such as 8Gi, above which creations are rejected. 0 means no limit.")
	flags.StringVar(&f.minFree, "storage-min-free", "256Mi", "The free `space` of the disk below which creations are rejected. 0 means no limit.")
	flags.StringVar(&f.options.BackupDirectory, "backup-dir", "", "The `folder` for scheduled backups. The default is no backups.")
	flags.DurationVar(&f.options.BackupInterval, "backup-interval", time.Hour, "The time between two scheduled backups.")
	flags.StringVar(&f.options.EncryptionConfigFile, "encryption-provider-config", "", "A `file` with the keys that encrypt stored objects, an EncryptionConfiguration of apiserver.config.k8s.io/v1. The default is no encryption.")
	flags.BoolVar(&f.options.ReloadEncryptionConfig, "encryption-provider-config-automatic-reload", false, "Read the file of the previous flag every minute, and use its keys if it has changed.")
	flags.IntVar(&f.options.BackupsToKeep, "backup-keep", 24, "The `number` of scheduled backups to keep.")
}

func (f *storageFlags) check() (err error) {
	if f.options.QuotaBytes, err = parseSize("--storage-quota", f.quota); err != nil {
		return err
	}
	if f.options.MinFreeBytes, err = parseSize("--storage-min-free", f.minFree); err != nil {
		return err
	}
	if f.options.MinFreeBytes == 0 {
		f.options.MinFreeBytes = -1 // 0 would mean the default
	}
	if f.options.ReloadEncryptionConfig && f.options.EncryptionConfigFile == "" {
		return errors.New("--encryption-provider-config-automatic-reload: expected --encryption-provider-config with a file, received none; set both or none")
	}
	if f.options.BackupInterval <= 0 {
		return fmt.Errorf("--backup-interval: expected a duration such as 1h, received %s", f.options.BackupInterval)
	}
	if f.options.BackupsToKeep < 1 {
		return fmt.Errorf("--backup-keep: expected a positive number, received %d", f.options.BackupsToKeep)
	}
	return nil
}

// parseSize parses a number of bytes such as 8Gi, the value of a flag.
func parseSize(flag, text string) (int64, error) {
	size, err := resource.ParseQuantity(text)
	if err != nil || size.Sign() < 0 || size.CmpInt64(math.MaxInt64) >= 0 {
		return 0, fmt.Errorf("%s: expected a size such as 8Gi, or 0, received %q", flag, text)
	}
	return size.Value(), nil
}
