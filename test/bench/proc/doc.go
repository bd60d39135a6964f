// Package proc reads the CPU time and memory of a process from /proc. It builds on all platforms and works on Linux.
//
//	cpu.go     CPU time
//	memory.go  memory: resident, private, the peak
package proc
