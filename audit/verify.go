package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"voltbus/fault"
	"voltbus/internal/sqlite"
)

// maxProblems is the maximum number of problems that a report lists.
const maxProblems = 100

// Problem is a place where the chain is broken.
type Problem struct {
	Seq  uint64
	Text string // what is wrong there
	// Accepted says by whom, when and why it was accepted with Log.Accept; "" if it was not.
	Accepted string
	told     bool // an entry that begins a segment records it
}

// String returns the place and the text.
func (p Problem) String() string { return fmt.Sprintf("entry %d: %s", p.Seq, p.Text) }

// Report is the result of checking the chain.
type Report struct {
	Entries  uint64    // entries checked
	First    uint64    // the number of the first of them; 0 if there is none
	Archives []Archive // the log's archives; the entries of those present are counted
	Head     Head      // the last entry; keep it elsewhere for a later check
	Segments uint64    // the last segment's number
	// Problems are in the order of the log, the first 100; empty if the chain is intact.
	Problems []Problem
	More     uint64 // number of problems not listed
}

// Whole reports whether nothing is wrong except what was accepted.
func (r *Report) Whole() bool {
	return r.More == 0 && !slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Accepted == "" })
}

// checker checks a chain.
type checker struct {
	midway   bool // the first entry is not the log's first: its hash is trusted
	entries  uint64
	first    uint64
	segment  uint64
	begins   uint64 // the first entry of the segment, 0 if not seen
	last     Head
	anchors  map[uint64][]named
	archives []Archive
	told     map[string]Archive // archives named in entries, by file
	removed  map[string]bool    // archives whose removal is recorded in entries
	accepted map[string]string  // who accepted a problem, by its sum
	problems []Problem
	more     uint64
	buf      []byte
}

// named is a head that the log must contain, and its source.
type named struct {
	Hash
	from string
}

func (c *checker) problem(seq uint64, format string, args ...any) {
	c.note(Problem{Seq: seq, Text: fmt.Sprintf(format, args...)})
}

func (c *checker) note(p Problem) {
	if len(c.problems) == maxProblems {
		c.more++
		return
	}
	c.problems = append(c.problems, p)
}

// await adds a head that must be met; call it before add.
func (c *checker) await(h Head, from string) {
	if h.Seq == 0 {
		return
	}
	if c.anchors == nil {
		c.anchors = map[uint64][]named{}
	}
	c.anchors[h.Seq] = append(c.anchors[h.Seq], named{h.Hash, from})
}

// add checks the next entry.
func (c *checker) add(e *Entry) {
	c.entries++
	before, fits := c.last.Hash, true
	switch {
	case c.entries == 1 && c.midway:
		c.first, c.segment, c.last = e.Seq, e.Segment, Head{e.Seq, e.Hash}
		return
	case e.Segment != c.segment && (c.segment != 0 || e.Segment != 1):
		before = Hash{}
		c.beginning(e)
	case e.Seq != c.last.Seq+1:
		c.problem(c.last.Seq+1, "it and all up to entry %d are missing", e.Seq-1)
		fits = false
	}
	if c.first == 0 {
		c.first = e.Seq
	}
	if e.Segment != c.segment {
		c.segment, c.begins = e.Segment, e.Seq
	}
	var sum Hash
	if sum, c.buf = e.sum(c.buf, before); fits && sum != e.Hash {
		c.problem(e.Seq, "its hash does not fit: it, or the end of the entry before it, was changed")
	}
	for _, a := range c.anchors[e.Seq] {
		if a.Hash != e.Hash {
			c.problem(e.Seq, "is another entry than the one that %s knows", a.from)
		}
	}
	c.last = Head{e.Seq, e.Hash}
	c.listen(e)
}

