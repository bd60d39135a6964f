package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/backup"
	"github.com/cadastre/cadastre/internal/storage/encryption"
	"github.com/cadastre/cadastre/internal/storage/pebble"
	"github.com/cadastre/cadastre/internal/watchcache"
)

func storageCommand() *cobra.Command {
	return groupCommand("storage", "Back up, restore, check and salvage the stored objects",
		storageBackupCommand(), storageRestoreCommand(), storageCheckCommand(), storageSalvageCommand())
}

// storeFolder is the folder of the embedded store in a data directory.
const storeFolder = "store"

// defaultBump is the default of --bump-revision. It is greater than the number of commits between two backups.
const defaultBump = 1_000_000_000

// oneFile returns an error unless args consist of the name of a file.
func oneFile(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return &usageError{fmt.Errorf("storage %s: expected one FILE, received %q", c.Name(), args)}
	}
	return nil
}

func storageBackupCommand() *cobra.Command {
	var server connection
	var data string
	command := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all objects at one revision to a file, and verify it",
		Long: `Write all objects at one revision to a file. The server keeps running and accepts writes. The file is created only when it
is complete and verified. It contains all Secrets, and only its owner can read it.

With --data, the store of a server that is not running is read directly.`,
		Example: `  cadastre storage backup monday.backup
  cadastre storage backup monday.backup --data /var/lib/cadastre`,
		Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			return writeBackup(c.Context(), args[0], data, &server, c.OutOrStdout())
		},
	}
	server.bind(command.Flags())
	command.Flags().StringVar(&data, "data", "", "The data `folder` of a server that is not running. The default is the running server of the kubeconfig.")
	return command
}

// writeBackup writes a backup to the named file, either of the store in the data directory or, if data is "", of a running
// server.
func writeBackup(ctx context.Context, name, data string, server *connection, stdout io.Writer) error {
	write := func(w io.Writer) error {
		c, _, err := server.open()
		if err != nil {
			return err
		}
		return c.Download(ctx, "/storage/backup", w)
	}
	if data != "" {
		write = func(w io.Writer) error { return copyStore(ctx, data, w) }
	}
	summary, err := backup.WriteFile(name, write)
	if err != nil {
		return err
	}
	return printSummary(stdout, name, summary)
}

// copyStore writes a backup of the store in a data directory that no server uses.
func copyStore(ctx context.Context, data string, w io.Writer) (err error) {
	o := storeOptions(data)
	if _, err := os.Stat(filepath.Join(o.Folder, "FORMAT")); err != nil {
		return fmt.Errorf("--data: expected the data folder of a server, received %s: %w", data, err)
	}
	s, err := pebble.Open(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	_, err = backup.Write(ctx, s, w)
	return err
}

// storeOptions returns the options of the store in a data directory. Errors are returned; the log would repeat them.
func storeOptions(data string) pebble.Options {
	return pebble.Options{Folder: filepath.Join(data, storeFolder), Log: slog.New(slog.DiscardHandler)}
}

func printSummary(stdout io.Writer, name string, s backup.Summary) error {
	about := ""
	if s.Partial {
		about = ", salvaged"
	}
	_, err := fmt.Fprintf(stdout, "%s: %d objects at revision %d of %s%s\n", name, s.Items, s.Revision, s.Time.UTC().Format(time.RFC3339), about)
	return err
}

func storageRestoreCommand() *cobra.Command {
	var data string
	var bump int64
	command := &cobra.Command{
		Use:   "restore FILE",
		Short: "Create the store of a data directory from a backup",
		Long: `Create the store of a data directory from a backup. The directory must contain no store: nothing is overwritten. The whole
backup is verified first, and the store is created completely or not at all.

Objects keep their resourceVersions. The store continues at the revision of the backup plus --bump-revision, so that
new resourceVersions are greater than all that clients have seen after the backup, and clients list again.`,
		Example: `  cadastre storage restore monday.backup --data /var/lib/cadastre`,
		Args:    oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			if bump < 0 {
				return &usageError{fmt.Errorf("--bump-revision: expected 0 or a positive number, received %d", bump)}
			}
			return restoreBackup(args[0], data, storage.Revision(bump), c.OutOrStdout())
		},
	}
	command.Flags().StringVar(&data, "data", defaultData(), "The data `folder` in which to create the store.")
	command.Flags().Int64Var(&bump, "bump-revision", defaultBump, "The `number` to add to the revision of the backup.")
	return command
}

func restoreBackup(name, data string, bump storage.Revision, stdout io.Writer) error {
	verified, err := backup.ReadFile(name, nil)
	if err != nil {
		return err
	}
	o := storeOptions(data)
	err = pebble.Restore(o, verified.Revision+bump, func(add func(storage.Item) error) error {
		_, err := backup.ReadFile(name, add)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "restored %s: %d objects at revision %d\n", o.Folder, verified.Items, verified.Revision+bump); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(data, "pki", "ca.key")); errors.Is(err, os.ErrNotExist) {
		_, err := fmt.Fprintf(stdout, "%s has no certificate authority: copy the former pki there to keep kubeconfigs valid; otherwise the server creates a new one\n", data)
		return err
	}
	return nil
}

