package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

const envtestLong = `Write substitutes for the kube-apiserver and etcd executables that controller-runtime's envtest starts, and print
their folder:

  KUBEBUILDER_ASSETS=$(cadastre envtest) go test ./...

Each test environment is then a Cadastre server that stores objects in memory. As with envtest's own executables, no
controllers run: there is no garbage collection, and deleted namespaces remain in phase Terminating. --controllers
enables the controllers of Cadastre.`

func envtestCommand() *cobra.Command {
	var controllers bool
	command := &cobra.Command{
		Use:   "envtest [FOLDER]",
		Short: "Write the executables with which envtest uses Cadastre as its API server",
		Long:  envtestLong,
		Example: `  cadastre envtest
  cadastre envtest bin/assets --controllers`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &usageError{fmt.Errorf("envtest: expected at most one folder, received %q", args)}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			folder, err := assetsDir(args)
			if err == nil {
				err = writeAssets(folder, controllers)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), folder)
			return err
		},
	}
	command.Flags().BoolVar(&controllers, "controllers", false, "Run garbage collection and namespace deletion.")
	command.AddCommand(envtestServerCommand(), envtestStoreCommand())
	return command
}

// assetsDir returns the absolute path of the folder in args or, if args are empty, the path of a folder in the user's
// cache directory.
func assetsDir(args []string) (string, error) {
	if len(args) > 0 {
		return filepath.Abs(args[0])
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("envtest: no default folder: %w; pass FOLDER", err)
	}
	return filepath.Join(cache, "cadastre", "envtest"), nil
}

// writeAssets writes the scripts kube-apiserver and etcd, which start this executable, to folder. controllers states
// whether the server runs its controllers.
func writeAssets(folder string, controllers bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	server := serverVerb
	if controllers {
		server += " --controllers"
	}
	return errors.Join(
		writeAsset(folder, "kube-apiserver", self, server),
		writeAsset(folder, "etcd", self, etcdVerb),
	)
}

// writeAsset writes the named script, which runs "PROGRAM envtest VERB", to folder. It writes to a temporary file and
// renames it, because an existing script of that name may be running.
func writeAsset(folder, name, program, verb string) error {
	quoted := "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
	script := fmt.Sprintf("#!/bin/sh\nexec %s envtest %s \"$@\"\n", quoted, verb)
	temporary := filepath.Join(folder, "."+name+".draft")
	if err := os.WriteFile(temporary, []byte(script), 0o755); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(folder, name))
}