// beginning checks the first entry of another segment.
func (c *checker) beginning(e *Entry) {
	if e.Action != Segment || e.Segment <= c.segment || e.Seq <= c.last.Seq {
		c.problem(e.Seq, "the segment changes from %d to %d without an entry that says why", c.segment, e.Segment)
		return
	}
	var why struct {
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(e.Detail, &why) // the problem is the same without a reason
	text := fmt.Sprintf("begins segment %d, because of %s", e.Segment, why.Reason)
	if e.Seq > c.last.Seq+1 {
		text += fmt.Sprintf("; the entries from %d to %d are missing", c.last.Seq+1, e.Seq-1)
	}
	c.note(Problem{Seq: e.Seq, Text: text, told: true})
}

// expect compares the end of the log with what is known about it.
func (c *checker) expect(a anchor, from string) {
	switch {
	case a.Seq > c.last.Seq:
		c.problem(c.last.Seq+1, "the end of the log is cut off: %s knows entries up to %d", from, a.Seq)
	case a.Closed && a.Seq < c.last.Seq:
		c.problem(a.Seq+1, "it and all behind it were added while no node had the log open")
	}
}

func (c *checker) report() Report {
	c.compareAccepted()
	return Report{Entries: c.entries, First: c.first, Archives: c.archives, Head: c.last, Segments: c.segment, Problems: c.problems, More: c.more}
}

// Verify checks the whole chain and compares its end with the anchor, with what this log itself wrote, and
// with a head kept elsewhere, if given. It runs concurrently with writers and checks the state at its start.
func (l *Log) Verify(ctx context.Context, kept *Head) (Report, error) {
	ends := l.state.ends()
	own := ends[0].Head
	left, there, err := readAnchor(l.file)
	c := &checker{}
	switch {
	case errors.Is(err, errNoAnchor):
		c.problem(1, "%v", err)
	case err != nil: // that says nothing about the log
		return Report{}, wrap("audit.Verify", l.file, err)
	}
	if there {
		ends = append(ends, expected{left, "the file " + Anchor})
	}
	db, end, err := snapshot(ctx, l.db)
	if err != nil {
		return Report{}, wrap("audit.Verify", l.file, err)
	}
	defer end()
	if err := c.follow(ctx, chain{db, l.shelf.folder(), l.Archives}, ends, kept, own.Seq); err != nil {
		return Report{}, wrap("audit.Verify", l.file, err)
	}
	l.take(c)
	l.state.checked(l.now())
	return c.report(), nil
}

// expected is an end that the log must contain.
type expected struct {
	anchor
	from string
}

// chain is the source of entries: a snapshot of the file, and the folder of its archives. now lists the archives
// known at that moment; nil if nobody changes them.
type chain struct {
	db  queries
	dir string
	now func() []Archive
}

// follow reads the chain up to an entry; 0 for all.
func (c *checker) follow(ctx context.Context, from chain, ends []expected, kept *Head, until uint64) error {
	if kept != nil {
		ends = append(ends, expected{anchor{Head: *kept}, "the head that you gave"})
	}
	for _, e := range ends {
		c.await(e.Head, e.from)
	}
	sealed, err := c.followArchives(ctx, from)
	if err != nil {
		return err
	}
	err = each(ctx, from.db, `WHERE seq > ? ORDER BY seq`, []any{int64(sealed)}, func(e *Entry) error {
		if until > 0 && e.Seq > until {
			c.listen(e) // for what it says about archives, which the snapshot lists
		} else {
			c.add(e)
		}
		return nil
	})
	c.compareArchives()
	for _, e := range ends {
		c.expect(e.anchor, e.from)
	}
	return err
}

// VerifyFile checks the chain of a log that need not be this node's, such as a copy. The anchor is expected beside it, and the archives in a
// folder, "" for the one beside it. A file that cannot be read gives fault.Corrupt or fault.NotFound.
func VerifyFile(ctx context.Context, file, archives string, kept *Head) (Report, error) {
	const op = "audit.VerifyFile"
	if _, err := os.Stat(file); err != nil {
		return Report{}, wrap(op, file, err)
	}
	left, there, err := readAnchor(file)
	c := &checker{}
	switch {
	case errors.Is(err, errNoAnchor):
		c.problem(1, "%v", err)
	case err != nil:
		return Report{}, wrap(op, file, err)
	}
	db, err := sqlite.Open(file, sqlite.Options{ReadOnly: true})
	if err != nil {
		return Report{}, wrap(op, file, err)
	}
	defer db.Close()
	found, id, err := identify(ctx, db)
	switch {
	case err != nil:
		return Report{}, wrap(op, file, err)
	case id != application:
		return Report{}, fault.E(op, fault.Invalid, file, errors.New("is not an audit log; give the file audit.db of a data directory, or a copy of it"))
	case found > newest:
		return Report{}, fault.E(op, fault.Conflict, file, errors.New("was written by a newer program; use that one"))
	}
	var ends []expected
	if there {
		ends = append(ends, expected{left, "the file " + Anchor})
	}
	if archives == "" {
		archives = filepath.Join(filepath.Dir(file), Archives)
	}
	if err := c.follow(ctx, chain{db, archives, nil}, ends, kept, 0); err != nil {
		return Report{}, wrap(op, file, err)
	}
	if !there && err == nil && c.entries > 0 {
		c.problem(c.last.Seq, "the file %s is not beside the log, so a cut end would not show", Anchor)
	}
	return c.report(), nil
}
