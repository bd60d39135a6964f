package custom

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/store"
)

// arrearsKind is what arrears are called in keys. They are kept beside former definitions, and are not served.
const arrearsKind = "cadastre/ownersinarrears"

// arrears are the entries that could not be brought over to a definition when it was first in force, because who
// converts objects did not answer. Users write meanwhile, so that each entry is noted by when its manager last wrote:
// one that has another time was written since, by the new definition, and so was all that is not noted.
//
// They are in several records, none of which gets large: the first one has the uid of the definition as its name, says
// how many others there are, and is written last, so that arrears are noted as a whole or not at all.
type arrears struct {
	// generation is that of the definition as which all other entries are; 0 says that they are as the oldest former
	// one has them.
	generation int64
	serial     int64 // is in the names of the other records, and another one whenever arrears are noted
	objects    map[cache.Key]arrear
	records    []*cache.Object // the first one first, and what is left of others
}

// arrear is what is noted of one object.
type arrear struct {
	Namespace string         `json:"namespace,omitempty"`
	Name      string         `json:"name"`
	UID       string         `json:"uid"`
	Entries   []arrearsEntry `json:"entries"`
}

// arrearsEntry tells an entry apart from all others, and from those that take its place.
type arrearsEntry struct {
	Manager     string          `json:"manager"`
	Operation   apply.Operation `json:"operation"`
	APIVersion  string          `json:"apiVersion"`
	Subresource string          `json:"subresource,omitempty"`
	Time        time.Time       `json:"time"`
	// Generation is that of the definition as which the entry is.
	Generation int64 `json:"generation"`
}

func newArrearsEntry(e apply.Entry, generation int64) arrearsEntry {
	return arrearsEntry{e.Manager, e.Operation, e.APIVersion, e.Subresource, e.Time.UTC(), generation}
}

// generationOf returns as which definition an entry is that is in arrears.
func (a arrears) generationOf(key cache.Key, uid string, entry apply.Entry) (generation int64, ok bool) {
	of := a.objects[key]
	if of.UID != uid {
		return 0, false
	}
	for _, e := range of.Entries {
		if e == newArrearsEntry(entry, e.Generation) {
			return e.Generation, true
		}
	}
	return 0, false
}

// oldest returns the generation of the oldest definition that is still needed.
func (a arrears) oldest() int64 {
	oldest := a.generation
	for _, object := range a.objects {
		for _, e := range object.Entries {
			oldest = min(oldest, e.Generation)
		}
	}
	return oldest
}

// arrearsRecord is how arrears are stored.
type arrearsRecord struct {
	Generation int64 `json:"generation"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Objects []arrear `json:"objects"`
	Others  int      `json:"others"` // how many records there are beside the first one
	Serial  int64    `json:"serial"`
}

// arrearsTogether is how many objects are in one record.
const arrearsTogether = 500

// recordName is what the first record of a definition's arrears is called, and any other.
func recordName(uid string, serial int64, i int) string {
	if i == 0 {
		return uid
	}
	return fmt.Sprintf("%s.%d.%d", uid, serial, i)
}

// readArrears reads the arrears that are kept of a definition, or of all if its uid is "", into what else is kept, by uid.
func (c *Controller) readArrears(ctx context.Context, uid string, all map[string]past) error {
	kept, err := c.listKept(ctx, arrearsKind, uid)
	if err != nil {
		return err
	}
	records := map[string][]*cache.Object{}
	for _, object := range kept {
		uid := definitionOf(object)
		records[uid] = append(records[uid], object)
	}
	for uid, of := range records {
		p := all[uid]
		if p.arrears, err = arrearsOf(uid, of); err != nil {
			c.Log.Error("cannot read which owners have not followed a CustomResourceDefinition, so that some may own too little in its objects", "uid", uid, "error", err)
		}
		all[uid] = p
	}
	return nil
}

// arrearsOf returns what the records of one definition say. If they can't be read, nothing is in arrears.
func arrearsOf(uid string, records []*cache.Object) (arrears, error) {
	a := arrears{records: records}
	head, err := readRecord(uid, records)
	if err != nil || head == nil {
		return a, err
	}
	a.generation, a.serial, a.objects = head.Generation, head.Serial, map[cache.Key]arrear{}
	for i := range head.Others + 1 {
		record, err := readRecord(recordName(uid, head.Serial, i), records)
		if err != nil {
			return a, err
		}
		if record == nil {
			return a, fmt.Errorf("expected %d records, received %d", head.Others+1, i)
		}
		for _, object := range record.Objects {
			a.objects[cache.Key{Namespace: object.Namespace, Name: object.Name}] = object
		}
	}
	return a, nil
}

// readRecord returns the record of a name, nil if there is none.
func readRecord(name string, records []*cache.Object) (*arrearsRecord, error) {
	i := slices.IndexFunc(records, func(o *cache.Object) bool { return o.Name() == name })
	if i < 0 {
		return nil, nil
	}
	record := &arrearsRecord{}
	if err := json.Unmarshal([]byte(records[i].Text()), record); err != nil {
		return nil, fmt.Errorf("%s: %w", records[i].Key(), err)
	}
	return record, nil
}

// noteArrears writes that all entries but those in arrears are as the definition of that uid has them at their
// generation, and lets go of what nobody needs any more. Somebody else's note is an error.
func (c *Controller) noteArrears(ctx context.Context, uid string, now arrears, p past) error {
	revision, err := c.Objects.Cache.Revision(ctx)
	if err != nil {
		return err
	}
	now.serial = int64(revision)
	last, others := now.writes(uid)
	for _, write := range others {
		if _, _, err := c.Objects.Cache.Commit(ctx, write); err != nil {
			return err
		}
	}
	for _, object := range p.arrears.records {
		if len(last) > 0 && object.Key() == last[0].Key {
			last[0].Expected = object.Revision()
			continue
		}
		last = append(last, store.Write{Key: object.Key(), Expected: object.Revision()})
	}
	for _, one := range p.formers {
		if len(now.objects) == 0 || one.generation < now.oldest() {
			last = append(last, store.Write{Key: one.object.Key(), Expected: one.object.Revision()})
		}
	}
	if len(last) == 0 {
		return nil
	}
	_, _, err = c.Objects.Cache.Commit(ctx, last...)
	return err
}

// writes returns the records of arrears: the first one, if there are any, and the others.
func (a arrears) writes(uid string) (first, others []store.Write) {
	all := slices.Collect(maps.Values(a.objects))
	chunks := slices.Collect(slices.Chunk(all, arrearsTogether))
	for i, objects := range chunks {
		record := arrearsRecord{Generation: a.generation, Objects: objects, Others: len(chunks) - 1, Serial: a.serial}
		record.Metadata.Name = recordName(uid, a.serial, i)
		text, err := json.Marshal(record)
		if err != nil {
			panic(err) // there is nothing in it that has no JSON
		}
		write := store.Write{Key: cache.Key{Kind: arrearsKind, Name: record.Metadata.Name}.String(), Value: text}
		if i == 0 {
			first = append(first, write)
		} else {
			others = append(others, write)
		}
	}
	return first, others
}
