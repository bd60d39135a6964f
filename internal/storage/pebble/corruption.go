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

// Pebble takes a chunk of its log that can't be read for the end of the log, as a crash leaves
// one that is half written. Damage looks the same. The difference shows in what follows: every
// chunk says up to where the log was on disk when it was written, so that a chunk that can't be
// read before such a place is damaged. Pebble looks for that in later blocks of 32 KiB only; here
// it is looked for in all that follows. That there is something that follows is the acker's
// work: it writes a mark when there is nothing else to do.

// checkLogs reports logs that are damaged.
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
		at, damaged, err := findDamage(file, uint32(number))
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
		if damaged {
			return fmt.Errorf("%s is damaged at byte %d: what is there can't be read, but was on disk once; restore the folder from a backup", name, at)
		}
	}
	return nil
}

// What a chunk looks like: a checksum of all but itself and the size, the size of what it holds,
// its kind, the number of the log, and up to where the log was on disk; then what it holds.
const (
	chunkBlock  = 32 << 10 // no chunk crosses from one block to the next
	chunkHeader = numberInChunk + 4 + 8
	firstKind   = 9 // of the chunks that say up to where the log was on disk
	lastKind    = 12

	numberInChunk = 4 + 2 + 1 // where the number of the log is
)

// findDamage returns the first place where a log can't be read though it could be once. Logs may be
// many and large, those that Pebble has no use for any more included, and all are looked at
// whenever a store is opened: so it goes block by block.
func findDamage(file io.Reader, log uint32) (at int, damaged bool, err error) {
	block := make([]byte, chunkBlock)
	end, readable := 0, true // up to where the log can be read, and whether that is all so far
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
		if !readable && syncedUpTo(block[:n], i, log) > uint64(end) {
			return end, true, nil
		}
		if n < chunkBlock {
			return 0, false, nil
		}
	}
}

// skipChunks returns where the chunks end that a block begins with, and whether more may follow in
// the next one.
func skipChunks(block []byte, log uint32) (end int, more bool) {
	for chunkBlock-end >= chunkHeader {
		size, _, ok := chunkAt(block, end, log)
		if !ok {
			return end, false
		}
		end += size
	}
	return end, true
}

// syncedUpTo returns up to where the log was on disk, by the chunks that are anywhere in a block from
// a place on.
func syncedUpTo(block []byte, from int, log uint32) (most uint64) {
	number := binary.LittleEndian.AppendUint32(nil, log)
	for at := from; at+chunkHeader <= len(block); at++ {
		next := bytes.Index(block[at+numberInChunk:], number)
		if next < 0 {
			break
		}
		at += next
		if _, synced, ok := chunkAt(block, at, log); ok {
			most = max(most, synced)
		}
	}
	return most
}

// chunkAt reads the chunk at a place; ok is false if there is none of that log.
func chunkAt(data []byte, at int, log uint32) (size int, synced uint64, ok bool) {
	if at+chunkHeader > len(data) {
		return 0, 0, false
	}
	header := data[at:]
	if header[6] < firstKind || header[6] > lastKind || binary.LittleEndian.Uint32(header[numberInChunk:]) != log {
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

// checkOptions reports notes of Pebble's about itself that are damaged, which it would not name.
func checkOptions(fs vfs.FS, folder string, now *pebble.Options) error {
	now.EnsureDefaults()
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
		if err := now.CheckCompatibility(folder, text); err != nil {
			return fmt.Errorf("%s is damaged: %w", name, err)
		}
	}
	return nil
}
