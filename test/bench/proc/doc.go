// Package proc reads what a process uses: CPU time and memory. It reads below /proc: it builds anywhere
// and works on Linux.
//
//	cpu.go     CPU time
//	memory.go  memory: resident, private, the peak
package proc
