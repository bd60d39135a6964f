// Program hello is a minimal program. BenchmarkEmbedding compares its size with the size of programs that embed a server.
package main

import "fmt"

func main() { fmt.Println("hello") }
