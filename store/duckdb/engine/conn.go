package engine

import (
	"context"
	"fmt"
	"time"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// Conn is a connection. It is used by one goroutine at a time.
type Conn struct {
	conn duck.Connection
}

// Close ends the connection and rolls back its open transaction.
func (c *Conn) Close() { duck.Disconnect(&c.conn) }

// Exec runs one statement and drops its result. The arguments replace $1, $2, …; they are strings, bools,
// float64, int, int64, uint32, uint64, time.Time or nil.
func (c *Conn) Exec(ctx context.Context, statement string, args ...any) error {
	return c.Query(ctx, statement, func(*Chunk) error { return nil }, args...)
}

// Transact runs f between BEGIN and COMMIT.
func (c *Conn) Transact(ctx context.Context, f func() error) error {
	if err := c.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	err := f()
	if err == nil {
		// A complete transaction is committed even if the caller gives up now: an interrupted COMMIT would
		// leave open whether the samples are stored.
		err = c.Exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		_ = c.Exec(context.WithoutCancel(ctx), "ROLLBACK") // fails only if nothing is open
	}
	return err
}

// Query runs one statement and calls each with the chunks of its result as they are produced. The chunk is
// valid until each returns. An error of each ends the statement and is returned.
func (c *Conn) Query(ctx context.Context, statement string, each func(*Chunk) error, args ...any) error {
	s, err := c.Prepare(statement)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Query(ctx, each, args...)
}

// Stmt is a prepared statement of one connection.
type Stmt struct {
	conn *Conn
	stmt duck.PreparedStatement
}

// Prepare compiles one statement. Close must be called.
func (c *Conn) Prepare(statement string) (*Stmt, error) {
	s := &Stmt{conn: c}
	if duck.Prepare(c.conn, statement, &s.stmt) != duck.StateSuccess {
		text := duck.PrepareError(s.stmt)
		duck.DestroyPrepare(&s.stmt)
		return nil, &Error{Type: errorType(text), Text: text}
	}
	return s, nil
}

// Close drops the statement.
func (s *Stmt) Close() { duck.DestroyPrepare(&s.stmt) }

// Query runs the statement as Conn.Query does.
func (s *Stmt) Query(ctx context.Context, each func(*Chunk) error, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, arg := range args {
		if err := s.bind(i+1, arg); err != nil {
			return err
		}
	}
	stop := s.conn.interruptWith(ctx)
	defer stop()
	var result duck.Result
	// Deprecated, but the only way to see rows before the last one is computed.
	state := duck.ExecutePreparedStreaming(s.stmt, &result)
	defer duck.DestroyResult(&result)
	if state != duck.StateSuccess {
		return resultError(ctx, &result)
	}
	return fetch(ctx, &result, each)
}

func fetch(ctx context.Context, result *duck.Result, each func(*Chunk) error) error {
	for {
		chunk := duck.FetchChunk(*result)
		if chunk.Ptr == nil {
			return resultError(ctx, result)
		}
		err := each(newChunk(chunk))
		duck.DestroyDataChunk(&chunk)
		if err != nil {
			return err
		}
	}
}

// resultError returns what went wrong, or nil at the regular end of a result.
func resultError(ctx context.Context, result *duck.Result) error {
	text := duck.ResultError(result)
	if text == "" {
		return nil
	}
	e := &Error{Type: duck.ResultErrorType(result), Text: text}
	if e.Type == duck.ErrorTypeInvalid {
		e.Type = errorType(text)
	}
	if ctx.Err() != nil && e.Interrupted() {
		return ctx.Err()
	}
	return e
}

// interruptWith ends the running statement when ctx ends. The caller calls stop after the statement. It
// repeats the request because DuckDB ignores one that comes before the statement has begun.
func (c *Conn) interruptWith(ctx context.Context) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	ended, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		again := time.NewTicker(10 * time.Millisecond)
		defer again.Stop()
		for {
			duck.Interrupt(c.conn)
			select {
			case <-ended:
				return
			case <-again.C:
			}
		}
	}()
	return func() {
		close(ended)
		<-finished
	}
}

func (s *Stmt) bind(index int, arg any) error {
	i := duck.IdxT(index)
	var state duck.State
	switch v := arg.(type) {
	case nil:
		state = duck.BindNull(s.stmt, i)
	case string:
		state = duck.BindVarcharLength(s.stmt, i, v, duck.IdxT(len(v)))
	case bool:
		state = duck.BindBoolean(s.stmt, i, v)
	case int:
		state = duck.BindInt64(s.stmt, i, int64(v))
	case int64:
		state = duck.BindInt64(s.stmt, i, v)
	case uint32:
		state = duck.BindUInt32(s.stmt, i, v)
	case uint64:
		state = duck.BindUInt64(s.stmt, i, v)
	case float64:
		state = duck.BindDouble(s.stmt, i, v)
	case time.Time:
		state = duck.BindTimestamp(s.stmt, i, duck.NewTimestamp(v.UnixMicro()))
	default:
		return fmt.Errorf("argument %d has the unsupported type %T", index, arg)
	}
	if state != duck.StateSuccess {
		return fmt.Errorf("bind argument %d: %s", index, duck.PrepareError(s.stmt))
	}
	return nil
}
