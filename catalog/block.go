package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"voltbus/catalog/register"
	"voltbus/internal/column"
)

// Points are written in blocks, each a row, in one transaction with what it replaces: one row per point takes
// ten times as long. Blocks are merged into newer ones when half of their points have moved there, or when
// they are small, so that few are partly outdated.

// Maximum size of a block; a single point may be larger.
const (
	blockPoints = 1 << 14
	blockText   = 1 << 20 // bytes of texts
)

// block describes a row of point_block.
type block struct {
	id        int64
	size      int    // number of points in it
	live      int    // those not in newer blocks
	low, high uint32 // range of the numbers of its points
}

// blocks knows the block of each point. The caller holds writing.
type blocks struct {
	list []*block              // by id
	byID map[uint32]*block     // by the lower half of the id
	of   column.Column[uint32] // by number of the point: the lower half of the id, instead of millions of pointers
}

// next returns the id of the next block.
func (b *blocks) next() int64 {
	if len(b.list) == 0 {
		return 1
	}
	return b.list[len(b.list)-1].id + 1
}

// take records that points are in a new block.
func (b *blocks) take(id int64, numbers []uint32) {
	if len(numbers) == 0 {
		return
	}
	to := &block{id: id, size: len(numbers), low: slices.Min(numbers), high: slices.Max(numbers)}
	for _, n := range numbers {
		b.of.Grow(int(n))
		if int(n) == b.of.Len() {
			b.of.Append(uint32(id))
		} else {
			if from := b.byID[b.of.At(n)]; from != nil {
				from.live--
			}
			b.of.Set(n, uint32(id))
		}
		to.live++
	}
	b.list = append(b.list, to)
	if b.byID == nil {
		b.byID = map[uint32]*block{}
	}
	b.byID[uint32(id)] = to
}

// drop removes deleted blocks.
func (b *blocks) drop(gone []*block) {
	for _, k := range gone {
		delete(b.byID, uint32(k.id))
	}
	b.list = slices.DeleteFunc(b.list, func(k *block) bool { return slices.Contains(gone, k) })
}

// outdated returns the blocks replaced by a new one that contains the points with the given numbers and so
// many others.
func (b *blocks) outdated(numbers []uint32, points int) []*block {
	leaving := map[*block]int{}
	for _, n := range numbers {
		leaving[b.byID[b.of.At(n)]]++
	}
	var gone []*block
	for k, n := range leaving {
		if 2*(k.live-n) <= k.size {
			gone = append(gone, k)
			points += k.live - n
		}
	}
	for _, k := range slices.Backward(b.list) {
		stay := k.live - leaving[k]
		if slices.Contains(gone, k) {
			continue
		}
		if stay > points || points+stay > blockPoints {
			break
		}
		gone = append(gone, k)
		points += stay
	}
	return gone
}

// pointFile stores the points. Writers hold writing.
type pointFile struct {
	*file
	register *register.Register // holds the stored points
	blocks   blocks
}

func openPoints(ctx context.Context, f *file) (*Points, error) {
	kept := &pointFile{file: f, register: register.New()}
	err := kept.load(ctx)
	if err == nil {
		err = kept.takeRows(ctx)
	}
	return &Points{register: kept.register, kept: kept}, err
}

// load reads all points.
func (f *pointFile) load(ctx context.Context) error {
	var all, read int
	if err := f.db.QueryRowContext(ctx, `SELECT coalesce(sum(octet_length(points)), 0) FROM point_block`).Scan(&all); err != nil {
		return err
	}
	rows, err := f.db.QueryContext(ctx, `SELECT id, points FROM point_block ORDER BY id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var records []register.Record
	for rows.Next() {
		var id int64
		var text sql.RawBytes
		if err := rows.Scan(&id, &text); err != nil {
			return err
		}
		if records, err = register.Decode(records[:0], text); err != nil {
			return fmt.Errorf("%w: row %d of point_block: %w", errCheck, id, err)
		}
		f.blocks.take(id, f.register.Put(records))
		read += len(text)
		f.register.Expect((all + read - 1) / max(1, read))
	}
	return rows.Err()
}

// put stores the records, one per point, in one transaction. known has the numbers of those that are not new.
// The caller holds writing.
func (f *pointFile) put(ctx context.Context, records []register.Record, known []uint32) error {
	if len(records) == 0 {
		return nil
	}
	gone := f.blocks.outdated(known, len(records))
	records = f.gather(records, known, gone)
	byPath := func(a, b register.Record) int { return strings.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(records, byPath) {
		slices.SortFunc(records, byPath)
	}
	cuts := cut(records)
	next := f.blocks.next()
	err := f.transact(ctx, func(tx *sql.Tx) error { return writeBlocks(ctx, tx, gone, cuts, next) })
	if err != nil {
		return err
	}
	for i, one := range cuts {
		f.blocks.take(next+int64(i), f.register.Put(one))
	}
	f.blocks.drop(gone)
	return nil
}

// gather adds the points of the replaced blocks, except those known to be among the records.
func (f *pointFile) gather(records []register.Record, known []uint32, gone []*block) []register.Record {
	if len(gone) == 0 {
		return records
	}
	records, known = slices.Clip(records), slices.Clone(known)
	slices.Sort(known)
	for _, k := range gone {
		if k.live == 0 {
			continue
		}
		for n := k.low; n <= k.high; n++ {
			if f.blocks.of.At(n) != uint32(k.id) {
				continue
			}
			if _, is := slices.BinarySearchFunc(known, n, cmp.Compare[uint32]); !is {
				records = append(records, f.register.Record(n))
			}
		}
	}
	return records
}

// cut divides records into blocks.
func cut(records []register.Record) (cuts [][]register.Record) {
	begin, text := 0, 0
	for i := range records {
		r := &records[i]
		text += len(r.Path) + len(r.Description) + len(r.Unit) + len(r.Tags)
		if i-begin == blockPoints || (text > blockText && i > begin) {
			cuts = append(cuts, records[begin:i])
			begin, text = i, 0
		}
	}
	return append(cuts, records[begin:])
}

func writeBlocks(ctx context.Context, tx *sql.Tx, gone []*block, cuts [][]register.Record, next int64) error {
	for _, k := range gone {
		if _, err := tx.ExecContext(ctx, `DELETE FROM point_block WHERE id = ?`, k.id); err != nil {
			return err
		}
	}
	for i, one := range cuts {
		_, err := tx.ExecContext(ctx, `INSERT INTO point_block (id, points) VALUES (?, ?)`, next+int64(i), string(register.Encode(one)))
		if err != nil {
			return err
		}
	}
	return nil
}
