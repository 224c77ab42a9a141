package function

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"voltbus/agent/claim"
	"voltbus/judge"
	"voltbus/judge/setting"
	"voltbus/point"
	"voltbus/python"
)

// Function is a rule in Python for one destination. One goroutine at a time calls Judge and Close; anybody State.
type Function struct {
	cfg    *Config
	claims *claim.Claims
	rule   setting.Rule
	user   string // for whom a user is claimed
	log    *slog.Logger

	process *running
	uid     int
	since   time.Time   // when the process was started
	file    os.FileInfo // from which it was started
	request []byte

	pause time.Duration // after the next failure
	next  time.Time     // no process is started before

	mu    sync.Mutex // guards the rest
	state judge.FunctionState
}

// Pauses before a process is started again.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// startTime is how long a file may take to be loaded, with what it imports.
const startTime = 15 * time.Second

// most is how many readings a request has at most.
const most = 5000

// State implements judge.Function.
func (f *Function) State() judge.FunctionState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// Judge implements judge.Function.
func (f *Function) Judge(ctx context.Context, readings []judge.Reading) (list []judge.Opinion, err error) {
	for from := 0; from < len(readings); from += most {
		part := readings[from:min(from+most, len(readings))]
		said, err := f.part(ctx, part)
		if ctx.Err() != nil {
			f.Close()
			return nil, ctx.Err()
		}
		if err != nil {
			f.failed(err)
			list = f.instead(list, from, len(part))
			continue
		}
		for _, s := range said {
			list = append(list, judge.Opinion{Reading: from + s.reading, Withheld: s.letter == withheld, Reason: s.reason})
		}
	}
	return list, nil
}

const withheld = "w"

// errPaused says that the process is not started at present; the state has the reason.
var errPaused = errors.New("it is started again later")

