package bench

import "testing"

// BenchmarkOurs runs our side of every case by itself, for profiles:
//
//	go test -run '^$' -bench 'Ours/Pod/no-op' -cpuprofile cpu.out .
func BenchmarkOurs(b *testing.B) {
	for _, c := range Cases() {
		b.Run(c.Name(), func(b *testing.B) {
			work, err := c.Ours()
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
