package bench

import (
	"testing"

	"github.com/cadastre/cadastre/bench/floor"
)

// BenchmarkOurs runs our side of every case by itself, for profiles:
//
//	go test -run '^$' -bench 'Ours/Pod/no-op' -cpuprofile cpu.out .
func BenchmarkOurs(b *testing.B) {
	benchmark(b, Case.Ours)
}

// BenchmarkFloor runs the floor of every case by itself.
func BenchmarkFloor(b *testing.B) {
	benchmark(b, func(c Case) (Work, error) { return c.Floor(floor.Fastest()) })
}

func benchmark(b *testing.B, side func(Case) (Work, error)) {
	for _, c := range Cases() {
		b.Run(c.Name(), func(b *testing.B) {
			work, err := side(c)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := work(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
