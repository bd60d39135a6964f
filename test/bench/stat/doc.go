// Package stat computes the statistics of benchmarks: medians and ratios over rounds, and goals for them.
//
//	spread.go  percentiles, medians and ratios over rounds
//	goal.go    findings, and goals for them
//	show.go    formatting of figures
package stat
