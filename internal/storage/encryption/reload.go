package encryption

import (
	"context"
	"log/slog"
	"time"
)

// ReloadInterval is the interval at which kube-apiserver reads its encryption configuration.
const ReloadInterval = time.Minute

// Reload reads the file again. If its contents have changed, the new keys are used from now on. If it is invalid, Reload returns an
// error, and the former keys stay in use.
func (e *Encryption) Reload() (changed bool, err error) {
	if e.file == "" {
		return false, nil
	}
	c, err := load(e.file)
	if err != nil || c.sum == e.current.Load().sum {
		return false, err
	}
	e.current.Store(c)
	if reloaded := e.reloaded.Load(); reloaded != nil {
		(*reloaded)()
	}
	return true, nil
}

// Run reloads the file at every interval until ctx ends. report is called after each attempt that has changed the keys or has failed.
func (e *Encryption) Run(ctx context.Context, interval time.Duration, log *slog.Logger, report func(error)) {
	for {
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return
		}
		changed, err := e.Reload()
		switch {
		case err != nil:
			log.Error("reloading the encryption configuration failed; the former keys stay in use", "error", err)
		case changed:
			log.Info("reloaded the encryption configuration", "file", e.file)
		default:
			continue
		}
		report(err)
	}
}
