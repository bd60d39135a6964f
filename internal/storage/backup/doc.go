// Package backup writes and reads backups of a store: one file with all items at one revision.
//
// # The file
//
// A backup is a gzip stream. All numbers are unsigned varints unless stated otherwise.
//
//	"cadastre-backup 1\n"     the format and its version
//	HEADER "\n"               a JSON object: see Header
//	records, sorted by key    length of the key (> 0), key, revision, length of the value, value
//	0                         the end of the records
//	number of records
//	SHA-256                   32 bytes: the checksum of everything before it, uncompressed
//
// A backup is therefore independent of the storage engine and its version, and a truncated or modified file is detected. Values
// are copied byte for byte: a value that the store holds encrypted is encrypted in the backup.
//
// # Consistency
//
// Write lists the store page by page at one revision, so that writers are not blocked and the backup contains exactly the commits
// up to that revision. If the revision is compacted before the last page is read, Write returns an error.
//
// # Where to look
//
//	header.go   Header, and the constants of the format
//	writer.go   Write, which copies a store, and Writer
//	reader.go   Reader and Verify
//	file.go     WriteFile: a backup in a file, which is verified before it is renamed to its path
//	schedule.go Schedule: periodic backups in a folder, with retention
package backup
