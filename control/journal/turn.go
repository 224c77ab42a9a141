package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"voltbus/control"
	"voltbus/point"
)

// loose is how many bytes of turns are kept in front of the records. Most of a turn's content is replaced by
// a later turn before its space is needed, and never becomes a record of its own.
const loose = 4 << 20

// turn is a set of records stored together.
type turn struct {
	number  int64
	size    int
	records []control.Record
}

type recordKey struct{ kind, key string }

// turns are the turns in front of the records, as in the file.
type turns struct {
	list []turn // oldest first
	last int64  // number
	size int    // total size
	// latest maps a record to the number of the turn that is valid for it.
	latest map[recordKey]int64
}

// claim makes a turn, which is then added or given up, the valid one for its records.
func (s *turns) claim(t *turn) {
	for i := range t.records {
		s.latest[recordKey{t.records[i].Kind, t.records[i].Key}] = t.number
	}
}

// add adds a turn that is in the file.
func (s *turns) add(t turn) {
	s.claim(&t)
	s.list, s.last, s.size = append(s.list, t), t.number, s.size+t.size
}

// giveUp reverts the claim of a turn that did not reach the file.
func (s *turns) giveUp() {
	clear(s.latest)
	for i := range s.list {
		s.claim(&s.list[i])
	}
}

// counts reports whether no later turn has the record.
func (s *turns) counts(t *turn, r *control.Record) bool {
	return s.latest[recordKey{r.Kind, r.Key}] == t.number
}

// over returns how many of the oldest turns must go to make room for one of a size.
func (s *turns) over(size int) (n int) {
	for left := s.size; n < len(s.list) && left+size > loose; n++ {
		left -= s.list[n].size
	}
	return n
}

// forget removes the n oldest turns.
func (s *turns) forget(n int) {
	for i := range s.list[:n] {
		t := &s.list[i]
		s.size -= t.size
		for k := range t.records {
			if s.counts(t, &t.records[k]) {
				delete(s.latest, recordKey{t.records[k].Kind, t.records[k].Key})
			}
		}
	}
	clear(s.list[:n])
	s.list = s.list[n:]
}

// onto applies the turns to records, which are in the order of the table.
func (s *turns) onto(records []control.Record) []control.Record {
	left := records[:0]
	for i := range records {
		if _, replaced := s.latest[recordKey{records[i].Kind, records[i].Key}]; !replaced {
			left = append(left, records[i])
		}
	}
	for i := range s.list {
		t := &s.list[i]
		for k := range t.records {
			if r := &t.records[k]; r.Data != nil && s.counts(t, r) {
				left = append(left, *r)
			}
		}
	}
	return left
}

var errTurn = errors.New("what was kept together cannot be read")

// readTurns reads the turns of a file.
func readTurns(ctx context.Context, db *sql.DB) (*turns, error) {
	s := &turns{latest: make(map[recordKey]int64)}
	rows, err := db.QueryContext(ctx, `SELECT number, data FROM turn ORDER BY number`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t turn
		var data []byte
		if err := rows.Scan(&t.number, &data); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &t.records); err != nil {
			return nil, fmt.Errorf("%w: turn %d: %w", errTurn, t.number, err)
		}
		t.size = len(data)
		s.add(t)
	}
	return s, rows.Err()
}

// writeTurn encodes records field by field, as package json would.
func writeTurn(records []control.Record) []byte {
	size := 0
	for i := range records {
		size += len(`,{"kind":"","key":"","data":}`) + len(records[i].Kind) + len(records[i].Key) + len(records[i].Data)
	}
	o := &point.Object{JSON: append(make([]byte, 0, size+2), '[')}
	for i := range records {
		if i > 0 {
			o.JSON = append(o.JSON, ',')
		}
		r := &records[i]
		o.Begin()
		o.Text("kind", r.Kind)
		o.Text("key", r.Key)
		if r.Data != nil {
			o.Name("data")
			o.JSON = append(o.JSON, r.Data...)
		}
		o.End()
	}
	return append(o.JSON, ']')
}
