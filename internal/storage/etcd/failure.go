package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cadastre/cadastre/internal/storage"
)

const (
	// probeInterval is the time between two probes, and probeTimeout the time after which a probe has failed.
	probeInterval = time.Second
	probeTimeout  = 5 * time.Second
)

// Failure returns the cause for which commits fail at once; nil if etcd responds.
func (s *Store) Failure() error {
	if failure := s.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// MayRecover returns false: restarting this process does not repair etcd.
func (s *Store) MayRecover() bool { return false }

// runProbe reads from etcd periodically and records the result for Failure.
func (s *Store) runProbe() {
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-s.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, probeTimeout)
		_, err := s.readRevision(ctx)
		cancel()
		if s.ctx.Err() == nil {
			s.recordProbe(err)
		}
	}
}

// recordProbe records the result of a probe, and logs changes.
func (s *Store) recordProbe(err error) {
	before := s.Failure()
	if err == nil {
		s.failure.Store(nil)
		if before != nil {
			s.options.Log.Info("etcd responds again; commits are accepted")
		}
		return
	}
	failure := fmt.Errorf("etcd at %s does not respond: %w", strings.Join(s.options.Endpoints, ", "), err)
	s.failure.Store(&failure)
	if before == nil {
		s.options.Log.Error("etcd does not respond; commits are rejected until it does", "error", err)
	}
}

// readError returns the error of package storage for err, an error of an operation that has written nothing.
func (s *Store) readError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, rpctypes.ErrCompacted):
		return storage.ErrCompacted
	case errors.Is(err, rpctypes.ErrFutureRev):
		return storage.ErrFuture
	}
	return s.unavailable(err)
}

// commitError returns the error of package storage for err, the error of a transaction. sent reports whether the transaction was
// written to a connection.
func (s *Store) commitError(ctx context.Context, err error, sent bool) error {
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return &storage.NoSpaceError{Reason: "etcd has reached the quota of its database"}
	case errors.Is(err, rpctypes.ErrRequestTooLarge), isTooLargeToSend(err):
		return &storage.LimitError{Reason: "etcd rejects requests of this size"}
	case errors.Is(err, rpctypes.ErrTooManyOps):
		return &storage.LimitError{Reason: "etcd rejects transactions with this number of writes"}
	case !sent && ctx.Err() != nil && s.Failure() == nil:
		return ctx.Err()
	case errors.Is(err, rpctypes.ErrLeaseNotFound): // etcd was restored from a backup, or was slow
		s.leases.forget()
		return s.unavailable(err)
	case !sent, errors.Is(err, rpctypes.ErrTooManyRequests):
		return s.unavailable(err)
	case isRejection(err):
		return fmt.Errorf("etcd: %w", err)
	}
	return &storage.UnknownError{Err: err}
}

// isTooLargeToSend reports whether the client has rejected a request because of its size. The client's limit is etcd's default.
func isTooLargeToSend(err error) bool {
	return codeOf(err) == codes.ResourceExhausted && strings.Contains(err.Error(), "larger than max")
}

// isRejection reports whether etcd has rejected a request before it had any effect.
func isRejection(err error) bool {
	switch codeOf(err) {
	case codes.InvalidArgument, codes.PermissionDenied, codes.Unauthenticated, codes.FailedPrecondition, codes.Unimplemented:
		return true
	}
	return false
}

// unavailable returns a *storage.UnavailableError for err if etcd may accept the same request later, ErrClosed if the store is
// closed, and err itself otherwise. Nothing was written.
func (s *Store) unavailable(err error) error {
	switch {
	case s.ctx != nil && s.ctx.Err() != nil:
		return storage.ErrClosed
	case isRejection(err):
		return fmt.Errorf("etcd: %w", err)
	}
	return &storage.UnavailableError{Err: err}
}

// codeOf returns the gRPC code of an error of the client.
func codeOf(err error) codes.Code {
	if known := (rpctypes.EtcdError{}); errors.As(err, &known) {
		return known.Code()
	}
	return status.Code(err)
}
