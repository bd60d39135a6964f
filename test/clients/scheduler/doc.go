// Package scheduler has only tests: the real kube-scheduler, which make scheduler builds, schedules pods of our server.
package scheduler
