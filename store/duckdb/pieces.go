package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"voltbus/store/duckdb/engine"
)

// A statement runs in another process, which cannot open the database while this one has it open. So the content of tables
// is written to files for it. The tables only grow: a file holds a piece of one, by row numbers, and is kept for later
// statements; a statement adds a file with the new rows. A piece that is not much larger than the following one is rewritten
// together with it, so that there are few pieces and each row is written only a few times.

// piece is a file with the rows of a table from one up to another.
type piece struct {
	file     string
	from, to uint64
	users    int
	old      bool // no further statement will use it
}

// pieces are the pieces of all tables, by table and in order.
type pieces struct {
	mu sync.Mutex
	of map[string][]*piece
	n  int // number of files written
}

const pieceName = "rows-*.parquet"

// rows are the first rows of a table.
type rows struct {
	table   string
	columns string
	n       uint64
}

// shown returns the pieces that hold the rows, after writing missing ones. done must follow.
func (s *statements) shown(ctx context.Context, c *engine.Conn, r rows) ([]*piece, error) {
	p := &s.pieces
	p.mu.Lock()
	defer p.mu.Unlock()
	have, from := p.of[r.table], uint64(0)
	if len(have) > 0 {
		from = have[len(have)-1].to
	}
	if from < r.n {
		keep := len(have)
		for keep > 0 && have[keep-1].to-have[keep-1].from <= 2*(r.n-from) {
			keep--
			from = have[keep].from
		}
		made, err := s.writePiece(ctx, c, r, from)
		if err != nil {
			return nil, err
		}
		for _, old := range have[keep:] {
			p.drop(old)
		}
		have = append(have[:keep:keep], made)
		p.of[r.table] = have
	}
	out := make([]*piece, 0, len(have))
	for _, piece := range have {
		piece.users++
		out = append(out, piece)
	}
	return out, nil
}

// writePiece writes the rows from one on.
func (s *statements) writePiece(ctx context.Context, c *engine.Conn, r rows, from uint64) (*piece, error) {
	s.pieces.n++
	file := filepath.Join(s.options.Dir, "tmp", strings.Replace(pieceName, "*", strconv.Itoa(s.pieces.n), 1))
	err := c.Exec(ctx, fmt.Sprintf("COPY (SELECT %s, rowid AS place FROM %s WHERE rowid >= %d AND rowid < %d) TO %s (FORMAT parquet, COMPRESSION snappy)",
		r.columns, r.table, from, r.n, engine.Quote(file)))
	if err != nil {
		return nil, errors.Join(err, removed(file))
	}
	return &piece{file: file, from: from, to: r.n}, nil
}

func removed(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// drop takes a piece out of use. The caller holds mu.
func (p *pieces) drop(old *piece) {
	old.old = true
	if old.users == 0 {
		_ = removed(old.file) // leftovers are removed when the store is opened
	}
}

// done releases pieces.
func (p *pieces) done(used []*piece) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, piece := range used {
		if piece.users--; piece.old {
			p.drop(piece)
		}
	}
}

// keep drops the pieces of tables that no longer exist.
func (p *pieces) keep(there func(table string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for table, list := range p.of {
		if !there(table) {
			for _, old := range list {
				p.drop(old)
			}
			delete(p.of, table)
		}
	}
}

// clearPieces removes the pieces of an earlier run, and forgets those of this one.
func (s *statements) clearPieces() error {
	s.pieces.keep(func(string) bool { return false })
	s.pieces.mu.Lock()
	defer s.pieces.mu.Unlock()
	s.pieces.of = make(map[string][]*piece)
	left, err := filepath.Glob(filepath.Join(s.options.Dir, "tmp", pieceName))
	for _, file := range left {
		err = errors.Join(err, removed(file))
	}
	return err
}
