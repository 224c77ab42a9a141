package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"voltbus/fault"
	"voltbus/store"
	"voltbus/store/postgres/connection"
)

var (
	errVersion  = errors.New("a newer program made its tables; install that version, or name another schema in store.schema")
	errEncoding = errors.New("it must have the encoding UTF8: make it with createdb -E UTF8 -T template0")
)

// writer is the connection that writes, with what it claimed and what it knows about the database.
type writer struct {
	*server
	*connection.Writer                                            // its connection belongs to the holder of write
	prepare            func(ctx context.Context, op string) error // creates the tables
	settle             func(ctx context.Context, op string) error // prepares them for this program, once the name is claimed

	write  sync.Mutex      // guards the fields below, which belong to the holder
	own    []string        // origins that belong to this node
	held   map[string]bool // names that the connection has claimed
	cursor store.Cursor
	seen   map[int32]int64    // newest time written by this store, per point
	made   map[store.Day]bool // days that have a partition or chunk
}

// begin prepares a new connection: it prepares the tables, claims the writer's name and reads its cursor. The caller
// holds write.
func (s *writer) begin(ctx context.Context, op string) error {
	s.forget()
	if err := s.prepare(ctx, op); err != nil {
		return err
	}
	if err := s.claim(ctx, op); err != nil {
		return err
	}
	if err := s.settle(ctx, op); err != nil {
		return s.fail(op, err)
	}
	_, err := s.Conn.Exec(ctx, "INSERT INTO writer (name) VALUES ($1) ON CONFLICT DO NOTHING", s.options.Writer)
	if err == nil {
		var sequence int64
		err = s.Conn.QueryRow(ctx, "SELECT log, sequence FROM writer WHERE name = $1", s.options.Writer).Scan(&s.cursor.Log, &sequence)
		s.cursor.Sequence = uint64(sequence)
	}
	return s.fail(op, err)
}

// connected returns with a working connection for writing. The caller holds write.
func (s *writer) connected(ctx context.Context, op string) error {
	if err := s.usable(ctx, op); err != nil {
		return err
	}
	return s.Connected(ctx, op)
}

// hold claims a name for this connection. The caller holds write.
func (s *writer) hold(ctx context.Context, op, origin string) error {
	if s.held[origin] {
		return nil
	}
	taken, holder, err := s.Claim(ctx, op, s.options.Schema+" "+origin)
	if taken {
		return fault.E(op, fault.Conflict, origin, fmt.Errorf(
			"another node of this name or with a copy of this data directory stores in the database now%s; stop it, or give this node another node.name and an empty data directory", holder))
	}
	if err == nil {
		s.held[origin] = true
	}
	return err
}

// transaction runs f between BEGIN and COMMIT. The caller holds write.
func (s *writer) transaction(ctx context.Context, op string, f func() error) error {
	err := s.Transaction(ctx, op, f)
	if err != nil {
		clear(s.made) // another node may have dropped one
	}
	return err
}
