package store

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"voltbus/fault"
	"voltbus/point"
)

// The range of times that a store accepts, in microseconds: years with four digits.
const (
	firstTime = -62_135_596_800_000_000 // 0001-01-01
	endTime   = 253_402_300_800_000_000 // 10000-01-01
)

// Blocks also come from other nodes: the counts of a block must fit every engine's numbers, and its names must be short.
const (
	maxCount = 1 << 61 // the sum of two still fits a signed number
	maxName  = 255
)

// Reasons why a block is refused.
var (
	errNoOrigin   = errors.New("the block names no origin: set Block.Origin to the node's name")
	errNoSequence = errors.New("the block has no sequence: an origin's first block has the sequence 1")
	errFirst      = errors.New("the block ends before it begins: Block.First must not be above Block.Sequence")
	errCounts     = errors.New("the block's numbers are beyond all that an origin can count")
	errNames      = errors.New("origin and reason of a loss must be UTF-8 of at most 255 bytes")
	errColumns    = errors.New("the block's columns differ in length")
	errFromTo     = errors.New("the range ends before it begins: exchange from and to")
	errStep       = errors.New("the step of an aggregation must be at least one microsecond")
	errLimit      = errors.New("the limit must not be negative; 0 asks for everything")
)

// CheckBlocks reports, as fault.Invalid, the first block that no store can keep: without origin or sequence,
// with columns of different length, an index beyond its dictionary, an invalid path, text that is not UTF-8,
// an unknown kind, a time outside the years 1 to 9999, or numbers that no origin can have reached. Every
// store calls it in Append, so that whatever reaches a disk can be read again.
func CheckBlocks(op string, blocks []*point.Block) error {
	var checked []point.Path // the dictionary of the previous block, which is often the same
	for _, b := range blocks {
		if err := checkBlock(b, checked); err != nil {
			return fault.E(op, fault.Invalid, b.Origin+" block "+strconv.FormatUint(b.Sequence, 10), err)
		}
		checked = b.Points
	}
	return nil
}

func checkBlock(b *point.Block, checked []point.Path) error {
	n := b.Len()
	switch {
	case b.Origin == "":
		return errNoOrigin
	case b.Sequence == 0:
		return errNoSequence
	case b.First > b.Sequence:
		return errFirst
	case b.Sequence > maxCount || b.Refused > maxCount || b.Before > maxCount || b.Left > maxCount:
		return errCounts
	case len(b.Origin) > maxName || len(b.Lost) > maxName || !utf8.ValidString(b.Origin) || !utf8.ValidString(b.Lost):
		return errNames
	case len(b.Time) != n || len(b.Kind) != n || len(b.Quality) != n || len(b.Bits) != n:
		return errColumns
	}
	if !slices.Equal(b.Points, checked) {
		for _, p := range b.Points {
			if err := p.Validate(); err != nil {
				return fmt.Errorf("point %q: %w", p, err)
			}
		}
	}
	for i, text := range b.Texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("text %d is not valid UTF-8: %q", i, text)
		}
	}
	return checkSamples(b)
}

func checkSamples(b *point.Block) error {
	for i, p := range b.Point {
		if int(p) >= len(b.Points) {
			return fmt.Errorf("sample %d refers to point %d of %d", i, p, len(b.Points))
		}
		if t := b.Time[i]; t < firstTime || t >= endTime {
			return fmt.Errorf("sample %d of %q has a time outside of the years 1 to 9999: %d µs", i, b.Points[p], t)
		}
		if b.Kind[i] > point.Text {
			return fmt.Errorf("sample %d of %q has the unknown kind %d", i, b.Points[p], b.Kind[i])
		}
		if b.Kind[i] == point.Text && b.Bits[i] >= uint64(len(b.Texts)) {
			return fmt.Errorf("sample %d of %q refers to text %d of %d", i, b.Points[p], b.Bits[i], len(b.Texts))
		}
	}
	return nil
}

// Check reports, as fault.Invalid, a range that ends before it begins or has a negative limit.
func (r *Range) Check(op string) error {
	switch {
	case r.To.Before(r.From):
		return fault.E(op, fault.Invalid, r.From.Format(time.RFC3339)+" to "+r.To.Format(time.RFC3339), errFromTo)
	case r.Limit < 0:
		return fault.E(op, fault.Invalid, strconv.Itoa(r.Limit), errLimit)
	}
	return nil
}

// Check reports, as fault.Invalid, a query whose range or step cannot be answered.
func (q *Query) Check(op string) error {
	switch {
	case q.Edges != nil:
		if err := q.checkEdges(); err != nil {
			return fault.E(op, fault.Invalid, "edges", err)
		}
	case q.Step < time.Microsecond:
		return fault.E(op, fault.Invalid, q.Step.String(), errStep)
	}
	if err := q.checkExtras(); err != nil {
		return fault.E(op, fault.Invalid, "extras", err)
	}
	return q.Range.Check(op)
}

// maxCounts bounds what one Count returns.
const maxCounts = 16 << 20

// CheckCount is Check for Store.Count, whose answer must also fit into memory.
func (q *Query) CheckCount(op string) error {
	if err := q.Check(op); err != nil {
		return err
	}
	if n := q.Steps(); n > maxCounts/max(1, len(q.Points)) {
		return fault.E(op, fault.Invalid, q.Step.String(), fmt.Errorf(
			"%d points in %d steps are more than %d counts; use a longer step or fewer points", len(q.Points), n, maxCounts))
	}
	return nil
}
