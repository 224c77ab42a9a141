package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"voltbus/audit/packed"
)

// Bound is how large the log may be.
type Bound struct {
	// MaxBytes is the size of the file beyond which the older half of its entries is moved to an archive; 0 for no limit.
	MaxBytes int64
	// Keep is how long archives stay in the folder after their last entry; 0 means for ever.
	Keep time.Duration
}

// shelf manages the archives of a log: it moves entries to them, and removes those whose retention period has
// ended. It is safe for concurrent use.
type shelf struct {
	writer *writer

	mu       sync.Mutex
	bound    Bound
	archives []Archive
	unsealed error // why the oldest entries could not be archived
}

// trouble returns why the oldest entries could not be archived, nil if they could.
func (s *shelf) trouble() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsealed
}

// sealEvery is the interval at which the size is checked.
const sealEvery = 10 * time.Second

// Bound sets how large the log may be. Run enforces it.
func (s *shelf) Bound(b Bound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bound = b
}

// Archives lists the log's archives, in order.
func (s *shelf) Archives() []Archive {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := append([]Archive(nil), s.archives...)
	for i := range list {
		_, err := os.Stat(s.archiveFile(&list[i]))
		list[i].Here = !errors.Is(err, fs.ErrNotExist)
	}
	return list
}

func (s *shelf) folder() string { return filepath.Join(filepath.Dir(s.writer.file), Archives) }

func (s *shelf) archiveFile(a *Archive) string { return filepath.Join(s.folder(), a.File) }

// sealed returns where the archived entries end.
func (s *shelf) sealed() Head {
	s.mu.Lock()
	defer s.mu.Unlock()
	return endOf(s.archives)
}

// shrink keeps the log within its bound until ctx ends.
func (s *shelf) shrink(ctx context.Context) {
	tick := time.NewTicker(sealEvery)
	defer tick.Stop()
	for {
		err := s.Seal(ctx)
		s.mu.Lock()
		if s.unsealed = err; ctx.Err() != nil {
			s.unsealed = nil
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Seal moves the older half of the entries to an archive if the file exceeds its bound, and removes archives
// whose retention period has ended. Each archive contains the hash with which the previous one ended, and an
// entry of the log names it with its SHA-256 before any of its entries leaves the file.
func (s *shelf) Seal(ctx context.Context) error {
	const op = "audit.Seal"
	s.mu.Lock()
	bound := s.bound
	s.mu.Unlock()
	if err := s.clear(ctx, s.sealed().Seq); err != nil { // what an interrupted run left
		return wrap(op, s.writer.file, err)
	}
	if err := s.forgo(ctx, bound.Keep); err != nil {
		return wrap(op, s.folder(), err)
	}
	size, err := s.size(ctx)
	if err != nil || bound.MaxBytes <= 0 || size <= bound.MaxBytes {
		return wrap(op, s.writer.file, err)
	}
	last, err := s.middle(ctx)
	if err != nil || last == 0 {
		return wrap(op, s.writer.file, err)
	}
	a, err := s.pack(ctx, last)
	if err != nil {
		return wrap(op, s.folder(), fmt.Errorf("the audit log is larger than %d MiB, and its older half cannot be written to %s: %w", bound.MaxBytes>>20, Archives, err))
	}
	if err := s.writer.announce(Archived, &a, func(tx *sql.Tx) error { return keepArchive(ctx, tx, &a) }); err != nil { //nolint:contextcheck // what was begun is written
		return wrap(op, s.writer.file, err)
	}
	s.mu.Lock()
	s.archives = append(s.archives, a)
	s.mu.Unlock()
	return wrap(op, s.writer.file, s.clear(ctx, a.Last))
}

// size returns the number of bytes in the file that hold entries.
func (s *shelf) size(ctx context.Context) (octets int64, err error) {
	err = s.writer.db.QueryRowContext(ctx, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&octets)
	return octets, err
}

// middle returns the last entry of the older half of those in the file, 0 if there are none.
func (s *shelf) middle(ctx context.Context) (uint64, error) {
	sealed := int64(s.sealed().Seq)
	var n int64
	if err := s.writer.db.QueryRowContext(ctx, `SELECT count(*) FROM entry WHERE seq > ?`, sealed).Scan(&n); err != nil || n < 2 {
		return 0, err
	}
	var last int64
	err := s.writer.db.QueryRowContext(ctx, `SELECT seq FROM entry WHERE seq > ? ORDER BY seq LIMIT 1 OFFSET ?`, sealed, n/2-1).Scan(&last)
	return uint64(last), err
}

// pack writes the entries up to one into an archive.
func (s *shelf) pack(ctx context.Context, last uint64) (Archive, error) {
	before := s.sealed()
	if err := s.tidyFolder(before.Seq + 1); err != nil {
		return Archive{}, err
	}
	w, err := newArchiveWriter(s.folder(), before)
	if err != nil {
		return Archive{}, err
	}
	if err := each(ctx, s.writer.db, `WHERE seq > ? AND seq <= ? ORDER BY seq`, []any{int64(before.Seq), int64(last)}, w.add); err != nil {
		return Archive{}, errors.Join(err, w.file.Abandon())
	}
	return w.finish()
}

// tidyFolder removes unfinished archives that begin with an entry that the log still has.
func (s *shelf) tidyFolder(first uint64) error {
	for _, pattern := range []string{packed.Unfinished + "*", fmt.Sprintf("%012d-*", first)} {
		files, err := filepath.Glob(filepath.Join(s.folder(), pattern))
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// clear removes the entries up to one from the file, some at a time so that no writer waits long.
func (s *shelf) clear(ctx context.Context, last uint64) error {
	for last > 0 {
		n, err := s.clearSome(ctx, last)
		if err != nil || n < removedAtOnce {
			return err
		}
	}
	return nil
}

func (s *shelf) clearSome(ctx context.Context, last uint64) (int64, error) {
	s.writer.commit <- struct{}{}
	defer func() { <-s.writer.commit }()
	result, err := s.writer.db.ExecContext(ctx, `DELETE FROM entry WHERE seq IN (SELECT seq FROM entry WHERE seq <= ? ORDER BY seq LIMIT ?)`, int64(last), removedAtOnce)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// forgo removes archives whose last entry is older than the retention period. Their position in the chain stays known.
func (s *shelf) forgo(ctx context.Context, keep time.Duration) error {
	if keep <= 0 {
		return nil
	}
	for i, a := range s.Archives() {
		if a.Removed {
			continue
		}
		if s.writer.now().Sub(a.To) < keep {
			return nil
		}
		err := s.writer.announce(ArchiveForgone, &a, func(tx *sql.Tx) error { //nolint:contextcheck // what was begun is written
			_, err := tx.ExecContext(ctx, `UPDATE archive SET removed = 1 WHERE first = ?`, int64(a.First))
			return err
		})
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.archives[i].Removed = true
		s.mu.Unlock()
		if err := os.Remove(s.archiveFile(&a)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
