package pebble

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// Space is the disk usage. Commit measures it at most once per measureAge, or after measureBytes were committed, and raises or clears
// the alarm.
type Space struct {
	// UsedBytes is the size of the store's files; FreeBytes is the free space of the file system, -1 if it is unknown.
	UsedBytes, FreeBytes int64
	// Alarm is the reason why commits are rejected; nil if there is none.
	Alarm *storage.NoSpaceError
}

// spaceMonitor holds the last measurement.
type spaceMonitor struct {
	measuring sync.Mutex // held while the space is measured
	last      atomic.Pointer[measurement]
	written   atomic.Int64 // bytes committed since the last measurement
	// reclaimedAt is the compacted revision of the last reclaim that compacted Pebble's tables. Only trimPeriodically uses it.
	reclaimedAt int64
}

// measurement is a Space and the time at which it was measured. full reports whether only deletions are accepted.
type measurement struct {
	Space
	when time.Time
	full bool
}

const (
	measureAge   = time.Second
	measureBytes = 16 << 20
	// quotaReserve is the part of the quota that updates may use after creations are rejected, and fullFree the part of the minimum
	// of free space below which updates are rejected, too. Deletions often need updates: of finalizers, deletion timestamps, statuses.
	quotaReserve = 10
	fullFree     = 2
	// alarmHistory is the age up to which the history is retained while there is an alarm.
	alarmHistory = 30 * time.Second
)

// Space returns the current use of the disk.
func (s *Store) Space() Space {
	s.space.measuring.Lock()
	defer s.space.measuring.Unlock()
	return s.measure().Space
}

// checkSpace returns a *storage.NoSpaceError if the store is out of space and writes need space. Deletions are always
// accepted, and updates as long as the reserve lasts.
func (s *Store) checkSpace(writes []storage.Write) error {
	if s.options.QuotaBytes <= 0 && s.options.MinFreeBytes <= 0 {
		return nil
	}
	bytes, creates := int64(0), false
	for i := range writes {
		bytes += int64(len(writes[i].Value))
		creates = creates || writes[i].Expected == 0 && writes[i].Value != nil
	}
	m := s.space.last.Load()
	if written := s.space.written.Add(bytes); m == nil || written > measureBytes || time.Since(m.when) > measureAge {
		if m == nil {
			s.space.measuring.Lock()
		} else if !s.space.measuring.TryLock() {
			return m.check(bytes, creates)
		}
		m = s.measure()
		s.space.measuring.Unlock()
	}
	return m.check(bytes, creates)
}

// check returns the alarm if it rejects a commit with the given number of bytes; creates reports whether the commit creates items.
func (m *measurement) check(bytes int64, creates bool) error {
	if m.Alarm != nil && (creates || m.full && bytes > 0) {
		return m.Alarm
	}
	return nil
}

// measure measures the space and logs when the alarm is raised or cleared. The caller holds s.space.measuring.
func (s *Store) measure() *measurement {
	files := s.db.Metrics()
	used := files.DiskSpaceUsage() - files.WAL.ObsoletePhysicalSize // Pebble reuses obsolete logs
	m := &measurement{when: time.Now(), Space: Space{UsedBytes: int64(used), FreeBytes: -1}}
	if usage, err := s.options.FileSystem.GetDiskUsage(s.options.Folder); err == nil {
		m.FreeBytes = int64(usage.AvailBytes)
	}
	s.space.written.Store(0)
	quota, reserve := s.options.QuotaBytes, s.options.MinFreeBytes
	switch {
	case quota > 0 && m.UsedBytes >= quota:
		m.full = m.UsedBytes >= quota+quota/quotaReserve
		m.Alarm = &storage.NoSpaceError{Reason: fmt.Sprintf("the store uses %d bytes, its quota is %d", m.UsedBytes, quota)}
	case reserve > 0 && m.FreeBytes >= 0 && m.FreeBytes < reserve:
		m.full = m.FreeBytes < reserve/fullFree
		m.Alarm = &storage.NoSpaceError{Reason: fmt.Sprintf("the disk has %d bytes left, the minimum is %d", m.FreeBytes, reserve)}
	}
	previous := s.space.last.Swap(m)
	switch had := previous != nil && previous.Alarm != nil; {
	case m.Alarm != nil && !had:
		s.options.Log.Error("the store rejects creations because of a lack of space; delete objects or free disk space", "reason", m.Alarm.Reason, "folder", s.options.Folder)
	case m.Alarm == nil && had:
		s.options.Log.Info("the store accepts creations again", "used", m.UsedBytes, "free", m.FreeBytes)
	}
	return m
}

// reclaim frees the space of deleted and replaced items while there is an alarm: it compacts most of the history, and then Pebble's
// tables if the disk has room for new ones.
func (s *Store) reclaim(ctx context.Context) error {
	if m := s.space.last.Load(); m == nil || m.Alarm == nil {
		return nil
	}
	if err := s.trimTo(min(s.options.HistoryAge, alarmHistory)); err != nil {
		return err
	}
	space := s.Space()
	compacted := s.compacted.Load()
	if compacted == s.space.reclaimedAt || space.Alarm == nil || space.FreeBytes >= 0 && space.FreeBytes < space.UsedBytes {
		return nil
	}
	s.space.reclaimedAt = compacted
	if err := s.db.Flush(); err != nil {
		return err
	}
	return s.db.Compact(ctx, []byte{0}, []byte{0xff}, false)
}
