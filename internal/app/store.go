package app

import (
	"cmp"
	"context"

	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/backup"
	"github.com/cadastre/cadastre/internal/storage/encryption"
	"github.com/cadastre/cadastre/internal/storage/pebble"
)

// Store is a storage.Store that also reports the error with which it rejects commits.
type Store interface {
	storage.Store
	// Failure returns the error with which the store rejects commits; nil if it accepts commits.
	Failure() error
	// MayRecover reports whether restarting the server may clear the failure.
	MayRecover() bool
}

// openStore opens the store in etcd if it is configured, or the embedded store, unless Config.Store is set.
func (s *Server) openStore(ctx context.Context) (err error) {
	if s.store = s.config.Store; s.store != nil {
		s.stored = s.store
		if s.encryption.IsConfigured() {
			s.encrypt(s.store)
		}
		return nil
	}
	if s.config.Etcd.isSet() {
		if s.store, err = s.openEtcd(ctx); err == nil {
			s.stored = encryption.Sealed{Store: s.store, Values: s.encryption}
		}
		return err
	}
	own, err := pebble.Open(pebble.Options{
		Folder: s.dir("store"), QuotaBytes: s.config.QuotaBytes, MinFreeBytes: s.config.MinFreeBytes, Log: s.config.Log,
	})
	if err != nil {
		return err
	}
	s.space = own.Space
	s.encrypt(own)
	return nil
}

// encrypt makes the server encrypt the values that it stores in disk.
func (s *Server) encrypt(disk Store) {
	s.stored, s.store = disk, encryptedStore{Store: encryption.NewStore(disk, s.encryption, encryption.Items), disk: disk}
}

// encryptedStore encrypts the values of another store, and has the failures of that store.
type encryptedStore struct {
	*encryption.Store
	disk Store
}

// Failure implements Store.
func (s encryptedStore) Failure() error { return s.disk.Failure() }

// MayRecover implements Store.
func (s encryptedStore) MayRecover() bool { return s.disk.MayRecover() }

// startReloads starts reloading the encryption configuration on changes. It does nothing if reloading or encryption is not
// configured.
func (s *Server) startReloads(ctx context.Context, counted *metrics.Metrics) {
	if !s.config.ReloadEncryptionConfig || !s.encryption.IsConfigured() {
		return
	}
	ctx, s.stopReloads = context.WithCancel(context.WithoutCancel(ctx))
	interval := cmp.Or(s.config.reloadInterval, encryption.ReloadInterval)
	s.running.Go("reload of the encryption configuration", func() { s.encryption.Run(ctx, interval, s.config.Log, counted.EncryptionReload) })
}

// backedUp returns the store for backups; nil if it is an etcd cluster, of which etcd itself saves snapshots.
func (s *Server) backedUp() storage.Store {
	if s.config.Etcd.isSet() {
		return nil
	}
	return s.stored
}

// startBackups starts the scheduled backups.
func (s *Server) startBackups(ctx context.Context, counted *metrics.Metrics) {
	c := s.config.Backups
	if c.Folder == "" {
		return
	}
	c.Log, c.Report = s.config.Log, func(_ backup.Summary, err error) { counted.Backup(err) }
	ctx, s.stopBackups = context.WithCancel(context.WithoutCancel(ctx))
	s.running.Go("scheduled backups", func() { c.Run(ctx, s.stored) })
}

// measureSpace returns the use of the disk by the embedded store, for metrics.
func (s *Server) measureSpace() metrics.StoreSpace {
	space := s.space()
	return metrics.StoreSpace{Used: space.UsedBytes, Free: space.FreeBytes, Alarm: space.Alarm != nil}
}

// failure returns the error with which the store rejects commits, if any, and reports whether a restart may clear the error.
func (s *Server) failure() (mayRecover bool, err error) {
	if err = s.store.Failure(); err == nil {
		return false, nil
	}
	return s.store.MayRecover(), err
}
