package backup

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/cadastre/cadastre/internal/storage"
)

// Reader reads a backup.
type Reader struct {
	Header
	in *bufio.Reader
	// sum is the checksum of all bytes that were read.
	sum     hash.Hash
	last    string
	summary Summary
}

// NewReader returns a Reader that has read the header.
func NewReader(r io.Reader) (*Reader, error) {
	compressed, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("expected a backup, received a file that is not compressed with gzip: %w", err)
	}
	in := &Reader{in: bufio.NewReaderSize(compressed, 64<<10), sum: sha256.New()}
	first := make([]byte, len(magic))
	if err := in.readFull(first); err != nil || string(first) != magic {
		return nil, fmt.Errorf("expected a backup that starts with %q, received %q; use the release that wrote it, or a newer one", strings.TrimSpace(magic), first)
	}
	text, err := in.readLine()
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &in.Header); err != nil {
		return nil, fmt.Errorf("header: expected a JSON object, received %q: %w", text, err)
	}
	in.summary.Header = in.Header
	return in, nil
}

// Next returns the next item. It returns io.EOF after the last item if the whole file is valid, and another error if it is not.
func (r *Reader) Next() (storage.Item, error) {
	size, err := r.readUvarint(maxKeyBytes)
	if err != nil {
		return storage.Item{}, r.damaged("length of a key", err)
	}
	if size == 0 {
		return storage.Item{}, r.readEnd()
	}
	key := make([]byte, size)
	if err := r.readFull(key); err != nil {
		return storage.Item{}, r.damaged("key", err)
	}
	item := storage.Item{Key: string(key)}
	if item.Key <= r.last {
		return storage.Item{}, r.damaged("key", fmt.Errorf("expected a key after %q, received %q", r.last, item.Key))
	}
	revision, err := r.readUvarint(uint64(r.Revision))
	if err != nil {
		return storage.Item{}, r.damaged("revision", err)
	}
	item.Revision = storage.Revision(revision)
	if item.Value, err = r.readValue(); err != nil {
		return storage.Item{}, r.damaged("value", err)
	}
	r.last = item.Key
	r.summary.Items++
	r.summary.Bytes += int64(len(item.Key) + len(item.Value))
	return item, nil
}

// readValue reads the length of a value and the value. It allocates memory as the value is read, because the length of a
// damaged file may be wrong.
func (r *Reader) readValue() ([]byte, error) {
	size, err := r.readUvarint(maxValueBytes)
	if err != nil {
		return nil, err
	}
	if size <= 1<<20 {
		value := make([]byte, size)
		return value, r.readFull(value)
	}
	var value bytes.Buffer
	if _, err := io.CopyN(io.MultiWriter(&value, r.sum), r.in, int64(size)); err != nil {
		return nil, err
	}
	return value.Bytes(), nil
}

// readEnd reads the number of records and the checksum after the last record. It returns io.EOF if both are correct and the file ends
// there.
func (r *Reader) readEnd() error {
	count, err := r.readUvarint(1 << 62)
	if err != nil {
		return r.damaged("number of items", err)
	}
	if count != uint64(r.summary.Items) {
		return r.damaged("number of items", fmt.Errorf("expected %d, received %d", r.summary.Items, count))
	}
	expected := r.sum.Sum(nil)
	received := make([]byte, len(expected))
	if _, err := io.ReadFull(r.in, received); err != nil {
		return r.damaged("checksum", err)
	}
	if !bytes.Equal(expected, received) {
		return r.damaged("checksum", fmt.Errorf("expected %x, received %x", expected, received))
	}
	switch _, err := r.in.ReadByte(); { // reading up to the end verifies the checksum of gzip, too
	case err == nil:
		return r.damaged("end", errors.New("expected the end of the file, received more data"))
	case !errors.Is(err, io.EOF):
		return r.damaged("end", err)
	}
	return io.EOF
}

// damaged returns the error for a part of the file that cannot be read. A missing part is not reported as io.EOF.
func (r *Reader) damaged(part string, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("the backup is damaged or truncated after %d items: %s: %w", r.summary.Items, part, err)
}

func (r *Reader) readFull(b []byte) error {
	_, err := io.ReadFull(r.in, b)
	r.sum.Write(b)
	return err
}

func (r *Reader) readLine() ([]byte, error) {
	var line []byte
	for len(line) < maxHeaderBytes {
		c, err := r.ReadByte()
		if err != nil {
			return nil, r.damaged("header", err)
		}
		if c == '\n' {
			return line, nil
		}
		line = append(line, c)
	}
	return nil, r.damaged("header", fmt.Errorf("expected at most %d bytes", maxHeaderBytes))
}

// readUvarint reads a number and returns an error if it is greater than limit.
func (r *Reader) readUvarint(limit uint64) (uint64, error) {
	n, err := binary.ReadUvarint(r)
	if err == nil && n > limit {
		err = fmt.Errorf("expected a number up to %d, received %d", limit, n)
	}
	return n, err
}

// ReadByte implements io.ByteReader for binary.ReadUvarint. It adds the byte to the checksum.
func (r *Reader) ReadByte() (byte, error) {
	c, err := r.in.ReadByte()
	if err == nil {
		r.sum.Write([]byte{c})
	}
	return c, err
}

// Visit is called for each item of a backup, in the order of their keys.
type Visit = func(storage.Item) error

// Verify reads a whole backup and calls visit for each item, if visit is not nil.
func Verify(r io.Reader, visit Visit) (Summary, error) {
	in, err := NewReader(r)
	if err != nil {
		return Summary{}, err
	}
	for {
		item, err := in.Next()
		if errors.Is(err, io.EOF) {
			return in.summary, nil
		}
		if err == nil && visit != nil {
			err = visit(item)
		}
		if err != nil {
			return Summary{}, err
		}
	}
}
