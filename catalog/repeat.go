package catalog

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// RepeatLife is how long the answer to a write with an idempotency key is kept if nothing else is
// said.
const RepeatLife = 24 * time.Hour

// maxRepeats is how many answers are kept: beyond it the oldest are forgotten.
const maxRepeats = 100_000

// Repeat is a write with an idempotency key.
type Repeat struct {
	User   string
	Key    string
	Hash   [32]byte  // of what was asked
	At     time.Time // when it was asked first
	Status int       // of the answer; 0 if there is none yet
	Answer []byte
}

// Repeats remembers writes for a time. It is safe for concurrent use.
type Repeats struct {
	catalog *Catalog
	life    time.Duration
}

// Repeats returns the memory of writes that keeps each so long; 0 for RepeatLife. They share what
// they remember: the shortest life holds.
func (c *Catalog) Repeats(life time.Duration) Repeats {
	if life == 0 {
		life = RepeatLife
	}
	return Repeats{c, life}
}

// BeginRepeat notes a write before it is done, and returns what is known of an earlier one with the
// same user and key: it then says when that was, what was asked and, if it ended, what the answer
// was. Without one it returns r.
func (c Repeats) BeginRepeat(ctx context.Context, r Repeat) (Repeat, error) {
	err := c.catalog.write(ctx, func(tx *sql.Tx) error {
		if err := dropRepeats(ctx, tx, r.At.Add(-c.life)); err != nil {
			return err
		}
		var hash []byte
		var at sql.NullInt64
		known := Repeat{User: r.User, Key: r.Key}
		err := tx.QueryRowContext(ctx, `SELECT hash, at, status, answer FROM repeat WHERE user = ? AND key = ?`, r.User, r.Key).
			Scan(&hash, &at, &known.Status, &known.Answer)
		if err == nil {
			copy(known.Hash[:], hash)
			known.At = fromMicros(at)
			r = known
			return nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO repeat (user, key, hash, at, status, answer) VALUES (?, ?, ?, ?, 0, x'')`,
			r.User, r.Key, r.Hash[:], micros(r.At))
		return err
	})
	return r, wrap("catalog.BeginRepeat", r.Key, err)
}

// dropRepeats forgets the writes up to a time, and those that are too many.
func dropRepeats(ctx context.Context, tx *sql.Tx, last time.Time) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM repeat WHERE at <= ?`, micros(last)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM repeat WHERE at < (SELECT at FROM repeat ORDER BY at DESC LIMIT 1 OFFSET ?)`, maxRepeats)
	return err
}

// EndRepeat keeps the answer to a write that BeginRepeat noted.
func (c Repeats) EndRepeat(ctx context.Context, r Repeat) error {
	return c.catalog.exec(ctx, "catalog.EndRepeat", r.Key, `UPDATE repeat SET status = ?, answer = ? WHERE user = ? AND key = ?`,
		r.Status, r.Answer, r.User, r.Key)
}
