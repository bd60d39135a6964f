package pebble

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// TestFindCorruption compares findCorruption with findCorruptionPlainly on random logs: intact, truncated, with flipped bits,
// and followed by the remains of an older log.
func TestFindCorruption(t *testing.T) {
	const log = 7
	corrupt, intact := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 5))
		data := randomLog(r, log, 1+r.IntN(4*chunkBlock))
		if r.IntN(3) == 0 {
			data = append(data, randomLog(r, log-1, 1+r.IntN(2*chunkBlock))...)
		}
		if r.IntN(3) == 0 {
			data = append(data, make([]byte, r.IntN(2*chunkBlock))...)
		}
		for range r.IntN(3) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
		data = data[:len(data)-r.IntN(2)*r.IntN(len(data))]
		wantAt, want := findCorruptionPlainly(data, log)
		at, damaged, err := findCorruption(bytes.NewReader(data), log)
		if err != nil || damaged != want || at != wantAt {
			t.Fatalf("seed %d: findCorruption() = %d, %v, %v, want %d, %v", seed, at, damaged, err, wantAt, want)
		}
		if damaged {
			corrupt++
		} else {
			intact++
		}
	}
	if corrupt < 500 || intact < 500 {
		t.Errorf("%d logs were corrupt, %d intact; want at least 500 of each", corrupt, intact)
	}
}

// randomLog returns a log of approximately size bytes. Some of its chunks have a synced offset that covers all chunks before
// them.
func randomLog(r *rand.Rand, log uint32, size int) []byte {
	var data []byte
	synced := 0
	for len(data) < size {
		room := chunkBlock - len(data)%chunkBlock
		if room < chunkHeader {
			data = append(data, make([]byte, room)...)
			continue
		}
		chunk := make([]byte, chunkHeader+r.IntN(min(room-chunkHeader, 9000)+1))
		binary.LittleEndian.PutUint16(chunk[4:], uint16(len(chunk)-chunkHeader))
		chunk[6] = byte(minChunkType + r.IntN(maxChunkType-minChunkType+1))
		binary.LittleEndian.PutUint32(chunk[chunkLogNumber:], log)
		binary.LittleEndian.PutUint64(chunk[11:], uint64(synced))
		for i := chunkHeader; i < len(chunk); i++ {
			chunk[i] = byte(r.IntN(16)) // small values often look like log numbers and chunk types
		}
		sum := crc32.Checksum(chunk[6:], castagnoli)
		binary.LittleEndian.PutUint32(chunk, (sum>>15|sum<<17)+0xa282ead8)
		data = append(data, chunk...)
		if r.IntN(4) == 0 {
			synced = len(data)
		}
	}
	return data
}

// findCorruptionPlainly is the reference implementation of findCorruption: it has the whole log in memory and tries to decode
// a chunk at every byte.
func findCorruptionPlainly(data []byte, log uint32) (at int, damaged bool) {
	end := 0
	for {
		if chunkBlock-end%chunkBlock < chunkHeader {
			end += chunkBlock - end%chunkBlock
		}
		size, _, ok := chunkAt(data, end, log)
		if !ok {
			break
		}
		end += size
	}
	for i := end + 1; i+chunkHeader <= len(data); i++ {
		if _, synced, ok := chunkAt(data, i, log); ok && synced > uint64(end) {
			return end, true
		}
	}
	return 0, false
}