func storageCheckCommand() *cobra.Command {
	var data, keys string
	command := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Verify a store, or a backup",
		Long: `Verify the store of a server that is not running, or a backup: the checksums of all blocks, that the records of objects and
those of the log agree, and that every object can be decoded and has the name under which it is stored. The store is not changed.

Encrypted objects are decrypted with the keys of --encryption-provider-config. Without that flag they are only counted.`,
		Example: `  cadastre storage check --data /var/lib/cadastre
  cadastre storage check --data /var/lib/cadastre --encryption-provider-config keys.yaml
  cadastre storage check monday.backup`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &usageError{fmt.Errorf("storage check: expected at most one FILE, received %q", args)}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			values, err := encryption.Open(keys)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return checkBackup(args[0], values, c.OutOrStdout())
			}
			return checkStore(data, values, c.OutOrStdout())
		},
	}
	bindKeysFlag(command.Flags(), &keys)
	command.Flags().StringVar(&data, "data", defaultData(), "The data `folder` of a server that is not running.")
	return command
}

// checkBackup verifies a backup and prints every object that cannot be decoded.
func checkBackup(name string, values *encryption.Encryption, stdout io.Writer) error {
	var problems []string
	skipped := 0
	check := values.Check(watchcache.CheckItem, &skipped)
	summary, err := backup.ReadFile(name, func(item storage.Item) error {
		if err := check(item); err != nil {
			problems = append(problems, err.Error())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := errors.Join(printSummary(stdout, name, summary), printSkipped(stdout, skipped)); err != nil {
		return err
	}
	return printProblems(stdout, name, problems, 0)
}

// printSkipped prints the number of encrypted objects that were not checked, unless there are none.
func printSkipped(stdout io.Writer, skipped int) error {
	if skipped == 0 {
		return nil
	}
	_, err := fmt.Fprintf(stdout, "%d objects are encrypted and were not decoded; name their keys with --encryption-provider-config\n", skipped)
	return err
}

// bindKeysFlag adds the flag for the keys of encrypted objects.
func bindKeysFlag(flags *pflag.FlagSet, file *string) {
	flags.StringVar(file, "encryption-provider-config", "", "The `file` with the keys of encrypted objects, as for cadastre serve.")
}

func checkStore(data string, values *encryption.Encryption, stdout io.Writer) error {
	o := storeOptions(data)
	skipped := 0
	report, err := pebble.Check(o, values.Check(watchcache.CheckItem, &skipped))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %d objects at revision %d; %d versions and %d commits after revision %d; %d tables\n",
		o.Folder, report.Items, report.Revision, report.Versions, report.Commits, report.Compacted, report.Tables)
	if err = errors.Join(err, printSkipped(stdout, skipped)); err != nil {
		return err
	}
	return printProblems(stdout, o.Folder, report.Problems, report.More)
}

// printProblems prints problems, one per line, and returns an error with their number; nil if there are none.
func printProblems(stdout io.Writer, name string, problems []string, more int) error {
	if len(problems) == 0 {
		return nil
	}
	if _, err := io.WriteString(stdout, strings.Join(problems, "\n")+"\n"); err != nil {
		return err
	}
	return fmt.Errorf("%s: found %d problems; restore a backup, or write the readable objects to a backup with cadastre storage salvage", name, len(problems)+more)
}

func storageSalvageCommand() *cobra.Command {
	var data, keys string
	command := &cobra.Command{
		Use:   "salvage FILE",
		Short: "Write the readable objects of a damaged store to a backup",
		Long: `Write the readable objects of a damaged store to a backup, for cadastre storage restore, and print each loss on a line. The
store is read block by block and is not changed. The exit code is 1 if there are losses.

Encrypted objects stay encrypted. With --encryption-provider-config, those that its keys do not decrypt are lost.`,
		Example: `  cadastre storage salvage rest.backup --data /var/lib/cadastre`,
		Args:    oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			values, err := encryption.Open(keys)
			if err != nil {
				return err
			}
			return salvageStore(args[0], data, values, c.OutOrStdout())
		},
	}
	bindKeysFlag(command.Flags(), &keys)
	command.Flags().StringVar(&data, "data", defaultData(), "The data `folder` of a server that is not running.")
	return command
}

func salvageStore(name, data string, values *encryption.Encryption, stdout io.Writer) error {
	found, err := pebble.Salvage(storeOptions(data))
	if err != nil {
		return err
	}
	losses, skipped := found.Losses, 0
	check := values.Check(watchcache.CheckItem, &skipped)
	summary, err := backup.WriteFile(name, func(w io.Writer) error {
		out, err := backup.NewWriter(w, backup.Header{Revision: found.Revision, Time: time.Now().UTC(), Partial: true})
		if err != nil {
			return err
		}
		for _, item := range found.Items {
			if err := check(item); err != nil {
				losses = append(losses, err.Error())
				continue
			}
			if err := out.Add(item); err != nil {
				return err
			}
		}
		_, err = out.Close()
		return err
	})
	if err != nil {
		return err
	}
	if err := errors.Join(printSummary(stdout, name, summary), printSkipped(stdout, skipped)); err != nil || len(losses) == 0 {
		return err
	}
	if _, err := io.WriteString(stdout, strings.Join(losses, "\n")+"\n"); err != nil {
		return err
	}
	return fmt.Errorf("%s: %d losses; compare with the latest backup", data, len(losses))
}
