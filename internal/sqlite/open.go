package sqlite

import (
	"database/sql"
	"net/url"
	"path/filepath"
)

// Options tell how a file is opened.
type Options struct {
	ReadOnly    bool // statements that write fail
	ForeignKeys bool // references to other tables are checked
	Checkpoint  int  // pages of the write-ahead log after which they are written back; 0: SQLite's 1,000
}

// Open returns connections to the file; the first use opens it. Each waits up to five seconds for another program.
// Unless read-only, transactions begin with the write lock, and committed data is on disk, in a write-ahead log.
func Open(file string, o Options) (*sql.DB, error) {
	name, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	c, err := connect((&url.URL{Scheme: "file", Path: filepath.ToSlash(name)}).String(), o)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}
