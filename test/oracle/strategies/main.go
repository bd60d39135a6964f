// Command oracle says what Kubernetes does to objects, for the tests of kinds. It is a module of its
// own, because it needs Kubernetes. It makes the files of testdata anew, from what they have:
//
//	go run . convert < ../../../internal/api/testdata/conversions.txt     objects at another version
//	go run . prepare < ../../../internal/api/testdata/prepared.txt        objects after a write
//	go run . strategies                                testdata/strategies.txt
//
// convert reads lines APIVERSION OBJECT, prepare lines RESOURCE, ENDPOINT, OBJECT and LIVE with
// tabs between them, where - is no live object. Each is written as Kubernetes reads it, followed by
// a line with = and the result.
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

// eachLine calls do with the lines of the input that are neither comments, which it repeats, nor
// results.
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
