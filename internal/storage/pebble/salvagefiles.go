package pebble

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
)

// table adds the readable records of a table, block by block.
func (s *salvager) table(name string) {
	reader, err := openTable(s.s, name)
	if err != nil {
		s.lose("%s: the whole file is unreadable: %v", name, err)
		return
	}
	defer reader.Close()
	layout, err := reader.Layout()
	if err != nil {
		s.lose("%s: the index is damaged, so that the whole file is unreadable: %v", name, err)
		return
	}
	var last []byte // the last record key of the last readable block
	damaged := ""   // describes the unreadable block before the current one
	for _, handle := range layout.Data {
		first, end, ok := s.block(reader, sstable.Layout{Data: layout.Data[:0:0], Format: layout.Format}, handle)
		if !ok {
			if damaged == "" {
				damaged = fmt.Sprintf("%s: the block at byte %d is damaged", name, handle.Offset)
			}
			continue
		}
		if damaged != "" {
			s.lose("%s: %s are lost or outdated", damaged, keyRange(last, first))
			damaged = ""
		}
		last = end
	}
	if damaged != "" {
		s.lose("%s: %s are lost or outdated", damaged, keyRange(last, nil))
	}
}

// block adds the records of one block. It returns the first and the last record key; ok is false if the block is damaged.
func (s *salvager) block(reader *sstable.Reader, layout sstable.Layout, handle block.HandleWithProperties) (first, last []byte, ok bool) {
	layout.Data = append(layout.Data, handle)
	// Describe is Pebble's only exported function that reads a single block. It calls the function for each record of a block
	// whose checksum is correct.
	layout.Describe(true, reader, func(key *pebble.InternalKey, value []byte) string {
		if first == nil {
			first = slices.Clone(key.UserKey)
		}
		last = append(last[:0], key.UserKey...)
		s.add(key.UserKey, uint64(key.SeqNum()), key.Kind(), value)
		return ""
	})
	return first, last, first != nil
}

// writeAheadLog adds the records of the readable batches in a write-ahead log.
func (s *salvager) writeAheadLog(name string) {
	digits := strings.TrimSuffix(name, ".log")
	number, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return
	}
	text, err := readFile(s.s.options.FileSystem, s.s.options.FileSystem.PathJoin(s.s.options.Folder, name))
	if err != nil {
		s.lose("%s cannot be read: %v", name, err)
		return
	}
	if at, damaged, err := findCorruption(strings.NewReader(text), uint32(number)); err != nil || damaged {
		s.lose("%s is damaged at byte %d: commits from there on may be lost", name, at)
	}
	for batch := range logBatches([]byte(text), uint32(number)) {
		if err := s.batch(batch); err != nil {
			s.lose("%s: a batch is malformed: %v", name, err)
		}
	}
}

// batch adds the records of a batch.
func (s *salvager) batch(batch []byte) error {
	header, ok := batchrepr.ReadHeader(batch)
	if !ok {
		return fmt.Errorf("expected a header, received %d bytes", len(batch))
	}
	sequence := uint64(header.SeqNum)
	records := batchrepr.Read(batch)
	for {
		kind, key, value, ok, err := records.Next()
		if err != nil || !ok {
			return err
		}
		if kind == pebble.InternalKeyKindLogData {
			continue
		}
		s.add(key, sequence, kind, value)
		sequence++
	}
}

// The types of chunks with a synced offset: a batch is one full chunk, or a first chunk, any number of middle chunks and a last
// chunk.
const (
	fullChunk = minChunkType + iota
	firstChunk
	middleChunk
	lastChunk
)

// logBatches iterates over the batches in the write-ahead log with the given number whose chunks are all readable. It skips
// unreadable bytes.
func logBatches(text []byte, number uint32) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		var batch []byte // the chunks of a batch whose last chunk has not been read; nil if there is none
		for at := 0; at+chunkHeader <= len(text); {
			size, _, ok := chunkAt(text, at, number)
			if !ok {
				if left := chunkBlock - at%chunkBlock; left < chunkHeader { // padding at the end of a block
					at += left
					continue
				}
				batch = nil
				at = nextChunk(text, at+1, number)
				continue
			}
			payload := text[at+chunkHeader : at+size]
			switch kind := text[at+6]; {
			case kind == fullChunk:
				batch = nil
				if !yield(payload) {
					return
				}
			case kind == firstChunk:
				batch = slices.Clone(payload)
			case batch == nil: // the first chunk is missing
			case kind == middleChunk:
				batch = append(batch, payload...)
			case kind == lastChunk:
				if !yield(append(batch, payload...)) {
					return
				}
				batch = nil
			}
			at += size
		}
	}
}

// nextChunk returns the offset of the first readable chunk at or after an offset; the length of text if there is none.
func nextChunk(text []byte, from int, number uint32) int {
	digits := binary.LittleEndian.AppendUint32(nil, number)
	for at := from; at+chunkHeader <= len(text); at++ {
		next := bytes.Index(text[at+chunkLogNumber:], digits)
		if next < 0 {
			break
		}
		at += next
		if _, _, ok := chunkAt(text, at, number); ok {
			return at
		}
	}
	return len(text)
}
