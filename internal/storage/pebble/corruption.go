package pebble

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A crash may leave a half-written chunk at the end of Pebble's write-ahead log, so Pebble treats an unreadable chunk as the
// end of the log. A corrupt chunk looks the same. The chunks after it reveal the difference: every chunk contains the offset
// up to which the log was synced when the chunk was written, so an unreadable chunk before such an offset is corrupt. Pebble
// searches only later blocks of 32 KiB for such chunks; checkLogs searches everything after the unreadable chunk. When the
// store is idle, the acker appends an idle mark, so that the last commit is followed by another chunk.

// checkLogs returns an error that names the first corrupt write-ahead log in folder; nil if no log is corrupt.
func checkLogs(fs vfs.FS, folder string) error {
	files, err := fs.List(folder)
	if err != nil {
		return err
	}
	for _, name := range files {
		digits, isLog := strings.CutSuffix(name, ".log")
		number, err := strconv.ParseUint(digits, 10, 64)
		if !isLog || err != nil {
			continue
		}
		file, err := fs.Open(fs.PathJoin(folder, name))
		if err != nil {
			return err
		}
		at, damaged, err := findCorruption(file, uint32(number))
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
		if damaged {
			return fmt.Errorf("%s is damaged at byte %d: synced data is not readable; restore the folder from a backup", name, at)
		}
	}
	return nil
}

// A chunk consists of a checksum of everything after the size (4 bytes), the size of the payload (2), the chunk type (1), the
// log number (4), the synced offset (8), and the payload.
const (
	chunkBlock   = 32 << 10 // chunkBlock is the size of a block in bytes; a chunk never crosses a block boundary
	chunkHeader  = chunkLogNumber + 4 + 8
	minChunkType = 9 // chunks with a type from minChunkType to maxChunkType contain a synced offset
	maxChunkType = 12

	chunkLogNumber = 4 + 2 + 1 // chunkLogNumber is the offset of the log number in a chunk
)

// findCorruption returns the offset of the first chunk in file that is unreadable although it was synced; damaged is false if
// there is none. file is the write-ahead log with the number log. It reads the log block by block, because the logs may be
// large: all logs of the folder, including obsolete ones, are checked whenever a store is opened.
func findCorruption(file io.Reader, log uint32) (at int, damaged bool, err error) {
	block := make([]byte, chunkBlock)
	end, readable := 0, true // end is the end of the readable chunks; readable is true while all chunks so far are readable
	for start := 0; ; start += chunkBlock {
		n, err := io.ReadFull(file, block)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, false, err
		}
		i := 0
		if readable {
			i, readable = skipChunks(block[:n], log)
			end = start + i
		}
		if !readable && maxSyncedOffset(block[:n], i, log) > uint64(end) {
			return end, true, nil
		}
		if n < chunkBlock {
			return 0, false, nil
		}
	}
}

// skipChunks returns the offset of the end of the readable chunks at the start of block. allReadable reports whether all
// chunks of block are readable; then the next block may start with readable chunks, too.
func skipChunks(block []byte, log uint32) (end int, allReadable bool) {
	for chunkBlock-end >= chunkHeader {
		size, _, ok := chunkAt(block, end, log)
		if !ok {
			return end, false
		}
		end += size
	}
	return end, true
}

// maxSyncedOffset returns the greatest synced offset of the readable chunks in block. It looks for a chunk at every offset
// from start on, because the start of the next chunk after an unreadable chunk is unknown.
func maxSyncedOffset(block []byte, start int, log uint32) (greatest uint64) {
	number := binary.LittleEndian.AppendUint32(nil, log)
	for at := start; at+chunkHeader <= len(block); at++ {
		next := bytes.Index(block[at+chunkLogNumber:], number)
		if next < 0 {
			break
		}
		at += next
		if _, synced, ok := chunkAt(block, at, log); ok {
			greatest = max(greatest, synced)
		}
	}
	return greatest
}

// chunkAt decodes the chunk at offset at of data. It returns the chunk's size and synced offset; ok is false if no valid
// chunk of the log with the number log starts at that offset.
func chunkAt(data []byte, at int, log uint32) (size int, synced uint64, ok bool) {
	if at+chunkHeader > len(data) {
		return 0, 0, false
	}
	header := data[at:]
	if header[6] < minChunkType || header[6] > maxChunkType || binary.LittleEndian.Uint32(header[chunkLogNumber:]) != log {
		return 0, 0, false
	}
	size = chunkHeader + int(binary.LittleEndian.Uint16(header[4:]))
	if at+size > len(data) || at%chunkBlock+size > chunkBlock {
		return 0, 0, false
	}
	sum := crc32.Checksum(header[6:size], castagnoli)
	if binary.LittleEndian.Uint32(header) != (sum>>15|sum<<17)+0xa282ead8 {
		return 0, 0, false
	}
	return size, binary.LittleEndian.Uint64(header[11:]), true
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkOptions returns an error that names an OPTIONS file of Pebble in folder if the file is corrupt; nil if none is.
// Pebble's own error does not name the file.
func checkOptions(fs vfs.FS, folder string, options *pebble.Options) error {
	options.EnsureDefaults()
	files, err := fs.List(folder)
	if err != nil {
		return err
	}
	for _, name := range files {
		if !strings.HasPrefix(name, "OPTIONS-") {
			continue
		}
		text, err := readFile(fs, fs.PathJoin(folder, name))
		if err != nil {
			return err
		}
		if err := options.CheckCompatibility(folder, text); err != nil {
			return fmt.Errorf("%s is damaged: %w", name, err)
		}
	}
	return nil
}
