package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Expect compares the log with a position known elsewhere; from names the source, such as "the catalogue". A log
// that does not reach it, or has another entry there, was deleted, truncated or exchanged although the anchor
// beside it fits: that is damage, which Status and Verify report, and the next entry begins a new segment that
// records it and is numbered after the position. Expect returns the damage in words, "" if the log fits. The zero
// Head means that no position is known.
func (l *Log) Expect(ctx context.Context, kept Head, from string) (damage string, err error) {
	if kept.Seq == 0 {
		return "", nil
	}
	l.writer.commit <- struct{}{}
	defer func() { <-l.writer.commit }()
	l.state.expect(kept, from)
	head, _, _ := l.state.end()
	if kept.Seq > head.Seq {
		return l.differs(kept, fmt.Sprintf("it and all behind it are gone: %s knows entries up to %d", from, kept.Seq), head.Seq+1), nil
	}
	if kept == head {
		return "", nil
	}
	found, told, err := l.entryAt(ctx, kept.Seq)
	switch {
	case err != nil:
		return "", wrap("audit.Expect", l.file, err)
	case told || found == kept.Hash:
	case found == Hash{}:
		return l.differs(head, fmt.Sprintf("it is missing, and %s knows it", from), kept.Seq), nil
	default:
		return l.differs(head, fmt.Sprintf("it is another entry than the one that %s knows", from), kept.Seq), nil
	}
	return "", nil
}

// Missing records that a log existed before, for the given reason, if Open found no file of one.
func (l *Log) Missing(reason string) {
	l.writer.commit <- struct{}{}
	defer func() { <-l.writer.commit }()
	head, _, _ := l.state.end()
	if l.made && head.Seq == 0 {
		l.differs(head, "the log is gone: "+reason, 1)
	}
}

// differs records that the log is not the one that was kept, and that it continues after a position. The caller holds commit.
func (l *Log) differs(behind Head, what string, seq uint64) string {
	what = Problem{Seq: seq, Text: what}.String()
	l.state.note(what, true)
	l.state.goOn(behind)
	return what
}

// entryAt returns the hash of an entry, zero if it is missing, and whether a later segment records that it is missing.
func (l *Log) entryAt(ctx context.Context, seq uint64) (hash Hash, told bool, err error) {
	var at int64
	var action string
	var octets []byte
	err = l.db.QueryRowContext(ctx, `SELECT seq, action, hash FROM entry WHERE seq >= ? ORDER BY seq LIMIT 1`, int64(seq)).Scan(&at, &action, &octets)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Hash{}, false, nil
	case err != nil:
		return Hash{}, false, err
	case uint64(at) != seq:
		return Hash{}, action == Segment, nil
	}
	copy(hash[:], octets)
	return hash, false, nil
}
