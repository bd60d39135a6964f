package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// dryRunFlag is a switch that also takes kubectl's words. Trying without asking the server is what no verb can do: who
// owns what is known there.
type dryRunFlag bool

// dryRunWords are those of kubectl's that mean something here.
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
		return fmt.Errorf("expected server, as --dry-run alone means it, or none: it is the server that is asked")
	}
	*d = dryRunFlag(on)
	return nil
}

func (d *dryRunFlag) String() string { return strconv.FormatBool(bool(*d)) }

// Type has help show a switch.
func (d *dryRunFlag) Type() string { return "bool" }
