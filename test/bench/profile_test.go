package bench

import (
	"testing"

	"github.com/cadastre/cadastre/test/bench/floor"
)

// BenchmarkOurs runs our side of every case alone, for profiles:
//
//	go test -run '^$' -bench 'Ours/Pod/no-op' -cpuprofile cpu.out .
func BenchmarkOurs(b *testing.B) {
	benchmark(b, Cases(), Case.Ours)
}

// BenchmarkFloor runs the floor of every case alone.
func BenchmarkFloor(b *testing.B) {
	benchmark(b, Cases(), func(c Case) (Work, error) { return c.Floor(floor.Fastest()) })
}

// BenchmarkPatches runs our side of every patch case alone.
func BenchmarkPatches(b *testing.B) {
	cases := PatchCases()
	for _, length := range PatchLengths {
		cases = append(cases, LongPatches(length)...)
	}
	benchmark(b, cases, PatchCase.Ours)
}

func benchmark[C interface{ Name() string }](b *testing.B, cases []C, side func(C) (Work, error)) {
	for _, c := range cases {
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
