package catalog

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// notes collects the writes of Repeats, so that concurrent calls share one transaction: the first of them
// writes for all, and notes that arrive meanwhile are written by the next one.
type notes struct {
	*file
	lead chan struct{} // holds one entry while a write is in progress

	insert, update, forget *sql.Stmt

	mu      sync.Mutex
	waiting []*note

	counted bool // rows is known; both belong to the holder of lead
	rows    int  // number of rows in the table
}

// note is a row to begin or to end.
type note struct {
	repeat Repeat        // for a row to begin: its known state when done
	last   time.Time     // older writes are removed first
	ends   bool          // store the answer
	done   chan struct{} // closed when it is on disk, or err is set
	err    error
}

// sentPatience is how long storing the sent answer to a write waits for another write to share its transaction.
const sentPatience = 20 * time.Millisecond

// openNotes prepares the statements for writes with a key.
func openNotes(ctx context.Context, f *file) (*notes, error) {
	n := &notes{file: f, lead: make(chan struct{}, 1)}
	var err error
	n.insert, err = f.db.PrepareContext(ctx, `INSERT INTO repeat (user, key, hash, at, status, answer) VALUES (?, ?, ?, ?, 0, x'') ON CONFLICT DO NOTHING`)
	if err == nil {
		n.update, err = f.db.PrepareContext(ctx, `UPDATE repeat SET status = ?, answer = ? WHERE user = ? AND key = ?`)
	}
	if err == nil {
		n.forget, err = f.db.PrepareContext(ctx, `DELETE FROM repeat WHERE at <= ?`)
	}
	return n, err
}

// take returns the pending notes.
func (n *notes) take() []*note {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.waiting
	n.waiting = nil
	return all
}

// put returns when the note is on disk. The state of one given up because ctx ends is unknown: it may be
// written later, as if the program had ended before answering.
func (n *notes) put(ctx context.Context, one *note) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	one.done = make(chan struct{})
	n.mu.Lock()
	n.waiting = append(n.waiting, one)
	n.mu.Unlock()
	if one.ends && one.repeat.Sent {
		late := time.NewTimer(sentPatience)
		defer late.Stop()
		select {
		case <-one.done:
			return one.err
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
		}
	}
	select {
	case <-one.done:
	case <-ctx.Done():
		return ctx.Err()
	case n.lead <- struct{}{}:
		n.putAll(context.WithoutCancel(ctx)) // other callers continue
		<-n.lead
		<-one.done // by this or the previous leader
	}
	return one.err
}

// putAll writes all pending notes, in one transaction. The caller holds lead.
func (n *notes) putAll(ctx context.Context) {
	all := n.take()
	if len(all) == 0 {
		return
	}
	rows := 0
	err := n.write(ctx, func(tx *sql.Tx) (err error) {
		rows, err = n.writeTo(ctx, tx, all)
		return err
	})
	n.rows, n.counted = rows, err == nil
	for _, one := range all {
		one.err = err
		close(one.done)
	}
}

// writeTo writes notes, and returns the resulting number of rows.
func (n *notes) writeTo(ctx context.Context, tx *sql.Tx, all []*note) (rows int, err error) {
	rows = n.rows
	if !n.counted {
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM repeat`).Scan(&rows); err != nil {
			return 0, err
		}
	}
	gone, err := n.dropRepeats(ctx, tx, all, rows)
	if err != nil {
		return 0, err
	}
	rows -= gone
	insert, update := tx.StmtContext(ctx, n.insert), tx.StmtContext(ctx, n.update)
	for _, k := range all {
		r := &k.repeat
		if k.ends {
			_, err = update.ExecContext(ctx, r.Status, r.Answer, r.User, r.Key)
		} else {
			var fresh bool
			if fresh, err = beginRow(ctx, tx, insert, r); fresh {
				rows++
			}
		}
		if err != nil {
			return 0, err
		}
	}
	return rows, nil
}

// dropRepeats removes expired and surplus writes; it returns how many.
func (n *notes) dropRepeats(ctx context.Context, tx *sql.Tx, all []*note, rows int) (gone int, err error) {
	var last time.Time
	for _, k := range all {
		if k.last.After(last) {
			last = k.last
		}
	}
	if !last.IsZero() {
		if gone, err = changed(tx.StmtContext(ctx, n.forget).ExecContext(ctx, micros(last))); err != nil {
			return 0, err
		}
	}
	if older := rows - gone - maxRepeats - 1; older > 0 { // counted from the old end, which is closer
		more, err := changed(tx.ExecContext(ctx, `DELETE FROM repeat WHERE at < (SELECT at FROM repeat ORDER BY at LIMIT 1 OFFSET ?)`, older))
		return gone + more, err
	}
	return gone, nil
}

func changed(r sql.Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// beginRow records a write unless it is known; in that case r becomes its known state.
func beginRow(ctx context.Context, tx *sql.Tx, insert *sql.Stmt, r *Repeat) (fresh bool, err error) {
	n, err := changed(insert.ExecContext(ctx, r.User, r.Key, r.Hash[:], micros(r.At)))
	if err != nil || n == 1 {
		return err == nil, err
	}
	var hash []byte
	var at sql.NullInt64
	known := Repeat{User: r.User, Key: r.Key}
	err = tx.QueryRowContext(ctx, `SELECT hash, at, status, answer FROM repeat WHERE user = ? AND key = ?`, r.User, r.Key).
		Scan(&hash, &at, &known.Status, &known.Answer)
	if err != nil {
		return false, err
	}
	if len(known.Answer) == 0 {
		known.Answer = nil
	}
	copy(known.Hash[:], hash)
	known.At = fromMicros(at)
	*r = known
	return false, nil
}
