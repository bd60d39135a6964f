package main

import "github.com/cadastre/cadastre/test/bench/serverbench"

// turn contains the measurements of one server in one round. CPU times are in nanoseconds, per operation or, for watch, per event
// and watcher.
type turn struct {
	rate, p50, p99 float64
	cpu, storeCPU  float64
	after          serverbench.Usage
}

func requestTurn(r serverbench.Result) turn {
	return turn{
		rate: r.Rate(), p50: float64(r.P50), p99: float64(r.P99),
		cpu: r.CPUPerOperation(), storeCPU: r.StoreCPUPerOperation(), after: r.After,
	}
}

func watchTurn(r serverbench.WatchResult) turn {
	t := requestTurn(r.Watched)
	t.cpu = r.CPUPerEvent()
	t.storeCPU = 0 // watchers do not read from etcd
	return t
}

func (t turn) Rate() float64     { return t.rate }
func (t turn) P50() float64      { return t.p50 }
func (t turn) P99() float64      { return t.p99 }
func (t turn) CPU() float64      { return t.cpu }
func (t turn) StoreCPU() float64 { return t.storeCPU }

// Resident and Private return the memory of the server at the end of the turn, in bytes.
func (t turn) Resident() float64 { return float64(t.after.Memory.Resident) }
func (t turn) Private() float64  { return float64(t.after.Memory.Private) }
