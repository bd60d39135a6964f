package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/storage/backup"
)

// backupPath is the path of backups. Only the administrator, or a role with the nonResourceURL, may get it: a backup contains all
// Secrets.
const backupPath = "/storage/backup"

// backup streams a backup of the store. There is one backup at a time: further requests are rejected with 429. Each write has a
// timeout of its own (see progress), so that a large store can be copied however long it takes, and a client that does not read is
// disconnected. If the backup fails after it has started, the response is aborted; a backup without its end is not valid.
func (q *request) backup() error {
	if q.r.Method != http.MethodGet {
		return q.methodNotAllowed()
	}
	if q.h.Store == nil {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusNotImplemented, Reason: metav1.StatusReasonMethodNotAllowed,
			Message: "the objects are stored in etcd: expected a snapshot of etcd in the place of a backup; use etcdctl snapshot save",
		}}
	}
	if !q.h.backups.TryLock() {
		return apierrors.NewTooManyRequests("another backup is being written; try again later", 10)
	}
	defer q.h.backups.Unlock()
	header := q.w.Header()
	header["Content-Type"], header["Cache-Control"] = []string{backup.MediaType}, noCache
	_ = http.NewResponseController(&q.w).SetWriteDeadline(time.Time{}) // replaces the write timeout of the connection
	summary, err := backup.Write(q.r.Context(), q.h.Store, &q.w)
	if err == nil {
		q.h.Log.Info("wrote a backup", "user", q.user.GetName(), "revision", summary.Revision, "items", summary.Items, "duration", time.Since(q.start))
		return nil
	}
	if q.w.code == 0 {
		delete(header, "Content-Type")
		return err
	}
	if !errors.Is(err, context.Canceled) {
		q.h.Log.Warn("a backup failed", "user", q.user.GetName(), "error", err)
	}
	panic(http.ErrAbortHandler)
}
