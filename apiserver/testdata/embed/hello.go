// Program hello is the program that the size of embedding programs is compared with.
package main

import "fmt"

func main() { fmt.Println("hello") }
