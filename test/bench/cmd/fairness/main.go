// Command fairness measures the effect of the clients of one hostile user on another user, the polite user: the latency of a
// small apply of the polite user, without and with the hostile clients. The hostile clients run in a process of their own with
// the lowest CPU priority, so that the figures include the work of the server for these clients, but not the work of the
// clients themselves.
//
// The goals are: the 99th percentile at most doubles, and no request of the polite user fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/cadastre/cadastre/test/bench/stat"
)

// options are the flags of the command.
type options struct {
	program    string
	attacks    string
	clients    int
	window     time.Duration
	pause      time.Duration
	serverArgs string
	// hostile is the attack of a subprocess; "" for the command itself.
	hostile, address, ca string
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.program, "program", "", "the `path` of the cadastre binary; \"\" builds it")
	flag.StringVar(&o.attacks, "attacks", strings.Join(attackNames(), ","), "the attacks, separated by commas")
	flag.IntVar(&o.clients, "clients", 1000, "the `number` of hostile clients; the goals are for 1000")
	flag.DurationVar(&o.window, "window", 10*time.Second, "the `duration` of each measurement")
	flag.DurationVar(&o.pause, "pause", 10*time.Millisecond, "the `duration` between two requests of the polite user")
	flag.StringVar(&o.serverArgs, "server-args", "", "additional arguments of the server, separated by spaces")
	flag.StringVar(&o.hostile, "hostile", "", "runs the clients of an attack; for subprocesses")
	flag.StringVar(&o.address, "address", "", "the address of the server; for subprocesses")
	flag.StringVar(&o.ca, "ca", "", "the CA bundle of the server; for subprocesses")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if o.hostile != "" {
		if err := runHostileClients(ctx, o); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := measureAll(ctx, o); err != nil {
		log.Fatal(err)
	}
}

// measureAll measures the polite user without an attack and during each attack, and prints a table and the goals.
func measureAll(ctx context.Context, o options) error {
	folder, err := os.MkdirTemp("", "fairness")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s, err := startServer(ctx, o, folder)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if _, err := s.measure(ctx, o.window/4, o.pause); err != nil { // warms up
		return err
	}
	fmt.Printf("%-14s %8s %8s %10s %10s %10s %10s %7s %9s\n", "beside", "applies", "failed", "p50", "p99", "max", "p99/alone", "server", "memory")
	var failures []error
	for _, attack := range strings.Split(o.attacks, ",") {
		alone, err := s.measure(ctx, o.window, o.pause)
		if err != nil {
			return err
		}
		alone.print("nothing", alone)
		beside, err := s.attack(ctx, o, attack)
		if err != nil {
			return err
		}
		beside.print(fmt.Sprint(attack), alone)
		if beside.failed > 0 {
			failures = append(failures, fmt.Errorf("%s: %d of %d applies failed, want 0: %v", attack, beside.failed, len(beside.times)+beside.failed, beside.firstError))
		}
		if beside.p(99) > 2*alone.p(99) {
			failures = append(failures, fmt.Errorf("%s: expected a p99 during the attack of at most twice %v, the p99 without the attack; received %v", attack, stat.ThreeDigits(alone.p(99)), stat.ThreeDigits(beside.p(99))))
		}
	}
	if failures == nil {
		fmt.Println("goals: reached")
	}
	return errors.Join(failures...)
}

// figures are the results of a measurement.
type figures struct {
	times      []time.Duration // sorted
	failed     int
	firstError error
	cpu        float64 // CPU seconds of the server per second
	memory     int64   // the resident memory of the server in bytes
}

// p returns a percentile of the latency.
func (f figures) p(percent int) time.Duration {
	if len(f.times) == 0 {
		return time.Hour
	}
	return stat.Percentile(f.times, percent)
}

func (f figures) print(name string, alone figures) {
	fmt.Printf("%-14s %8d %8d %10v %10v %10v %9.2fx %6.0f%% %6d MB\n", name, len(f.times), f.failed, stat.ThreeDigits(f.p(50)), stat.ThreeDigits(f.p(99)),
		stat.ThreeDigits(slices.Max(append(f.times, 0))), float64(f.p(99))/float64(alone.p(99)), 100*f.cpu, f.memory>>20)
}
