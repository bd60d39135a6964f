// Program hello is a minimal program, with whose size BenchmarkEmbedding compares programs that embed a server.
package main

import "fmt"

func main() { fmt.Println("hello") }
