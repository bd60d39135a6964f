// Package program is the command line of the programs that use generated code.
package program

import (
	"encoding/json"
	"fmt"
	"os"
)

// Run prints a configuration as JSON: "apply MANAGER" the one of a manager, "extract MANAGER" what the manager owns in the
// object that is read from standard input.
func Run(configurations map[string]any, extract func(object any, manager string) (any, error)) {
	config := configurations[os.Args[2]]
	if os.Args[1] == "extract" {
		var object map[string]any
		err := json.NewDecoder(os.Stdin).Decode(&object)
		if err == nil {
			config, err = extract(object, os.Args[2])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
