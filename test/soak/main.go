package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// options are the flags of the command.
type options struct {
	length  time.Duration
	seed    uint64
	source  string
	program string
	clients int
	attack  string
	clock   bool
	disk    bool
	keep    bool
	memory  int64
	// hostile makes the process the hostile user of another one.
	hostile     bool
	address, ca string
}

// minFree is the free space of the disk below which the server refuses creations.
const minFree = 64 << 20

// memoryAttack is the attack for which the whole run is one cycle without restarts: the bound of the memory.
const memoryAttack = "memory"

func main() {
	log.SetFlags(0)
	var o options
	flag.DurationVar(&o.length, "time", time.Hour, "the `duration` of the run")
	flag.Uint64Var(&o.seed, "seed", 0, "the seed of the run; 0 chooses one")
	flag.StringVar(&o.source, "source", filepath.Join("..", ".."), "the `folder` of the main module, from which the server is built")
	flag.StringVar(&o.program, "program", "", "the `path` of a cadastre binary, instead of a build")
	flag.IntVar(&o.clients, "clients", 300, "the `number` of hostile connections")
	flag.StringVar(&o.attack, "attack", "", "attacks, separated by commas; the default is all. memory alone sends only bodies that cost much memory, without restarts")
	flag.BoolVar(&o.clock, "clock", false, "build the server with a clock that can be moved, and move it")
	flag.BoolVar(&o.disk, "disk", true, "fill the disk; requires user namespaces")
	flag.BoolVar(&o.keep, "keep", false, "keep the log of the server")
	flag.Int64Var(&o.memory, "memory", 1<<30, "--memory-limit in `bytes`")
	flag.BoolVar(&o.hostile, "hostile", false, "be the hostile user; for subprocesses")
	flag.StringVar(&o.address, "address", "", "the address of the server; for subprocesses")
	flag.StringVar(&o.ca, "ca", "", "the CA bundle of the server; for subprocesses")
	flag.Parse()
	if o.hostile {
		if err := beHostile(context.Background(), o); err != nil {
			log.Fatal(err)
		}
		return
	}
	if o.disk && os.Getenv(namespaceVariable) == "" {
		code, err := enterNamespace()
		if err == nil {
			os.Exit(code)
		}
		fmt.Printf("disk faults: skipped, because a user namespace is not permitted: %v\n", err)
		o.disk = false
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := soak(ctx, o); err != nil {
		log.Fatal(err)
	}
}

// soak runs cycles for the length of the run.
func soak(ctx context.Context, o options) (err error) {
	fmt.Printf("soak for %v with seed %d\n", o.length, o.seed)
	ctx, end := context.WithCancel(ctx)
	defer end()
	folder, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	w := &world{options: o, judge: &judge{end: end, began: time.Now()}, random: rand.New(rand.NewPCG(o.seed, 0)), watchers: map[string]*watcher{}}
	w.counts = &w.totals.counts
	defer func() { err = errors.Join(err, w.close(folder)) }()
	if err := w.open(ctx, folder); err != nil {
		return err
	}
	w.judge.began = time.Now()
	defer w.print()
	if o.attack == memoryAttack {
		return errors.Join(w.attackMemory(ctx), w.judge.err())
	}
	for index, isLast := 0, false; !isLast && ctx.Err() == nil; index++ {
		length := w.cycleLength()
		left := o.length - time.Since(w.judge.began)
		isLast = left < length+length/2
		if err := w.cycle(ctx, index, min(length, max(left, time.Second)), isLast); err != nil {
			return errors.Join(w.judge.err(), err)
		}
	}
	if err := w.judge.err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	fmt.Println("no violation")
	return nil
}

// cycleLength returns the length of a cycle: 5 to 35 seconds, or less in a short run.
func (w *world) cycleLength() time.Duration {
	longest := min(30*time.Second, w.options.length/8)
	return 3*time.Second + time.Duration(w.random.Int64N(int64(longest)))
}

// open builds and starts the server, and creates its users, namespaces, and watches.
func (w *world) open(ctx context.Context, folder string) error {
	program, err := w.build(ctx, folder)
	if err != nil {
		return err
	}
	data := filepath.Join(folder, "disk")
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	if w.options.disk {
		if w.disk, err = mountDisk(data); err != nil {
			fmt.Printf("disk faults: skipped, because a file system cannot be mounted: %v\n", err)
			w.disk = nil
		}
	}
	logFile, err := os.Create(filepath.Join(folder, "server.log"))
	if err != nil {
		return err
	}
	w.clock = &movedClock{file: filepath.Join(folder, "clock"), moves: w.options.clock}
	if err := os.WriteFile(w.clock.file, []byte("0"), 0o600); err != nil {
		return err
	}
	w.server = &server{program: program, folder: data, memoryLimit: fmt.Sprint(w.options.memory), log: &logScanner{file: logFile, judge: w.judge},
		environment: []string{offsetVariable + "=" + w.clock.file}}
	w.sampler = &sampler{judge: w.judge, limit: w.options.memory}
	if _, err := w.server.start(); err != nil {
		return err
	}
	for token, u := range map[string]**user{operatorToken: &w.operator, aliceToken: &w.alice, bobToken: &w.bob} {
		if *u, err = newUser(w.server.url(), w.server.ca(), token); err != nil {
			return err
		}
	}
	return w.prepare(ctx)
}

// build builds the server, unless -program names one.
func (w *world) build(ctx context.Context, folder string) (string, error) {
	overlay := ""
	if w.options.program != "" {
		return filepath.Abs(w.options.program)
	}
	if w.options.clock {
		var err error
		if overlay, err = writeOverlay(w.options.source, folder); err != nil {
			return "", err
		}
	}
	return build(ctx, w.options.source, folder, overlay)
}

// prepare gives the users their rights, and creates the namespaces, the models and the watches.
func (w *world) prepare(ctx context.Context) error {
	const binding = `{"metadata":{"name":"team"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"edit"},"subjects":[{"kind":"Group","name":"team"}]}`
	requests := []request{{"POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "application/json", binding}}
	for i := range namespaceCount {
		w.namespaces = append(w.namespaces, fmt.Sprintf("soak-%d", i))
	}
	for _, namespace := range append([]string{hostileNamespace}, w.namespaces...) {
		requests = append(requests, request{"POST", "/api/v1/namespaces", "application/json", fmt.Sprintf(`{"metadata":{"name":%q}}`, namespace)})
	}
	for i := range 6 { // a list that does not fit into the buffers of a connection
		requests = append(requests, request{"POST", collection(hostileNamespace), "application/json", fmt.Sprintf(`{"metadata":{"name":"large-%d"},"data":{"a":"%01000000d"}}`, i, i)})
	}
	for _, r := range requests {
		if _, err := w.operator.do(ctx, r); err != nil {
			return err
		}
	}
	for i := range writerCount {
		for j := range objectsPerWriter {
			w.objects = append(w.objects, &object{namespace: w.namespaces[i%namespaceCount], name: fmt.Sprintf("object-%d-%d", i, j)})
		}
	}
	w.hot = &hotObject{namespace: w.namespaces[0]}
	for _, namespace := range w.namespaces {
		items, revision, err := w.bob.list(ctx, namespace, 0)
		if err != nil {
			return err
		}
		watcher := newWatcher(namespace)
		watcher.reset(items, number(revision))
		w.watchers[namespace] = watcher
		go watcher.watch(ctx, w.bob, w, w.newRandom())
	}
	return nil
}

// attackMemory sends bodies that cost much memory for the length of the run, beside a reader, and samples the memory.
func (w *world) attackMemory(ctx context.Context) error {
	hostile, err := startHostile(w.options, w.server, w.options.seed)
	if err != nil {
		return err
	}
	limited, stop := context.WithTimeout(ctx, w.options.length)
	defer stop()
	go func() { (&reader{w, w.alice, w.newRandom()}).run(limited) }()
	w.sampler.run(limited, w.server.pid())
	if w.server.hasExited() {
		w.judge.violation(nil, "the server has ended by itself; its log ends with:\n%s", w.server.log.tail())
	}
	w.stopHostile(hostile, false)
	return nil
}

// close ends the server and removes the files.
func (w *world) close(folder string) error {
	if w.server != nil && w.server.command != nil && w.server.command.Process != nil {
		_ = w.server.command.Process.Signal(syscall.SIGKILL) // the process may have ended
	}
	if w.disk != nil {
		if err := w.disk.unmount(); err != nil {
			return err
		}
	}
	if w.options.keep {
		fmt.Printf("kept %s\n", folder)
		return nil
	}
	return os.RemoveAll(folder)
}

// print prints the summary.
func (w *world) print() {
	w.totals.peak = w.sampler.most()
	w.totals.print()
}
