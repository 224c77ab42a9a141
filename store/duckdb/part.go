package duckdb

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
)

// dayFiles reads what stands in the files and tables of days.
type dayFiles struct {
	*database
	*index
	hours hourCache
}

// part is a run of days that one statement reads. Within a part the samples of each point come
// in time order, once for each time, unless it is messy.
type part struct {
	days  []*day
	messy bool // one day whose table must be sorted, and the last stored of equal times taken
}

// maxFiles is how many files one statement reads.
const maxFiles = 64

// parts groups days for reading. Sizes begins with the number of files of the first part and
// doubles, so that a reader who wants little opens few; 0 gives parts as large as possible.
func parts(days []*day, size int) []part {
	if size == 0 {
		size = maxFiles
	}
	var out []part
	var run []*day
	flush := func() {
		if len(run) > 0 {
			out = append(out, part{days: run})
			run = nil
			size = min(maxFiles, size*2)
		}
	}
	for _, d := range days {
		switch {
		case d.table != "" && d.disordered:
			flush()
			out = append(out, part{days: []*day{d}, messy: true})
		case d.table != "":
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

// selection says which rows of a part are wanted.
type selection struct {
	ids      []uint32 // sorted
	from, to int64    // microseconds
	numbers  bool     // exact integers and texts are not needed
}

// columns are what the selection asks for of a file.
func (sel *selection) columns() string {
	if sel.numbers {
		return sample.NumberColumns
	}
	return sample.FileColumns
}

// scan calls each with the rows of the part that the selection names, and perhaps others of the
// same ids' range: the caller looks the ids up. Files come before tables, in the order of days.
func (s *dayFiles) scan(ctx context.Context, c *engine.Conn, p *part, sel *selection, each func(*sample.Columns) error) error {
	where := sel.where(p)
	if files := s.filesOf(p); files != "" {
		if err := sel.scanFiles(ctx, c, files, where, each); err != nil {
			return err
		}
	}
	for _, d := range p.days {
		if d.table == "" {
			continue
		}
		// Rows that were added after the reader looked at the days are not its business.
		own := append(slices.Clip(where), "rowid < "+strconv.FormatUint(d.stored, 10))
		var words map[float64]string
		if !sel.numbers && d.texts > 0 && s.hasText(sel.ids) {
			var err error
			if words, err = sample.ReadWords(ctx, c, d.table, slices.Clip(own)); err != nil {
				return err
			}
		}
		err := c.Query(ctx, "SELECT "+sample.TableColumns+" FROM "+d.table+sample.Where(own), func(ch *engine.Chunk) error {
			cols := sample.TableColumnsOf(ch, words)
			return each(&cols)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (sel *selection) scanFiles(ctx context.Context, c *engine.Conn, files string, where []string, each func(*sample.Columns) error) error {
	return c.Query(ctx, "SELECT "+sel.columns()+" FROM read_parquet("+files+")"+sample.Where(where), func(ch *engine.Chunk) error {
		var cols sample.Columns
		if sel.numbers {
			cols = sample.NumbersOf(ch)
		} else {
			cols = sample.ColumnsOf(ch)
		}
		return each(&cols)
	})
}

// filesOf returns the list of the part's files as SQL, or "".
func (s *dayFiles) filesOf(p *part) string {
	var names []string
	for _, d := range p.days {
		if d.file != "" {
			names = append(names, quote(s.dayFile(d.file)))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "[" + strings.Join(names, ",") + "]"
}

const (
	manyIDs  = 200     // from where on a list of ids costs more than the rows it keeps away
	maxBits  = 1 << 18 // ids that a set of bits covers
	fewIDs   = 8       // a list of so many times fewer ids than row groups lets most of these be skipped
	rowGroup = 61_440  // samples that stand together in a file: large, because opening a file costs more for each group than reading one costs for its size
)

func (sel *selection) where(p *part) []string {
	var out []string
	if len(sel.ids) > 0 {
		out = sel.whereID(p)
	}
	if sel.from > p.days[0].key.Start().UnixMicro() {
		out = append(out, "time >= make_timestamp("+strconv.FormatInt(sel.from, 10)+")")
	}
	if sel.to < p.days[len(p.days)-1].key.End().UnixMicro() {
		out = append(out, "time < make_timestamp("+strconv.FormatInt(sel.to, 10)+")")
	}
	return out
}

// whereID names the ids, of which there are some: as a range, perhaps with one bit for each id in
// it, or as a list. DuckDB looks a bit up much faster than it searches a list, but only a range or
// a list lets it skip row groups.
func (sel *selection) whereID(p *part) []string {
	n := len(sel.ids)
	first, last := sel.ids[0], sel.ids[n-1]
	between := []string{fmt.Sprintf("id BETWEEN %d AND %d", first, last)}
	groups := int(samplesIn(p.days)/uint64(len(p.days))) / rowGroup
	switch {
	case int(last-first) < 2*n:
		return between
	case last < maxBits && n > 1 && n*fewIDs > groups:
		return append(between, fmt.Sprintf("get_bit('%s'::BIT, least(id, %d)::INTEGER) = 1", sel.bits(), last+1))
	case n <= manyIDs:
		list := make([]string, n)
		for i, id := range sel.ids {
			list[i] = strconv.FormatUint(uint64(id), 10)
		}
		return []string{"id IN (" + strings.Join(list, ",") + ")"}
	}
	return between
}

// bits has a 1 for each of the ids, and a 0 for all others up to the one behind the last.
func (sel *selection) bits() string {
	out := bytes.Repeat([]byte{'0'}, int(sel.ids[len(sel.ids)-1])+2)
	for _, id := range sel.ids {
		out[id] = '1'
	}
	return string(out)
}

// samplesIn estimates how many samples the days hold.
func samplesIn(days []*day) uint64 {
	var n uint64
	for _, d := range days {
		n += d.rows + d.stored
	}
	return n
}

// hasText reports whether one of the points may have a text in a table.
func (s *index) hasText(ids []uint32) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(ids, s.cat.last.Worded)
}
