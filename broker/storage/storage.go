// Package storage stores the state of an MQTT broker in one SQLite file: devices with the hashes of their secrets, sessions with their
// queued messages, and retained messages.
package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"voltbus/broker"
	"voltbus/broker/account"
	"voltbus/fault"
	"voltbus/internal/sqlite"
)

// File is the storage's name in the data directory.
const File = "mqtt.db"

const (
	version     = 3
	application = 0x56424D51 // "VBMQ": the file is the storage of a broker
	// checkpoint is how many pages the write-ahead log gets, 16 MiB, before they go into the file.
	checkpoint = 4096
)

const schema = `
CREATE TABLE device (
	name TEXT PRIMARY KEY, kind TEXT NOT NULL, secret BLOB NOT NULL, certificate BLOB NOT NULL, expires INTEGER NOT NULL,
	created INTEGER NOT NULL, changed INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE session (key BLOB PRIMARY KEY, state BLOB NOT NULL);
CREATE TABLE retained (topic BLOB PRIMARY KEY, message BLOB NOT NULL);
` + commands + replicated

// commands is what version 2 has more: the points that can be commanded.
const commands = `
CREATE TABLE command (point TEXT PRIMARY KEY, topic TEXT NOT NULL, detail TEXT NOT NULL) WITHOUT ROWID;
`

// Storage is the open file. It is safe for concurrent use. Its methods return fault.Unavailable when the disk is full,
// fault.Corrupt when the file is damaged.
type Storage struct {
	file string
	db   *sql.DB
	mu   sync.Mutex // SQLite has one writer; queueing here is fair
}

// Open opens the file in the data directory, and makes it if absent. One that a newer program wrote gives
// fault.Conflict. Close it after use.
func Open(ctx context.Context, dir string) (*Storage, error) {
	s := &Storage{file: filepath.Join(dir, File)}
	f, err := os.OpenFile(s.file, os.O_RDWR|os.O_CREATE, 0o600) // only its owner reads it
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, fault.E("storage.Open", fault.Unavailable, s.file, err)
	}
	s.db, err = sqlite.Open(s.file, sqlite.Options{Checkpoint: checkpoint})
	if err != nil {
		return nil, s.wrap("storage.Open", err)
	}
	s.db.SetMaxOpenConns(1)
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(s.wrap("storage.Open", err), s.db.Close())
	}
	return s, nil
}

var errForeign = errors.New("is an SQLite file, but not the storage of a broker; move it away")

// prepare makes the tables in an empty file, and refuses a file of something else.
func (s *Storage) prepare(ctx context.Context) error {
	found, err := sqlite.Inspect(ctx, s.db)
	switch {
	case err != nil:
		return err
	case found.Damage != "":
		return fault.E("storage.Open", fault.Corrupt, s.file, fmt.Errorf(
			"fails its check (%s): stop the node and move it away; devices must be added again then", found.Damage))
	case found.Tables == 0:
		_, err = s.db.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", application, version))
		return err
	case found.Application != application:
		return fault.E("storage.Open", fault.Corrupt, s.file, errForeign)
	case found.Version > version:
		return fault.E("storage.Open", fault.Conflict, s.file, fmt.Errorf("was written by a newer program (version %d, this one knows %d)", found.Version, version))
	case found.Version < version:
		more := replicated
		if found.Version < 2 {
			more = commands + more
		}
		_, err = s.db.ExecContext(ctx, "BEGIN;"+more+fmt.Sprintf("PRAGMA user_version = %d; COMMIT", version))
		return err
	}
	return nil
}

// Close closes the file.
func (s *Storage) Close() error { return s.db.Close() }

// write does something in one transaction.
func (s *Storage) write(ctx context.Context, op string, do func(*sql.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(op, err)
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback()
		return s.wrap(op, err)
	}
	return s.wrap(op, tx.Commit())
}

func (s *Storage) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, is := errors.AsType[*fault.Error](err); is {
		return e
	}
	return fault.E(op, fault.Unavailable, s.file, err)
}

// table is how rows of a table are written and removed.
type table struct{ insert, remove string }