// part asks for verdicts on as many readings as a request may have.
func (f *Function) part(ctx context.Context, readings []judge.Reading) ([]said, error) {
	if err := f.ready(ctx); err != nil {
		return nil, err
	}
	f.request = appendRequest(f.request[:0], readings)
	r, err := f.process.ask(ctx, f.request, f.rule.Timeout)
	if err == nil {
		err = f.check(&r, len(readings))
	}
	if err != nil {
		return nil, err
	}
	if now := f.cfg.Now(); now.Sub(f.since) >= f.pause {
		f.pause = 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.Err = ""
	return r.Said, nil
}

// check returns what is wrong with an answer.
func (f *Function) check(r *reply, readings int) error {
	if r.Memory {
		return fmt.Errorf("%s: it needs more memory than %d MiB; the key memory_mib of the rule raises the limit", r.Failed, f.rule.MemoryMiB)
	}
	if r.Failed != "" {
		return errors.New(r.Failed)
	}
	before := -1
	for _, s := range r.Said {
		if s.reading <= before || s.reading >= readings {
			return errAnswer
		}
		before = s.reading
	}
	return nil
}

// ready starts the process, unless it runs and its file is the same.
func (f *Function) ready(ctx context.Context) error {
	if f.cfg.Now().Before(f.next) {
		return errPaused
	}
	now, err := os.Stat(f.rule.File)
	if err != nil {
		return fmt.Errorf("read the file of the rule: %w", err)
	}
	if f.process != nil && os.SameFile(now, f.file) && now.ModTime().Equal(f.file.ModTime()) && now.Size() == f.file.Size() {
		return nil
	}
	f.Close()
	f.file = now
	return f.start(ctx)
}

// maxSource bounds the file of a rule.
const maxSource = 4 << 20

func (f *Function) start(ctx context.Context) error {
	if len(f.cfg.Exec) == 0 {
		return errNone
	}
	if f.file.Size() > maxSource {
		return fmt.Errorf("the file of the rule has more than %d MiB", maxSource>>20)
	}
	source, err := os.ReadFile(f.rule.File)
	if err != nil {
		return fmt.Errorf("read the file of the rule: %w", err)
	}
	modules, err := python.Rule()
	if err != nil {
		return err
	}
	first, err := json.Marshal(map[string]any{"modules": modules, "file": f.rule.File, "source": string(source), "function": f.rule.Function})
	if err != nil {
		return err
	}
	if f.claims != nil && f.uid == 0 {
		if f.uid, err = f.claims.Choose(f.user); err != nil {
			return err
		}
	}
	spec, err := f.spec(f.uid)
	if err != nil {
		return err
	}
	if f.process, err = start(f.cfg.Exec, spec, f.uid); err != nil {
		return err
	}
	f.since = f.cfg.Now()
	r, err := f.process.ask(ctx, first, max(startTime, f.rule.Timeout))
	if err == nil {
		err = f.check(&r, 0)
	}
	return err
}

// failed ends the process, and says why.
func (f *Function) failed(err error) {
	if errors.Is(err, errPaused) {
		return
	}
	f.Close()
	f.pause = min(max(firstPause, 2*f.pause), longestPause)
	now := f.cfg.Now()
	f.next = now.Add(f.pause)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.Failures++
	if f.state.Err == "" {
		f.state.Since = now
		f.log.Warn("a rule in Python failed and is started again", slog.Any("err", err))
	}
	f.state.Err = err.Error()
}

// Close implements judge.Function.
func (f *Function) Close() {
	if f.process != nil {
		f.process.end()
		f.process = nil
	}
	if f.uid != 0 {
		f.claims.Release(f.uid)
		f.uid = 0
	}
}

// instead is what becomes of readings that the function did not judge.
func (f *Function) instead(list []judge.Opinion, from, count int) []judge.Opinion {
	o := judge.Opinion{Unjudged: true, Withheld: f.rule.Failure == setting.Withhold}
	if o.Withheld {
		o.Reason = "the rule could not judge it: " + f.State().Err
	}
	list = slices.Grow(list, count)
	for i := range count {
		o.Reading = from + i
		list = append(list, o)
	}
	return list
}

// appendRequest appends a request: columns, with an index for each point and quality.
func appendRequest(b []byte, readings []judge.Reading) []byte {
	points, qualities := index[point.Path]{}, index[point.Quality]{}
	b = append(b, `{"point":[`...)
	for i := range readings {
		b = strconv.AppendInt(separated(b, i), int64(points.of(readings[i].Point)), 10)
	}
	b = append(b, `],"time":[`...)
	for i := range readings {
		b = strconv.AppendInt(separated(b, i), readings[i].Time, 10)
	}
	b = append(b, `],"value":[`...)
	for i := range readings {
		b = appendValue(separated(b, i), readings[i].Value)
	}
	b = append(b, `],"quality":[`...)
	for i := range readings {
		b = strconv.AppendInt(separated(b, i), int64(qualities.of(readings[i].Quality)), 10)
	}
	b = append(b, `],"points":[`...)
	for i, p := range points.list {
		b = point.AppendQuoted(separated(b, i), string(p))
	}
	b = append(b, `],"qualities":[`...)
	for i, q := range qualities.list {
		b = point.AppendQuoted(separated(b, i), q.String())
	}
	return append(b, "]}"...)
}

func separated(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

// appendValue appends a value as Python's JSON reads it, which knows numbers that are none.
func appendValue(b []byte, v point.Value) []byte {
	switch v.Kind() {
	case point.Float:
		switch n, _ := v.Number(); {
		case math.IsNaN(n):
			return append(b, "NaN"...)
		case math.IsInf(n, 0):
			return append(b, cmp.Or(map[bool]string{true: "-"}[n < 0], "")+"Infinity"...)
		}
		at := len(b)
		if b = v.AppendJSON(b); !bytes.ContainsAny(b[at:], ".eE") {
			b = append(b, ".0"...) // it stays a float there
		}
		return b
	case point.None:
		return append(b, "null"...)
	case point.Int, point.Bool, point.Text:
	}
	return v.AppendJSON(b)
}

// index numbers things in the order in which they come.
type index[T comparable] struct {
	at   map[T]int
	list []T
}

func (x *index[T]) of(one T) int {
	at, known := x.at[one]
	if !known {
		if x.at == nil {
			x.at = map[T]int{}
		}
		at = len(x.list)
		x.at[one], x.list = at, append(x.list, one)
	}
	return at
}
