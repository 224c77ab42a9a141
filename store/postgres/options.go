package postgres

import (
	"errors"
	"log/slog"
	"time"

	"voltbus/fault"
	"voltbus/store"
	"voltbus/store/postgres/connection"
	"voltbus/store/postgres/setting"
)

// Options tell where the database is and who writes. URL and Writer are required.
type Options struct {
	URL          string // postgres://user@host:port/database; no password in it
	PasswordFile string // holds the password; read for each connection; PGPASSWORD or ~/.pgpass if empty
	TLS          setting.TLS
	Schema       string // of all tables, created if absent; "voltbus" if empty

	// Writer is the node's name. Its cursor and the positions of the origins that it stores
	// belong to it as long as it is connected.
	Writer string

	// Patient opens the store even while the server does not answer: each call tries again. Any other error
	// is returned at once.
	Patient bool

	Retention store.Retention
	Grace     time.Duration // how long after its end a day is closed; 10 minutes if 0
	Log       *slog.Logger  // silent if nil
}

const readers = 8 // maximum connections for queries

var errNoWriter = errors.New("the store needs the node's name: set node.name")

// complete returns the options with their defaults, and the settings of the connection; or fault.Invalid.
func (o Options) complete() (Options, connection.Settings, error) {
	const op = "postgres.Open"
	if o.Grace == 0 {
		o.Grace = 10 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := connection.Settings{URL: o.URL, PasswordFile: o.PasswordFile, TLS: o.TLS, Schema: o.Schema, Client: "voltbus " + o.Writer}
	if err := s.Complete(op); err != nil {
		return o, s, err
	}
	o.Schema = s.Schema
	if o.Writer == "" || !connection.Storable(o.Writer) {
		return o, s, fault.E(op, fault.Invalid, o.Writer, errNoWriter)
	}
	return o, s, nil
}
