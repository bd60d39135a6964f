// Command oracle prints the results of Kubernetes' conversion and strategies, for the unit tests of package api. It is
// a separate module because it depends on k8s.io/kubernetes. It regenerates the files of testdata from their inputs:
//
//	go run . convert < ../../../internal/api/testdata/conversions.txt     objects at another version
//	go run . prepare < ../../../internal/api/testdata/prepared.txt        objects after a write
//	go run . strategies                                                   testdata/strategies.txt
//
// The input of convert consists of lines APIVERSION OBJECT. The input of prepare consists of lines with the fields
// RESOURCE, ENDPOINT, OBJECT and LIVE, separated by tabs; the value - for LIVE means that there is no live object. Each
// input is printed as Kubernetes encodes it, followed by a line with = and the result.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strings"
)

func main() {
	log.SetFlags(0)
	verb := ""
	if len(os.Args) == 2 {
		verb = os.Args[1]
	}
	var err error
	switch verb {
	case "convert":
		err = eachLine(printConverted)
	case "prepare":
		err = eachLine(printPrepared)
	case "strategies":
		err = printStrategies()
	default:
		err = fmt.Errorf("expected convert, prepare or strategies, received %q", os.Args[1:])
	}
	if err != nil {
		log.Fatal(err)
	}
}

// eachLine calls do with each input line of stdin. It copies comments, and skips the results of a previous run.
func eachLine(do func(line string) error) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "#"):
			fmt.Println(line)
		case strings.HasPrefix(line, "="):
		default:
			if err := do(line); err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
		}
	}
	return lines.Err()
}
