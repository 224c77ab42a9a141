package connection

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"voltbus/fault"
)

// The SQLSTATEs that stores act on.
const (
	StateUnique  = "23505"
	StateLocked  = "55P03" // the lock was not available in time
	StateNoTable = "42P01"
	StateThere   = "42710" // a role of this name exists
)

// StateOf returns the SQLSTATE of a server error, "" for others.
func StateOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// Fail adds to an error its kind and, if a person must act, what to do. A nil error stays nil.
func (s *Settings) Fail(op string, cfg *pgx.ConnConfig, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	kind, words := s.judge(err)
	if words != "" {
		err = fmt.Errorf("%s: %w", words, err)
	}
	return fault.E(op, kind, Place(cfg), err)
}

// Place names a database without any secret.
func Place(cfg *pgx.ConnConfig) string {
	return fmt.Sprintf("PostgreSQL database %q at %s:%d", cfg.Database, cfg.Host, cfg.Port)
}

func (s *Settings) judge(err error) (fault.Kind, string) {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return s.judgeState(e.Code)
	}
	if connect, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		if errors.Is(connect, context.Canceled) {
			return fault.Canceled, ""
		}
		return fault.Unreachable, "the server does not answer; start it, or correct " + s.Section + ".url"
	}
	if kind := fault.KindOf(err); kind != fault.Internal {
		return kind, ""
	}
	var trouble net.Error
	text := err.Error()
	if errors.As(err, &trouble) || strings.Contains(text, "conn closed") || strings.Contains(text, "unexpected EOF") ||
		strings.Contains(text, "connection reset") || strings.Contains(text, "broken pipe") {
		return fault.Unavailable, "the connection broke and is made again by the next try"
	}
	return fault.Internal, ""
}

// states are the kinds and the words for the states of the server's errors, the more specific first.
func (s *Settings) states() []struct {
	state string // or its prefix
	kind  fault.Kind
	words string
} {
	return []struct {
		state string
		kind  fault.Kind
		words string
	}{
		{"53100", fault.Unavailable, "the server's disk is full; make room there, or shorten the retention"},
		{"53300", fault.Unavailable, "the server has too many connections; raise its max_connections"},
		{"53200", fault.Unavailable, "the server is out of memory or locks; raise its max_locks_per_transaction"},
		{"53", fault.Unavailable, "the server is short of something"},
		{"57014", fault.Timeout, "the server ended a statement that took too long"},
		{"57", fault.Unavailable, "the server stops or starts; it is tried again"},
		{"08", fault.Unavailable, "the connection broke and is made again by the next try"},
		{"58", fault.Unavailable, "the server has trouble with its disk"},
		{"40", fault.Unavailable, "another transaction was in the way; it is tried again"},
		{StateLocked, fault.Unavailable, "somebody holds a table for long; it is tried again"},
		{StateNoTable, fault.Unavailable, "a table is not there any more; it is tried again"},
		{"28", fault.Refused, "the server does not admit this user; correct the user in " + s.Section + ".url or the password in " + s.Section + ".password_file"},
		{"3D000", fault.NotFound, "there is no such database; make it with createdb"},
		{"42501", fault.Refused, "the user lacks a right; make it the owner of the schema, or of the database: the guide to PostgreSQL lists what it needs"},
		{"25006", fault.Refused, "the server only reads; name the one that writes in " + s.Section + ".url"},
		{"XX001", fault.Corrupt, "stored data is damaged"},
		{"XX002", fault.Corrupt, "an index is damaged; REINDEX it"},
	}
}

func (s *Settings) judgeState(code string) (fault.Kind, string) {
	for _, one := range s.states() {
		if strings.HasPrefix(code, one.state) {
			return one.kind, one.words
		}
	}
	return fault.Internal, ""
}
