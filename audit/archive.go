package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"voltbus/audit/packed"
)

// Archives is the folder beside the log for entries moved out of it.
const Archives = "audit.archive"

// The actions with which the log records the moves of its oldest entries.
const (
	Archived       = "audit.archive"         // Subject is the file, Detail an Archive
	ArchiveForgone = "audit.archive.removed" // the file was removed at the end of its retention period
	archiveFormat  = "voltbus audit archive 1"
	archiveVersion = 2 // of a file with archived entries: an older program would miss them
	removedAtOnce  = 2000
)

// Archive is a file with the oldest entries of the log; they follow those of the previous archive.
type Archive struct {
	File    string    `json:"file"` // its name in the folder
	First   uint64    `json:"first"`
	Last    uint64    `json:"last"`
	From    time.Time `json:"from"`    // the earliest time of an entry
	To      time.Time `json:"to"`      // the latest one
	Segment uint64    `json:"segment"` // of the last entry
	Hash    Hash      `json:"hash"`    // of the last entry
	Sum     Hash      `json:"sha256"`  // of the file
	Bytes   int64     `json:"octets"`  // of the file
	Removed bool      `json:"-"`       // it was removed at the end of its retention period
	Here    bool      `json:"-"`       // the file is in the folder
}

func (a *Archive) end() Head { return Head{a.Last, a.Hash} }

// String names the entries and the file.
func (a *Archive) String() string {
	return fmt.Sprintf("the entries from %d to %d are in %s", a.First, a.Last, filepath.Join(Archives, a.File))
}

// line is an entry in an archive, in the form of an export.
type line struct {
	Seq     uint64          `json:"seq"`
	Segment uint64          `json:"segment"`
	Time    time.Time       `json:"time"`
	Actor   string          `json:"actor"`
	Action  string          `json:"action"`
	Subject string          `json:"subject"`
	Outcome string          `json:"outcome"`
	Detail  json.RawMessage `json:"detail,omitempty"`
	Raw     string          `json:"raw,omitempty"` // a detail that is not JSON: somebody changed it
	Hash    Hash            `json:"hash"`
}

// opening is the first line of an archive.
type opening struct {
	Format string `json:"format"`
	Before Head   `json:"before"` // the entry before the first one
}

// archiveWriter writes an archive, and computes its sum.
type archiveWriter struct {
	file    *packed.Writer
	archive Archive
}

func newArchiveWriter(dir string, before Head) (*archiveWriter, error) {
	file, err := packed.Create(dir, opening{archiveFormat, before})
	return &archiveWriter{file: file}, err
}

func (w *archiveWriter) add(e *Entry) error {
	l := line{
		Seq: e.Seq, Segment: e.Segment, Time: e.Time, Actor: e.Actor, Action: e.Action, Subject: e.Subject, Outcome: e.Outcome, Hash: e.Hash,
	}
	if json.Valid(e.Detail) {
		l.Detail = e.Detail
	} else {
		l.Raw = string(e.Detail)
	}
	a := &w.archive
	if a.First == 0 {
		a.First, a.From, a.To = e.Seq, e.Time, e.Time
	}
	if e.Time.Before(a.From) {
		a.From = e.Time
	}
	if e.Time.After(a.To) {
		a.To = e.Time
	}
	a.Last, a.Segment, a.Hash = e.Seq, e.Segment, e.Hash
	return w.file.Add(&l)
}

// finish puts the archive on disk under its name.
func (w *archiveWriter) finish() (Archive, error) {
	a := &w.archive
	a.File = fmt.Sprintf("%012d-%012d.jsonl.gz", a.First, a.Last)
	sum, size, err := w.file.Finish(a.File)
	a.Sum, a.Bytes = sum, size
	return *a, err
}

// readArchive passes on the entries of an archive, oldest first, and returns where the log ended before them and
// the SHA-256 of the file, even of one that cannot be read to its end. It stops when emit fails.
func readArchive(ctx context.Context, file string, emit func(*Entry) error) (before Head, sum Hash, err error) {
	digest, err := packed.Read(ctx, file, func(decode *json.Decoder) error {
		var begins opening
		if err := decode.Decode(&begins); err != nil || begins.Format != archiveFormat {
			return fmt.Errorf("does not begin with %q: %w", archiveFormat, cmpErr(err, errFormat))
		}
		before = begins.Before
		return nil
	}, func(l *line) error {
		e := Entry{
			Seq: l.Seq, Segment: l.Segment, Time: l.Time.UTC(), Actor: l.Actor, Action: l.Action, Subject: l.Subject, Outcome: l.Outcome,
			Detail: l.Detail, Hash: l.Hash,
		}
		if l.Raw != "" {
			e.Detail = json.RawMessage(l.Raw)
		}
		return emit(&e)
	})
	return before, digest, err
}

var errFormat = errors.New("it is of another format")

func cmpErr(err, otherwise error) error {
	if err == nil {
		return otherwise
	}
	return err
}

// archiveTable lists the archives in the file of the log.
const archiveTable = `CREATE TABLE IF NOT EXISTS archive (
	first INTEGER NOT NULL PRIMARY KEY, file TEXT NOT NULL, last INTEGER NOT NULL, began INTEGER NOT NULL, ended INTEGER NOT NULL,
	segment INTEGER NOT NULL, hash BLOB NOT NULL, sum BLOB NOT NULL, octets INTEGER NOT NULL, removed INTEGER NOT NULL
) STRICT`

// archivesOf lists the archives of a log, in order. dir is the folder of the files.
func archivesOf(ctx context.Context, db queries, dir string) ([]Archive, error) {
	var there int
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'archive'`).Scan(&there)
	if err != nil || there == 0 {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT file, first, last, began, ended, segment, hash, sum, octets, removed FROM archive ORDER BY first`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []Archive
	for rows.Next() {
		var a Archive
		var from, to int64
		var last, sum []byte
		if err := rows.Scan(&a.File, &a.First, &a.Last, &from, &to, &a.Segment, &last, &sum, &a.Bytes, &a.Removed); err != nil {
			return nil, err
		}
		copy(a.Hash[:], last)
		copy(a.Sum[:], sum)
		a.From, a.To = time.UnixMicro(from).UTC(), time.UnixMicro(to).UTC()
		a.File = filepath.Base(a.File) // a bare name, whatever somebody wrote there
		_, err := os.Stat(filepath.Join(dir, a.File))
		a.Here = !errors.Is(err, fs.ErrNotExist)
		list = append(list, a)
	}
	return list, rows.Err()
}

// keepArchive records an archive in the log's file.
func keepArchive(ctx context.Context, tx *sql.Tx, a *Archive) error {
	for _, text := range []string{archiveTable, fmt.Sprintf(`PRAGMA user_version = %d`, archiveVersion)} {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO archive (file, first, last, began, ended, segment, hash, sum, octets, removed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
		a.File, int64(a.First), int64(a.Last), a.From.UnixMicro(), a.To.UnixMicro(), int64(a.Segment), a.Hash[:], a.Sum[:], a.Bytes)
	return err
}

// endOf returns where the archived entries end.
func endOf(archives []Archive) Head {
	if len(archives) == 0 {
		return Head{}
	}
	return archives[len(archives)-1].end()
}
