package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/fault"
	"voltbus/internal/sqlite"
)

func TestErrorsHaveAKindAndSayWhatToDo(t *testing.T) {
	closed, wrong := errors.New("the book is closed"), errors.New("wrong contents")
	damaged := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(damaged, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	loose := sqlite.File{Name: "the book", Damaged: "begin a new one", Missing: "make it first", Closed: closed, Corrupt: []error{wrong}}
	fixed := loose
	fixed.Fixed, fixed.Other = true, fault.Unavailable
	for name, c := range map[string]struct {
		file sqlite.File
		err  error
		kind fault.Kind
		text string
	}{
		"a known error stays":                {loose, fault.E("x", fault.Refused, "s", wrong), fault.Refused, "wrong contents"},
		"contents that the owner judged":     {loose, wrong, fault.Corrupt, "wrong contents"},
		"a call that was given up":           {loose, context.Canceled, fault.Canceled, ""},
		"a right that is missing":            {loose, fs.ErrPermission, fault.Refused, "run as the owner"},
		"a file that is missing":             {loose, fs.ErrNotExist, fault.NotFound, "make it first"},
		"a call after Close":                 {loose, sql.ErrConnDone, fault.Unavailable, "the book is closed"},
		"any other error":                    {loose, errors.New("odd"), fault.Internal, "odd"},
		"any other error of a fixed file":    {fixed, errors.New("odd"), fault.Unavailable, "odd"},
		"a file that is no database":         {loose, query(t, damaged, "SELECT * FROM t"), fault.Corrupt, "the book is damaged; begin a new one"},
		"a table that is missing":            {loose, query(t, ":memory:", "SELECT * FROM t"), fault.Internal, "no such table"},
		"a table that is missing and fixed":  {fixed, query(t, ":memory:", "SELECT * FROM t"), fault.Corrupt, "the book is damaged; begin a new one"},
		"a folder in which nothing is found": {loose, query(t, filepath.Join(damaged, "x"), "SELECT * FROM t"), fault.Refused, "the book cannot be opened or written"},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.file.Error("op", "subject", c.err)
			if !fault.Is(got, c.kind) || !strings.Contains(got.Error(), c.text) {
				t.Errorf("got %v %v, want %v …%s…", fault.KindOf(got), got, c.kind, c.text)
			}
		})
	}
	if err := loose.Error("op", "", nil); err != nil {
		t.Errorf("no error becomes %v", err)
	}
}

// query returns the error of a statement.
func query(t *testing.T, file, statement string) error {
	t.Helper()
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), statement)
	if err == nil {
		err = errors.Join(rows.Err(), rows.Close())
	}
	return err
}
