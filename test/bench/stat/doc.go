// Package stat makes of measured rounds what a table shows and a goal is held against.
//
//	spread.go  percentiles, medians and ratios over rounds
//	goal.go    findings, and goals about them
//	show.go    figures as text
package stat
