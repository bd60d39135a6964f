package backup

import (
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// magic is the first line of a backup. The number is the version of the format.
const magic = "cadastre-backup 1\n"

// MediaType is the media type of a backup.
const MediaType = "application/vnd.cadastre.backup"

// Header describes a backup.
type Header struct {
	// Revision is the revision of the store at which all items were read.
	Revision storage.Revision `json:"revision"`
	// Time is the time at which the backup was started.
	Time time.Time `json:"time"`
	// Partial reports that items are missing, because the backup was salvaged from a damaged store.
	Partial bool `json:"partial,omitempty"`
}

// The limits protect readers from the lengths in a damaged file.
const (
	maxHeaderBytes = 64 << 10
	maxKeyBytes    = 64 << 10
	maxValueBytes  = 1 << 30
)
