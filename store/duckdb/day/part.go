package day

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
)

// Files reads the files and tables of days.
type Files struct {
	dir    string                  // of the files
	worded func(ids []uint32) bool // whether one of the points may have a text in a table
	hours  hourCache
}

// NewFiles returns a reader of the files in a directory. worded reports whether one of the points may have a text in a table.
func NewFiles(dir string, worded func(ids []uint32) bool) *Files {
	return &Files{dir: dir, worded: worded}
}

// path returns the path of a file of a day.
func (s *Files) path(name string) string { return filepath.Join(s.dir, name) }

// Part is a run of days read by one statement. Within a part the samples of each point come in time order,
// once for each time, unless it is messy.
type Part struct {
	Days  []*Day
	Messy bool // a single day whose table must be sorted, keeping the last stored of equal times
}

// maxFiles is how many files one statement reads.
const maxFiles = 64

// Parts groups days for reading. Sizes begins with the number of files of the first part and doubles, so that
// a reader that needs little opens few; 0 gives parts as large as possible.
func Parts(days []*Day, size int) []Part {
	if size == 0 {
		size = maxFiles
	}
	var out []Part
	var run []*Day
	flush := func() {
		if len(run) > 0 {
			out = append(out, Part{Days: run})
			run = nil
			size = min(maxFiles, size*2)
		}
	}
	for _, d := range days {
		switch {
		case d.Table != "" && d.Disordered:
			flush()
			out = append(out, Part{Days: []*Day{d}, Messy: true})
		case d.Table != "":
			flush()
			run = append(run, d)
			flush()
		default:
			if run = append(run, d); len(run) >= size {
				flush()
			}
		}
	}
	flush()
	return out
}

// Selection says which rows of a part are wanted.
type Selection struct {
	IDs      []uint32 // sorted
	From, To int64    // microseconds
	Numbers  bool     // exact integers and texts are not needed
}

// columns are the columns of a file that the selection needs.
func (sel *Selection) columns() string {
	if sel.Numbers {
		return sample.NumberColumns
	}
	return sample.FileColumns
}

// Scan calls each with the selected rows of the part, and perhaps others in the same range of ids: the caller
// looks the ids up. Files come before tables, in the order of days.
func (s *Files) Scan(ctx context.Context, c *engine.Conn, p *Part, sel *Selection, each func(*sample.Columns) error) error {
	where := sel.Where(p)
	if files := s.List(p); files != "" {
		if err := sel.scanFiles(ctx, c, files, where, each); err != nil {
			return err
		}
	}
	for _, d := range p.Days {
		if d.Table == "" {
			continue
		}
		// Rows added after the reader obtained the days are ignored.
		own := append(slices.Clip(where), "rowid < "+strconv.FormatUint(d.Stored, 10))
		var words map[float64]string
		if !sel.Numbers && d.Texts > 0 && s.worded(sel.IDs) {
			var err error
			if words, err = sample.ReadWords(ctx, c, d.Table, slices.Clip(own)); err != nil {
				return err
			}
		}
		err := c.Query(ctx, "SELECT "+sample.TableColumns+" FROM "+d.Table+sample.Where(own), func(ch *engine.Chunk) error {
			cols := sample.TableColumnsOf(ch, words)
			return each(&cols)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (sel *Selection) scanFiles(ctx context.Context, c *engine.Conn, files string, where []string, each func(*sample.Columns) error) error {
	return c.Query(ctx, "SELECT "+sel.columns()+" FROM read_parquet("+files+")"+sample.Where(where), func(ch *engine.Chunk) error {
		var cols sample.Columns
		if sel.Numbers {
			cols = sample.NumbersOf(ch)
		} else {
			cols = sample.ColumnsOf(ch)
		}
		return each(&cols)
	})
}

// List returns the list of the part's files as SQL, or "".
func (s *Files) List(p *Part) string {
	var names []string
	for _, d := range p.Days {
		if d.File != "" {
			names = append(names, engine.Quote(s.path(d.File)))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "[" + strings.Join(names, ",") + "]"
}

const (
	manyIDs = 200     // number from which a list of ids costs more than the rows it excludes
	maxBits = 1 << 18 // ids covered by a bit set
	fewIDs  = 8       // a list with so many times fewer ids than row groups skips most of these
)

// RowGroup is how many samples form a row group in a file: many, because opening a file costs more per group than
// reading a large one.
const RowGroup = 61_440

// Where returns the conditions of a statement about the part, as SQL.
func (sel *Selection) Where(p *Part) []string {
	var out []string
	if len(sel.IDs) > 0 {
		out = sel.whereID(p)
	}
	if sel.From > p.Days[0].Key.Start().UnixMicro() {
		out = append(out, "time >= make_timestamp("+strconv.FormatInt(sel.From, 10)+")")
	}
	if sel.To < p.Days[len(p.Days)-1].Key.End().UnixMicro() {
		out = append(out, "time < make_timestamp("+strconv.FormatInt(sel.To, 10)+")")
	}
	return out
}

// whereID selects the ids, of which there is at least one: as a range, perhaps with one bit for each id in
// it, or as a list. DuckDB looks a bit up much faster than it searches a list, but only a range or a list
// lets it skip row groups.
func (sel *Selection) whereID(p *Part) []string {
	n := len(sel.IDs)
	first, last := sel.IDs[0], sel.IDs[n-1]
	between := []string{fmt.Sprintf("id BETWEEN %d AND %d", first, last)}
	groups := int(SamplesIn(p.Days)/uint64(len(p.Days))) / RowGroup
	switch {
	case int(last-first) < 2*n:
		return between
	case last < maxBits && n > 1 && n*fewIDs > groups:
		return append(between, fmt.Sprintf("get_bit('%s'::BIT, least(id, %d)::INTEGER) = 1", sel.bits(), last+1))
	case n <= manyIDs:
		list := make([]string, n)
		for i, id := range sel.IDs {
			list[i] = strconv.FormatUint(uint64(id), 10)
		}
		return []string{"id IN (" + strings.Join(list, ",") + ")"}
	}
	return between
}

// bits has a 1 for each of the ids, and a 0 for all others up to the one after the last.
func (sel *Selection) bits() string {
	out := bytes.Repeat([]byte{'0'}, int(sel.IDs[len(sel.IDs)-1])+2)
	for _, id := range sel.IDs {
		out[id] = '1'
	}
	return string(out)
}

// SamplesIn estimates the number of samples in the days.
func SamplesIn(days []*Day) uint64 {
	var n uint64
	for _, d := range days {
		n += d.Rows + d.Stored
	}
	return n
}
