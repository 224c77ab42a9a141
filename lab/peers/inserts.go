package peers

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Inserts is PostgreSQL as metering systems use it by hand: a table of readings whose key is meter, channel and end, filled
// with INSERT. It is safe for concurrent use.
type Inserts struct{ db *postgres }

// FindPostgreSQL returns nil if the server is installed, else how to get it.
func FindPostgreSQL() error { return postgreSQL().Find() }

// OpenInserts starts a server with an empty directory. Close it.
func OpenInserts(ctx context.Context, dir string) (*Inserts, error) {
	in, err := openPostgres(ctx, dir)
	if err != nil {
		return nil, err
	}
	p, ok := in.(*postgres)
	if !ok {
		return nil, fmt.Errorf("open PostgreSQL: %T is another store", in)
	}
	i := &Inserts{p}
	if _, err := p.ask(ctx, "CREATE TABLE meter_readings (meter text, channel int, ends timestamptz, value double precision, PRIMARY KEY (meter, channel, ends))"); err != nil {
		return nil, fmt.Errorf("make the table: %w", err)
	}
	return i, nil
}

// Row is a reading of channel 1.
type Row struct {
	Meter string
	End   time.Time
	Value float64
}

// Insert writes rows and returns when they are committed: with single each by a statement and transaction of its own, else
// all by one.
func (i *Inserts) Insert(ctx context.Context, rows []Row, single bool) error {
	var text []byte
	for n := range rows {
		switch {
		case n == 0 || single:
			text = append(text, "INSERT INTO meter_readings VALUES ('"...)
		default:
			text = append(text, ",('"...)
		}
		r := &rows[n]
		text = append(append(text, r.Meter...), "',1,'"...)
		text = append(r.End.UTC().AppendFormat(text, time.RFC3339), "',"...)
		text = append(strconv.AppendFloat(text, r.Value, 'f', 3, 64), ')')
		if single || n == len(rows)-1 {
			text = append(text, ";\n"...)
		}
	}
	return i.db.with(ctx, func(s *session) error {
		_, err := s.do(text)
		return err
	})
}

// Count returns how many rows there are.
func (i *Inserts) Count(ctx context.Context) (uint64, error) {
	said, err := i.db.ask(ctx, "SELECT count(*) FROM meter_readings")
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(said, 10, 64)
}

// Close ends the server.
func (i *Inserts) Close() error { return i.db.Close() }
