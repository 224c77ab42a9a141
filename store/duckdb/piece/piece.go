// Package piece writes rows of tables that only grow into Parquet files for the processes of statements.
package piece

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

// A statement runs in another process, which cannot open the database while this one has it open. So what stands in
// tables is written into files for it. The tables only grow: a file holds a piece of one, by the numbers of its
// rows, and stays for the statements to come; a statement adds a file with what is new. A piece that is not much larger than
// what follows it is written anew together with that, so that there are few and each row is written a few times.

// Piece is a file with the rows of a table from one up to another.
type Piece struct {
	File     string
	from, to uint64
	users    int
	old      bool // no further statement uses it
}

// Pieces are the pieces of all tables, by table and in order. They are safe for concurrent use.
type Pieces struct {
	dir string
	mu  sync.Mutex
	of  map[string][]*Piece
	n   int // of files written
}

// New returns the pieces in a folder, of which there are none yet.
func New(dir string) *Pieces { return &Pieces{dir: dir, of: make(map[string][]*Piece)} }

const pieceName = "rows-*.parquet"

// Rows are the first rows of a table.
type Rows struct {
	Table   string
	Columns string // expressions
	N       uint64
}

// List is files as an argument of read_parquet.
func List(list []*Piece) string {
	files := make([]string, len(list))
	for i, p := range list {
		files[i] = engine.Quote(p.File)
	}
	return "[" + strings.Join(files, ",") + "]"
}

// Shown returns the pieces that hold the rows, after it wrote what is missing. Done must follow.
func (p *Pieces) Shown(ctx context.Context, c *engine.Conn, r Rows) ([]*Piece, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	have, from := p.of[r.Table], uint64(0)
	if len(have) > 0 {
		from = have[len(have)-1].to
	}
	if from < r.N {
		keep := len(have)
		for keep > 0 && have[keep-1].to-have[keep-1].from <= 2*(r.N-from) {
			keep--
			from = have[keep].from
		}
		made, err := p.write(ctx, c, r, from)
		if err != nil {
			return nil, err
		}
		for _, old := range have[keep:] {
			p.drop(old)
		}
		have = append(have[:keep:keep], made)
		p.of[r.Table] = have
	}
	out := make([]*Piece, 0, len(have))
	for _, piece := range have {
		piece.users++
		out = append(out, piece)
	}
	return out, nil
}

// write writes the rows from one on. The caller holds mu.
func (p *Pieces) write(ctx context.Context, c *engine.Conn, r Rows, from uint64) (*Piece, error) {
	p.n++
	file := filepath.Join(p.dir, strings.Replace(pieceName, "*", strconv.Itoa(p.n), 1))
	err := c.Exec(ctx, fmt.Sprintf("COPY (SELECT %s FROM %s WHERE rowid >= %d AND rowid < %d) TO %s (FORMAT parquet, COMPRESSION snappy)",
		r.Columns, r.Table, from, r.N, engine.Quote(file)))
	if err != nil {
		return nil, errors.Join(err, removed(file))
	}
	return &Piece{File: file, from: from, to: r.N}, nil
}

func removed(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// drop takes a piece out of use. The caller holds mu.
func (p *Pieces) drop(old *Piece) {
	old.old = true
	if old.users == 0 {
		_ = removed(old.File) // what stays is removed when the store is opened
	}
}

// Done gives pieces back.
func (p *Pieces) Done(used []*Piece) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, piece := range used {
		if piece.users--; piece.old {
			p.drop(piece)
		}
	}
}

// Keep drops the pieces of tables that are gone.
func (p *Pieces) Keep(there func(table string) bool) {
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

// Clear removes the pieces of an earlier run, and forgets those of this one.
func (p *Pieces) Clear() error {
	p.Keep(func(string) bool { return false })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of = make(map[string][]*Piece)
	left, err := filepath.Glob(filepath.Join(p.dir, pieceName))
	for _, file := range left {
		err = errors.Join(err, removed(file))
	}
	return err
}
