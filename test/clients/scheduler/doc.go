// Package scheduler contains only tests: the real kube-scheduler, which `make scheduler` builds, schedules pods of
// Cadastre.
package scheduler