var (
	sessionTable = table{
		`INSERT INTO session (key, state) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET state = excluded.state`,
		`DELETE FROM session WHERE key = ?`,
	}
	retainedTable = table{
		`INSERT INTO retained (topic, message) VALUES (?, ?) ON CONFLICT (topic) DO UPDATE SET message = excluded.message`,
		`DELETE FROM retained WHERE topic = ?`,
	}
)

// Save implements broker.Storage.
func (s *Storage) Save(ctx context.Context, c *broker.Changes) error {
	return s.write(ctx, "storage.Save", func(tx *sql.Tx) error {
		if err := put(ctx, tx, sessionTable, c.Sessions); err != nil {
			return err
		}
		return put(ctx, tx, retainedTable, c.Retained)
	})
}

// put writes or removes rows. Keys are bytes: those of sessions hold a null character.
func put(ctx context.Context, tx *sql.Tx, t table, rows map[string][]byte) error {
	if len(rows) == 0 {
		return nil
	}
	in, err := tx.PrepareContext(ctx, t.insert)
	if err != nil {
		return err
	}
	defer in.Close()
	for key, state := range rows {
		if state == nil {
			_, err = tx.ExecContext(ctx, t.remove, []byte(key))
		} else {
			_, err = in.ExecContext(ctx, []byte(key), state)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Load implements broker.Storage.
func (s *Storage) Load(ctx context.Context, session, retained func(key string, state []byte) error) error {
	if err := s.each(ctx, `SELECT key, state FROM session`, session); err != nil {
		return err
	}
	return s.each(ctx, `SELECT topic, message FROM retained`, retained)
}

func (s *Storage) each(ctx context.Context, query string, do func(key string, state []byte) error) error {
	rows, err := s.db.QueryContext(ctx, query)
	if err != nil {
		return s.wrap("storage.Load", err)
	}
	defer rows.Close()
	for rows.Next() {
		var key, state []byte
		if err := rows.Scan(&key, &state); err != nil {
			return s.wrap("storage.Load", err)
		}
		if err := do(string(key), state); err != nil {
			return err
		}
	}
	return s.wrap("storage.Load", rows.Err())
}

// Devices implements account.Storage.
func (s *Storage) Devices(ctx context.Context, each func(account.Device)) error {
	rows, err := s.db.QueryContext(ctx, `SELECT name, kind, secret, certificate, expires, created, changed FROM device`)
	if err != nil {
		return s.wrap("storage.Devices", err)
	}
	defer rows.Close()
	for rows.Next() {
		var d account.Device
		var secret, certificate []byte
		var expires, created, changed int64
		if err := rows.Scan(&d.Name, &d.Kind, &secret, &certificate, &expires, &created, &changed); err != nil {
			return s.wrap("storage.Devices", err)
		}
		copy(d.Secret[:], secret)
		copy(d.Certificate[:], certificate)
		d.Expires, d.Created, d.Changed = time.UnixMicro(expires).UTC(), time.UnixMicro(created).UTC(), time.UnixMicro(changed).UTC()
		each(d)
	}
	return s.wrap("storage.Devices", rows.Err())
}

// PutDevices implements account.Storage.
func (s *Storage) PutDevices(ctx context.Context, list []account.Device) error {
	return s.write(ctx, "storage.PutDevices", func(tx *sql.Tx) error {
		in, err := tx.PrepareContext(ctx, `INSERT INTO device (name, kind, secret, certificate, expires, created, changed)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, secret = excluded.secret,
			certificate = excluded.certificate, expires = excluded.expires, changed = excluded.changed`)
		if err != nil {
			return err
		}
		defer in.Close()
		for i := range list {
			d := &list[i]
			_, err := in.ExecContext(ctx, d.Name, d.Kind, d.Secret[:], d.Certificate[:], d.Expires.UnixMicro(), d.Created.UnixMicro(), d.Changed.UnixMicro())
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// RemoveDevice implements account.Storage.
func (s *Storage) RemoveDevice(ctx context.Context, name string) error {
	return s.write(ctx, "storage.RemoveDevice", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM device WHERE name = ?`, name)
		return err
	})
}
