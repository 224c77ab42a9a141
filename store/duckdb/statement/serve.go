package statement

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"
	"golang.org/x/sys/unix"

	"voltbus/fault"
	"voltbus/store/duckdb/engine"
)

// Serve reads a task, drops unneeded rights, runs the statement and writes the answer. It is the whole work of its
// process.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	runtime.LockOSThread()
	var t Task
	from := json.NewDecoder(in)
	if err := from.Decode(&t); err != nil {
		return fault.E("statement.Serve", fault.Invalid, "task", err)
	}
	w := &writer{out: bufio.NewWriterSize(out, 64<<10)}
	if err := Confine(&t); err != nil {
		return w.end(fault.E("statement.Serve", fault.Unavailable, "", fmt.Errorf("bound the process: %w", err)))
	}
	return w.end(kinded(serve(ctx, &t, from, w)))
}

// Confine limits this process permanently: its memory, time and files according to the task, and its system calls. From then on it
// can neither reach the network nor start programs nor signal other processes.
func Confine(t *Task) error {
	threads := max(t.Threads, 1)
	for which, most := range map[int]uint64{
		unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: uint64(t.Spill), unix.RLIMIT_NOFILE: 4096,
		unix.RLIMIT_DATA: uint64(t.Memory) + overhead,
		unix.RLIMIT_CPU:  uint64(t.Time.Seconds()+1) * uint64(threads),
	} {
		var now unix.Rlimit
		if err := unix.Getrlimit(which, &now); err != nil {
			return err
		}
		most = min(most, now.Max)
		if err := unix.Setrlimit(which, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	// This process is the first to be killed when the machine runs out of memory.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // a hint, if permitted
	return errors.Join(unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0), unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), filter())
}

func serve(ctx context.Context, t *Task, from *json.Decoder, w *writer) error {
	db, err := engine.Open(":memory:", t.settings())
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := db.Connect()
	if err != nil {
		return err
	}
	defer c.Close()
	q, err := judge(ctx, c, t)
	if err != nil {
		return err
	}
	views := t.Views
	if q.need != nil {
		others, err := ask(q.need, from, w)
		if err != nil {
			return err
		}
		views = slices.Concat(views, others)
	}
	for _, view := range views {
		if err := c.Exec(ctx, view); err != nil {
			return fault.E("statement.Serve", fault.Unavailable, "", fmt.Errorf("open the history: %w", err))
		}
	}
	for _, lock := range []string{"SET allowed_directories=" + t.folders(), "SET enable_external_access=false", "SET lock_configuration=true"} {
		if err := c.Exec(ctx, lock); err != nil {
			return err
		}
	}
	return answer(ctx, c, t, q, w)
}

// ask asks for the views of a Source.
func ask(need *Need, from *json.Decoder, w *writer) (views []string, err error) {
	if err := w.need(need); err != nil {
		return nil, err
	}
	return views, from.Decode(&views)
}

// settings are DuckDB's for opening the database.
func (t *Task) settings() map[string]string {
	return map[string]string{
		"threads":                      strconv.Itoa(max(t.Threads, 1)),
		"memory_limit":                 strconv.FormatInt(t.Memory, 10) + "B",
		"temp_directory":               t.Temp,
		"max_temp_directory_size":      strconv.FormatInt(t.Spill, 10) + "B",
		"autoinstall_known_extensions": "false",
		"autoload_known_extensions":    "false",
		"allow_community_extensions":   "false",
		"enable_external_file_cache":   "false",
	}
}

// folders lists the readable folders.
func (t *Task) folders() string {
	read := make([]string, len(t.Read))
	for i, dir := range t.Read {
		read[i] = "'" + strings.ReplaceAll(dir, "'", "''") + "'"
	}
	return "[" + strings.Join(read, ",") + "]"
}

// kinded adds its kind to an engine error.
func kinded(err error) error {
	e := engine.AsError(err)
	if e == nil {
		return err
	}
	kind := fault.Invalid
	switch {
	case e.Type == duck.ErrorTypePermission, e.Type == duck.ErrorTypeTransaction, strings.HasPrefix(e.Text, "Permission Error"),
		strings.Contains(e.Text, "configuration has been locked"):
		kind = fault.Refused
	case e.Type == duck.ErrorTypeOutOfMemory, strings.Contains(e.Text, "Out of Memory"), strings.Contains(e.Text, "bad allocation"), strings.Contains(e.Text, "bad_alloc"):
		return fault.E("duckdb.SQL", fault.Unavailable, "", errors.New("the statement takes more memory than store.memory allows; ask for less at a time, or for sums"))
	case e.Type == duck.ErrorTypeErrorIO, e.Fatal():
		kind = fault.Unavailable
	}
	return fault.E("duckdb.SQL", kind, "", errors.New(e.Text))
}

// answer runs the checked statement. Columns of types unknown to the caller are returned as text.
func answer(ctx context.Context, c *engine.Conn, t *Task, q *question, w *writer) error {
	stmt, err := q.prepare(c)
	if err != nil {
		return err
	}
	defer func() { stmt.Close() }()
	names := stmt.Columns()
	if q.explain == "" && !stmt.Readable() {
		textual := *t
		textual.Statement = q.readable(stmt.Types())
		if q, err = judge(ctx, c, &textual); err != nil {
			return err
		}
		readable, err := q.prepare(c)
		if err != nil {
			return err
		}
		stmt.Close()
		stmt = readable
	}
	if err := w.columns(names); err != nil {
		return err
	}
	types := stmt.Types()
	values := make([]any, len(types))
	return stmt.Query(ctx, func(ch *engine.Chunk) error {
		for r := range ch.Rows {
			for i, t := range types {
				values[i] = ch.Value(i, r, t)
			}
			if err := w.values(values); err != nil {
				return err
			}
		}
		return w.out.Flush()
	})
}

// readable returns a statement with the same columns, where those of types unknown to the caller are text. It contains
// none of the column names.
func (q *question) readable(types []duck.Type) string {
	aliases, list := make([]string, len(types)), make([]string, len(types))
	for i, t := range types {
		aliases[i] = fmt.Sprintf("c%d", i)
		list[i] = aliases[i]
		if !engine.Readable(t) {
			list[i] += "::VARCHAR"
		}
	}
	inner := strings.TrimRight(strings.TrimSpace(q.text), "; \t\r\n")
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + inner + "\n) AS t(" + strings.Join(aliases, ", ") + ")"
}
