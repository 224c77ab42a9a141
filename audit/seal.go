package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Bound says how large the log may be.
type Bound struct {
	// MaxBytes is the size of the file beyond which the older half of its entries goes into an archive; 0 for none.
	MaxBytes int64
	// Keep is how long archives stay in the folder after their last entry; 0 for ever.
	Keep time.Duration
}

// sealEvery is how often the size is looked at.
const sealEvery = 10 * time.Second

// Bound sets how large the log may be. Run sees to it.
func (l *Log) Bound(b Bound) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bound = b
}

// Archives lists what the log has handed over, in order.
func (l *Log) Archives() []Archive {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := append([]Archive(nil), l.archives...)
	for i := range list {
		_, err := os.Stat(l.archiveFile(&list[i]))
		list[i].Here = !errors.Is(err, fs.ErrNotExist)
	}
	return list
}

func (l *Log) folder() string { return filepath.Join(filepath.Dir(l.file), Archives) }

func (l *Log) archiveFile(a *Archive) string { return filepath.Join(l.folder(), a.File) }

// sealed returns where the entries of the archives end.
func (l *Log) sealed() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return endOf(l.archives)
}

// shrink keeps the log in its bound until ctx ends.
func (l *Log) shrink(ctx context.Context) {
	tick := time.NewTicker(sealEvery)
	defer tick.Stop()
	for {
		err := l.Seal(ctx)
		l.mu.Lock()
		if l.unsealed = err; ctx.Err() != nil {
			l.unsealed = nil
		}
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Seal hands the older half of the entries over to an archive if the file is larger than its bound, and removes
// archives that were kept for long enough. Each archive holds the hash where the one before ended, and an entry
// of the log names it with its SHA-256 before any of its entries leaves the file.
func (l *Log) Seal(ctx context.Context) error {
	const op = "audit.Seal"
	l.mu.Lock()
	bound := l.bound
	l.mu.Unlock()
	if err := l.clear(ctx, l.sealed().Seq); err != nil { // what a stop has left
		return wrap(op, l.file, err)
	}
	if err := l.forgo(ctx, bound.Keep); err != nil {
		return wrap(op, l.folder(), err)
	}
	size, err := l.size(ctx)
	if err != nil || bound.MaxBytes <= 0 || size <= bound.MaxBytes {
		return wrap(op, l.file, err)
	}
	last, err := l.middle(ctx)
	if err != nil || last == 0 {
		return wrap(op, l.file, err)
	}
	a, err := l.pack(ctx, last)
	if err != nil {
		return wrap(op, l.folder(), fmt.Errorf("the audit log is larger than %d MiB, and its older half cannot be written to %s: %w", bound.MaxBytes>>20, Archives, err))
	}
	if err := l.announce(Archived, &a, func(tx *sql.Tx) error { return keepArchive(ctx, tx, &a) }); err != nil { //nolint:contextcheck // what was begun is written
		return wrap(op, l.file, err)
	}
	l.mu.Lock()
	l.archives = append(l.archives, a)
	l.mu.Unlock()
	return wrap(op, l.file, l.clear(ctx, a.Last))
}

// size returns how many octets of the file hold entries.
func (l *Log) size(ctx context.Context) (octets int64, err error) {
	err = l.db.QueryRowContext(ctx, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&octets)
	return octets, err
}

// middle returns the last entry of the older half of those in the file, 0 if there is none.
func (l *Log) middle(ctx context.Context) (uint64, error) {
	sealed := int64(l.sealed().Seq)
	var n int64
	if err := l.db.QueryRowContext(ctx, `SELECT count(*) FROM entry WHERE seq > ?`, sealed).Scan(&n); err != nil || n < 2 {
		return 0, err
	}
	var last int64
	err := l.db.QueryRowContext(ctx, `SELECT seq FROM entry WHERE seq > ? ORDER BY seq LIMIT 1 OFFSET ?`, sealed, n/2-1).Scan(&last)
	return uint64(last), err
}

// pack writes the entries up to one into an archive.
func (l *Log) pack(ctx context.Context, last uint64) (Archive, error) {
	before := l.sealed()
	if err := l.tidyFolder(before.Seq + 1); err != nil {
		return Archive{}, err
	}
	w, err := newArchiveWriter(l.folder(), before)
	if err != nil {
		return Archive{}, err
	}
	if err := each(ctx, l.db, `WHERE seq > ? AND seq <= ? ORDER BY seq`, []any{int64(before.Seq), int64(last)}, w.add); err != nil {
		return Archive{}, errors.Join(err, w.abandon())
	}
	return w.finish()
}

// tidyFolder removes what a stop left of archives that begin with an entry: the log still has their entries.
func (l *Log) tidyFolder(first uint64) error {
	for _, pattern := range []string{unfinished + "*", fmt.Sprintf("%012d-*", first)} {
		files, err := filepath.Glob(filepath.Join(l.folder(), pattern))
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

// announce writes an entry about an archive, together with a change of the table of archives.
func (l *Log) announce(action string, a *Archive, change func(*sql.Tx) error) error {
	l.commit <- struct{}{}
	defer func() { <-l.commit }()
	l.mu.Lock()
	closed, anew := l.closed, l.anew
	l.mu.Unlock()
	if closed {
		return errClosed
	}
	it := &item{entries: []Entry{*l.own(action, a.File, a)}, change: change, done: make(chan struct{})}
	return l.transact([]*item{it}, 0, anew)
}

// clear removes the entries up to one from the file, some at a time so that nobody waits for long.
func (l *Log) clear(ctx context.Context, last uint64) error {
	for last > 0 {
		n, err := l.clearSome(ctx, last)
		if err != nil || n < removedAtOnce {
			return err
		}
	}
	return nil
}

func (l *Log) clearSome(ctx context.Context, last uint64) (int64, error) {
	l.commit <- struct{}{}
	defer func() { <-l.commit }()
	result, err := l.db.ExecContext(ctx, `DELETE FROM entry WHERE seq IN (SELECT seq FROM entry WHERE seq <= ? ORDER BY seq LIMIT ?)`, int64(last), removedAtOnce)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// forgo removes archives whose last entry is older than they are kept. Their place in the chain stays known.
func (l *Log) forgo(ctx context.Context, keep time.Duration) error {
	if keep <= 0 {
		return nil
	}
	for i, a := range l.Archives() {
		if a.Removed {
			continue
		}
		if l.now().Sub(a.To) < keep {
			return nil
		}
		err := l.announce(ArchiveForgone, &a, func(tx *sql.Tx) error { //nolint:contextcheck // what was begun is written
			_, err := tx.ExecContext(ctx, `UPDATE archive SET removed = 1 WHERE first = ?`, int64(a.First))
			return err
		})
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.archives[i].Removed = true
		l.mu.Unlock()
		if err := os.Remove(l.archiveFile(&a)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
