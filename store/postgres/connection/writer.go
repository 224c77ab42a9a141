package connection

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"voltbus/fault"
)

// Writer is the one connection of a store that writes. It is re-established after a loss. Its methods are called
// by one goroutine at a time.
type Writer struct {
	Settings *Settings
	Config   *pgx.ConnConfig
	// Begin prepares a new connection: it prepares tables, claims names, and reads the state kept in memory.
	Begin func(ctx context.Context, op string) error
	Conn  *pgx.Conn // nil after a loss
}

// Connected returns with a working connection.
func (w *Writer) Connected(ctx context.Context, op string) error {
	if w.Conn != nil && !w.Conn.IsClosed() {
		return nil
	}
	w.Conn = nil
	cfg := w.Config.Copy()
	if err := w.Settings.ReadPassword(ctx, cfg); err != nil {
		return err
	}
	cfg.RuntimeParams["lock_timeout"] = strconv.FormatInt(LockTime.Milliseconds(), 10)
	cfg.RuntimeParams["idle_in_transaction_session_timeout"] = "60000"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return w.Settings.Fail(op, w.Config, err)
	}
	w.Conn = conn
	if err := w.Begin(ctx, op); err != nil {
		w.Disconnect(ctx)
		return err
	}
	return nil
}

// Disconnect ends the connection, and its claims with it.
func (w *Writer) Disconnect(ctx context.Context) {
	if w.Conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = w.Conn.Close(ctx) // errors of a broken one do not matter
	w.Conn = nil
}

// Transaction runs f between BEGIN and COMMIT. If the outcome of the COMMIT is unknown, the connection is ended: the next
// one reads the outcome.
func (w *Writer) Transaction(ctx context.Context, op string, f func() error) error {
	if _, err := w.Conn.Exec(ctx, "BEGIN"); err != nil {
		return w.Settings.Fail(op, w.Config, err)
	}
	err := f()
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err != nil {
		if _, rolled := w.Conn.Exec(patient, "ROLLBACK"); rolled != nil {
			w.Disconnect(ctx)
		}
		return w.Settings.Fail(op, w.Config, err)
	}
	if err = ctx.Err(); err == nil {
		_, err = w.Conn.Exec(patient, "COMMIT")
	}
	if err != nil {
		w.Disconnect(ctx)
	}
	return w.Settings.Fail(op, w.Config, err)
}

// Claim claims a name for this connection. Taken reports that another connection has it, which holder describes as far as the server reveals.
func (w *Writer) Claim(ctx context.Context, op, name string) (taken bool, holder string, err error) {
	_, err = w.Conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 1))", name)
	if StateOf(err) == StateLocked {
		return true, w.holder(ctx, name), nil
	}
	return false, "", w.Settings.Fail(op, w.Config, err)
}

// holder describes who has claimed the name, as far as the server reveals.
func (w *Writer) holder(ctx context.Context, claimed string) string {
	var name, from string
	var since time.Time
	err := w.Conn.QueryRow(ctx, `SELECT a.application_name, coalesce(host(a.client_addr), 'the same machine'), a.backend_start
		FROM pg_locks l JOIN pg_stat_activity a USING (pid), hashtextextended($1, 1) AS key
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
		AND l.classid = ((key >> 32) & 4294967295)::oid AND l.objid = (key & 4294967295)::oid
		AND a.backend_start IS NOT NULL LIMIT 1`, claimed).Scan(&name, &from, &since)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (%q, from %s, since %s)", name, from, since.UTC().Format(time.RFC3339))
}

// Pool prepares a pool of at most so many read-only connections. It opens none yet.
func (s *Settings) Pool(ctx context.Context, op string, from *pgx.ConnConfig, most int32) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(s.URL)
	if err != nil {
		return nil, fault.E(op, fault.Internal, "", err)
	}
	cfg.ConnConfig = from.Copy()
	cfg.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	cfg.BeforeConnect = s.ReadPassword
	cfg.MaxConns, cfg.MinConns = most, 0
	cfg.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return true } // the server may have been restarted
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), cfg)                   // connects when asked
	return pool, s.Fail(op, from, err)
}
