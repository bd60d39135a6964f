package bench

import (
	"testing"

	"github.com/cadastre/cadastre/test/bench/lowerbound"
)

// BenchmarkCadastre runs every case with Cadastre's engine only, for profiles:
//
//	go test -run '^$' -bench 'Cadastre/Pod/no-op' -cpuprofile cpu.out .
func BenchmarkCadastre(b *testing.B) {
	benchmark(b, Cases(), Case.Cadastre)
}

// BenchmarkLowerBound runs only the lower bound of every case: parsing the inputs and writing the output.
func BenchmarkLowerBound(b *testing.B) {
	benchmark(b, Cases(), func(c Case) (Work, error) { return c.LowerBound(lowerbound.Fastest()) })
}

// BenchmarkPatches runs every patch case with Cadastre's library only.
func BenchmarkPatches(b *testing.B) {
	cases := PatchCases()
	for _, length := range PatchLengths {
		cases = append(cases, LongPatches(length)...)
	}
	benchmark(b, cases, PatchCase.Cadastre)
}

func benchmark[C interface{ Name() string }](b *testing.B, cases []C, implementation func(C) (Work, error)) {
	for _, c := range cases {
		b.Run(c.Name(), func(b *testing.B) {
			work, err := implementation(c)
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
