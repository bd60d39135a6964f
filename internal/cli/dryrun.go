package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// dryRunFlag is a boolean flag that also accepts kubectl's values server and none. It rejects client, because a dry run
// without the server cannot evaluate managedFields.
type dryRunFlag bool

// dryRunWords are the values of kubectl's --dry-run that are supported.
var dryRunWords = []string{"server", "none"}

func bindDryRun(flags *pflag.FlagSet, on *bool, about string) {
	flags.VarPF((*dryRunFlag)(on), "dry-run", "", about).NoOptDefVal = "true"
}

func (d *dryRunFlag) Set(text string) error {
	switch text {
	case "server", "none":
		*d = text == "server"
		return nil
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("expected server (the default) or none, because only the server has the managedFields")
	}
	*d = dryRunFlag(on)
	return nil
}

func (d *dryRunFlag) String() string { return strconv.FormatBool(bool(*d)) }

// Type returns "bool", so that the help shows no argument for the flag.
func (d *dryRunFlag) Type() string { return "bool" }
