package backup

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/cadastre/cadastre/internal/storage"
)

// pageSize is the maximum number of items that Write lists at once.
const pageSize = 512

// Write writes a backup of s at its latest revision to w. If it returns an error, the output is not a valid backup.
func Write(ctx context.Context, s storage.Store, w io.Writer) (Summary, error) {
	start := time.Now()
	page, err := s.List(ctx, storage.Range{Limit: pageSize})
	if err != nil {
		return Summary{}, fmt.Errorf("backup: %w", err)
	}
	out, err := NewWriter(w, Header{Revision: page.Revision, Time: start.UTC()})
	if err != nil {
		return Summary{}, err
	}
	for {
		for _, item := range page.Items {
			if err := out.Add(item); err != nil {
				return Summary{}, err
			}
		}
		if !page.More {
			return out.Close()
		}
		last := page.Items[len(page.Items)-1].Key
		page, err = s.List(ctx, storage.Range{Limit: pageSize, After: last, Revision: page.Revision})
		if errors.Is(err, storage.ErrCompacted) {
			return Summary{}, fmt.Errorf("backup: revision %d was compacted %s after the start of the backup; write it to a faster destination: %w",
				out.summary.Revision, time.Since(start).Round(time.Second), err)
		}
		if err != nil {
			return Summary{}, fmt.Errorf("backup: %w", err)
		}
	}
}

// Summary describes a complete backup.
type Summary struct {
	Header
	// Items is the number of items, Bytes the number of bytes of their keys and values.
	Items int
	Bytes int64
}

// Writer writes a backup.
type Writer struct {
	compressed *gzip.Writer
	buffer     *bufio.Writer // writes to both sum and compressed
	sum        hash.Hash
	scratch    []byte
	last       string
	summary    Summary
}

// NewWriter returns a Writer that has written the header h to w.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	out := &Writer{compressed: compressed, sum: sha256.New(), summary: Summary{Header: h}}
	out.buffer = bufio.NewWriterSize(io.MultiWriter(out.sum, compressed), 64<<10)
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	_, err = out.buffer.WriteString(magic + string(text) + "\n")
	return out, err
}

// Add writes an item. Items must be added in the order of their keys.
func (w *Writer) Add(item storage.Item) error {
	if item.Key <= w.last {
		return fmt.Errorf("backup: expected a key after %q, received %q", w.last, item.Key)
	}
	if len(item.Key) > maxKeyBytes || len(item.Value) > maxValueBytes {
		return fmt.Errorf("backup: %.100s: expected a key of at most %d and a value of at most %d bytes, received %d and %d", item.Key, maxKeyBytes, maxValueBytes, len(item.Key), len(item.Value))
	}
	w.last = item.Key
	w.summary.Items++
	w.summary.Bytes += int64(len(item.Key) + len(item.Value))
	b := binary.AppendUvarint(w.scratch[:0], uint64(len(item.Key)))
	b = append(b, item.Key...)
	b = binary.AppendUvarint(b, uint64(item.Revision))
	w.scratch = binary.AppendUvarint(b, uint64(len(item.Value)))
	if _, err := w.buffer.Write(w.scratch); err != nil {
		return err
	}
	_, err := w.buffer.Write(item.Value)
	return err
}

// Close writes the end of the backup: the number of items and the checksum. It does not close the underlying writer.
func (w *Writer) Close() (Summary, error) {
	end := binary.AppendUvarint([]byte{0}, uint64(w.summary.Items))
	if _, err := w.buffer.Write(end); err != nil {
		return Summary{}, err
	}
	if err := w.buffer.Flush(); err != nil {
		return Summary{}, err
	}
	if _, err := w.compressed.Write(w.sum.Sum(nil)); err != nil {
		return Summary{}, err
	}
	return w.summary, w.compressed.Close()
}
