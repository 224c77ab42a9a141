package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"voltbus/point"
)

// PageSize is how many points a page holds if the filter does not say.
const PageSize = 1000

// Filter selects points; all its conditions must hold. The zero Filter selects all that are there.
type Filter struct {
	Pattern point.Pattern
	Text    string                // found in path, description or unit, whatever the case
	Tags    map[string]string     // each must be there with this value; "" for any value
	Unit    string                // "" for any
	Device  point.Path            // "" for any
	Removed bool                  // also points that were removed
	Keep    func(point.Path) bool // only points that it lets pass; nil for all
	After   point.Path            // only what comes after it in path order: the last page's Next
	Limit   int                   // most entries; 0 for PageSize
}

// Page is a part of an answer.
type Page struct {
	Entries []Entry
	Next    point.Path // the After of the next page; "" if this is the last
}

// Search returns the points that the filter selects, in path order.
func (c *Catalog) Search(ctx context.Context, f Filter) (Page, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = PageSize
	}
	page := Page{}
	err := c.scan(ctx, f, func(e Entry) bool {
		if len(page.Entries) == limit {
			page.Next = page.Entries[limit-1].Path
			return false
		}
		page.Entries = append(page.Entries, e)
		return true
	})
	return page, wrap("catalog.Search", File, err)
}

// Entries returns what is known of the paths, in the order asked, also of removed points. A path
// that is unknown gives an Entry with only the path.
func (c *Catalog) Entries(ctx context.Context, paths []point.Path) ([]Entry, error) {
	list, err := json.Marshal(paths)
	if err != nil {
		return nil, wrap("catalog.Entries", File, err)
	}
	found := make(map[point.Path]Entry, len(paths))
	err = each(ctx, c.db, selectPoint+` WHERE path IN (SELECT value FROM json_each(?))`, []any{string(list)},
		func(e Entry) bool { found[e.Path] = e; return true })
	entries := make([]Entry, len(paths))
	for i, p := range paths {
		e, ok := found[p]
		if !ok {
			e.Path = p
		}
		entries[i] = e
	}
	return entries, wrap("catalog.Entries", File, err)
}

// Count returns the number of points that are there.
func (c *Catalog) Count(ctx context.Context) (int, error) {
	var n int
	err := c.db.QueryRowContext(ctx, `SELECT count(*) FROM point WHERE removed IS NULL`).Scan(&n)
	return n, wrap("catalog.Count", File, err)
}

// Free returns the number of points that belong to no device.
func (c *Catalog) Free(ctx context.Context) (int, error) {
	var n int
	err := c.db.QueryRowContext(ctx, `SELECT count(*) FROM point WHERE device = '' AND removed IS NULL`).Scan(&n)
	return n, wrap("catalog.Free", File, err)
}

const selectPoint = `SELECT path, kind, unit, description, writable, device, interval, tags, first_seen, removed, since FROM point`

// scan narrows by what SQLite can decide and leaves pattern and text to Go, which knows wildcards
// and the cases of all scripts. It ends when emit returns false.
func (c *Catalog) scan(ctx context.Context, f Filter, emit func(Entry) bool) error {
	where, args := conditions(f)
	text := strings.ToLower(f.Text)
	return each(ctx, c.db, selectPoint+where+` ORDER BY path`, args, func(e Entry) bool {
		if !f.Pattern.Match(e.Path) || !contains(&e, text) || (f.Keep != nil && !f.Keep(e.Path)) {
			return true
		}
		return emit(e)
	})
}

func conditions(f Filter) (where string, args []any) {
	terms := []string{`path > ?`}
	args = []any{string(f.After)}
	add := func(term string, values ...any) {
		terms = append(terms, term)
		args = append(args, values...)
	}
	if prefix := string(f.Pattern.Prefix()); prefix != "" {
		// "0" is the byte behind "/": the range holds the prefix itself and all below it, and
		// little else.
		add(`path >= ? AND path < ?`, prefix, prefix+"0")
	}
	if f.Unit != "" {
		add(`unit = ?`, f.Unit)
	}
	if f.Device != "" {
		add(`device = ?`, string(f.Device))
	}
	if !f.Removed {
		add(`removed IS NULL`)
	}
	for k, v := range f.Tags {
		add(`EXISTS (SELECT 1 FROM json_each(tags) WHERE key = ? AND (? = '' OR value = ?))`, k, v, v)
	}
	return ` WHERE ` + strings.Join(terms, ` AND `), args
}

// contains reports whether the entry has the text, which is in lower case.
func contains(e *Entry, text string) bool {
	return text == "" ||
		strings.Contains(strings.ToLower(string(e.Path)), text) ||
		strings.Contains(strings.ToLower(e.Description), text) ||
		strings.Contains(strings.ToLower(e.Unit), text)
}

// querier is the database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func each(ctx context.Context, q querier, query string, args []any, emit func(Entry) bool) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		e, err := scanEntry(rows)
		if err != nil {
			return err
		}
		if !emit(e) {
			return nil
		}
	}
	return rows.Err()
}

func scanEntry(rows *sql.Rows) (Entry, error) {
	var (
		e                     Entry
		path, device          string
		tags                  sql.RawBytes
		kind, interval        int64
		first, removed, since sql.NullInt64
	)
	err := rows.Scan(&path, &kind, &e.Unit, &e.Description, &e.Writable, &device, &interval, &tags, &first, &removed, &since)
	if err != nil {
		return Entry{}, err
	}
	e.Path, e.Device, e.Kind = point.Path(path), point.Path(device), point.Kind(kind)
	e.Interval = time.Duration(interval) * time.Microsecond
	e.FirstSeen, e.Removed, e.Since = fromMicros(first), fromMicros(removed), fromMicros(since)
	if len(tags) > len("{}") {
		if err := json.Unmarshal(tags, &e.Tags); err != nil {
			return Entry{}, fmt.Errorf("read the tags of %q: %w", path, err)
		}
	}
	return e, nil
}

// Paths returns paths below the prefix, or of all points if it is empty, also of removed ones, in
// path order and at most limit.
func (c *Catalog) Paths(ctx context.Context, prefix point.Path, limit int) ([]point.Path, error) {
	query, args := `SELECT path FROM point`, []any{}
	if prefix != "" {
		query += ` WHERE path > ? AND path < ?`
		args = append(args, string(prefix)+"/", string(prefix)+"0") // "0" is the byte behind "/"
	}
	return c.paths(ctx, "catalog.Paths", query+` ORDER BY path LIMIT ?`, append(args, limit), "")
}

// Removed returns the paths of removed points that the pattern selects, in path order.
func (c *Catalog) Removed(ctx context.Context, pattern point.Pattern) ([]point.Path, error) {
	return c.paths(ctx, "catalog.Removed", `SELECT path FROM point WHERE removed IS NOT NULL ORDER BY path`, nil, pattern)
}

func (c *Catalog) paths(ctx context.Context, op, query string, args []any, pattern point.Pattern) ([]point.Path, error) {
	rows, err := c.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, wrap(op, File, err)
	}
	defer rows.Close()
	var paths []point.Path
	for rows.Next() {
		var p point.Path
		if err := rows.Scan(&p); err != nil {
			return nil, wrap(op, File, err)
		}
		if pattern.Match(p) {
			paths = append(paths, p)
		}
	}
	return paths, wrap(op, File, rows.Err())
}
