package audit

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"voltbus/internal/descriptor"
)

// followArchives checks the entries of all archives, and returns the last one.
func (c *checker) followArchives(ctx context.Context, from chain) (sealed uint64, err error) {
	if c.archives, err = archivesOf(ctx, from.db, from.dir); err != nil {
		return 0, err
	}
	for i := range c.archives {
		a := &c.archives[i]
		if a.First != c.last.Seq+1 {
			c.problem(c.last.Seq+1, "it and all up to entry %d are missing: they are in no archive", a.First-1)
		}
		if a.Removed {
			c.skip(a)
		} else if err := c.followArchive(ctx, a, from); err != nil {
			return 0, err
		}
	}
	return endOf(c.archives).Seq, nil
}

// followArchive checks the entries of an archive.
func (c *checker) followArchive(ctx context.Context, a *Archive, from chain) error {
	start, n := c.last, c.entries
	before, sum, err := readArchive(ctx, filepath.Join(from.dir, a.File), func(e *Entry) error {
		c.add(e)
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case descriptor.IsExhausted(err): // that says nothing about the archive
		return err
	case errors.Is(err, fs.ErrNotExist):
		a.Here = false
		if a.Removed = from.removed(a); !a.Removed {
			c.problem(a.First, "%v, which is not there: put it back", a)
		}
	case err != nil:
		c.problem(a.First, "%v, which is damaged: %v", a, err)
	case sum != a.Sum:
		c.problem(a.First, "%v, which is another file than the one that was written: its SHA-256 is %v, and was %v", a, sum, a.Sum)
	case before != start:
		c.problem(a.First, "%v, which begins behind another entry than the one where the former ends", a)
	case c.last != a.end() || c.entries-n != a.Last-a.First+1:
		c.problem(a.Last, "%v, which ends with another entry than the one that was written last", a)
	}
	if c.last != a.end() {
		c.skip(a)
	}
	return nil
}

// removed reports whether an archive was removed since the snapshot, at the end of its retention period.
func (s *chain) removed(a *Archive) bool {
	return s.now != nil && slices.ContainsFunc(s.now(), func(other Archive) bool { return other.First == a.First && other.Removed })
}

// skip continues after an archive whose entries are not checked.
func (c *checker) skip(a *Archive) {
	if c.first == 0 {
		c.first = a.First
	}
	c.segment, c.last = a.Segment, a.end()
}

// listen records what an entry says about archives.
func (c *checker) listen(e *Entry) {
	c.hearAccepted(e)
	if e.Actor != self || (e.Action != Archived && e.Action != ArchiveForgone) {
		return
	}
	if c.told == nil {
		c.told, c.removed = map[string]Archive{}, map[string]bool{}
	}
	if e.Action == ArchiveForgone {
		c.removed[e.Subject] = true
		return
	}
	var a Archive
	if json.Unmarshal(e.Detail, &a) == nil {
		c.told[e.Subject] = a
	}
}

// compareArchives compares the list of archives with what entries say about them. The entries about an archive may
// be in one that was removed later.
func (c *checker) compareArchives() {
	last := -1 // last archive that was not checked
	for i := range c.archives {
		if c.archives[i].Removed {
			last = i
		}
	}
	for i := range c.archives {
		a := &c.archives[i]
		told, is := c.told[a.File]
		switch {
		case is && (told.First != a.First || told.end() != a.end() || told.Sum != a.Sum || told.Segment != a.Segment):
			c.problem(a.First, "%v, and the entry that names it says otherwise", a)
		case !is && i >= last:
			c.problem(a.First, "%v, and no entry names it", a)
		}
		if a.Removed && !c.removed[a.File] && i >= last {
			c.problem(a.First, "%v, which was removed, and no entry says so", a)
		}
		delete(c.told, a.File)
	}
	for file, a := range c.told {
		c.problem(a.First, "an entry names the archive %s, which the log does not list", file)
	}
}
