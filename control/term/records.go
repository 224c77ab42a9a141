package term

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"voltbus/control"
	"voltbus/fault"
)

// Log is a journal that all replicas have and one at a time writes, such as blocklog.Journal.
type Log interface {
	// Scan calls deliver with every record from a sequence on, in order, up to the end as a majority knows it.
	Scan(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error
	// AddBehind adds a record if the log ends at a sequence, and returns that of the record when a majority has it on disk. The error is
	// fault.Conflict, and the record is not there, if the log ends behind it; after another error it may be there or not.
	AddBehind(ctx context.Context, data []byte, last uint64) (sequence uint64, err error)
	// Forget drops the records before a sequence.
	Forget(ctx context.Context, before uint64) error
	// Bounds returns the sequences of the oldest and the newest record; first > last if there is none.
	Bounds(ctx context.Context) (first, last uint64, err error)
}

// The sizes of records.
const (
	most    = 1 << 20 // bytes of the contents of one, about
	settled = 8 << 20 // bytes that are written before the state is written as a whole
	times   = 4       // and that many times the state's own size

	addTime  = 4 * time.Second // for one record
	keepTime = 8 * time.Second // for all that are stored together
)

// MaxBytes bounds the log of control on disk. It is written as a whole long before.
const MaxBytes = 512 << 20

// entry is a record of the log: a part of the control records that are stored together.
type entry struct {
	Writer  string           `json:"writer"`
	Term    uint64           `json:"term"`            // of the writer; each has a higher number than the one before
	Part    int              `json:"part,omitempty"`  // from 0
	More    bool             `json:"more,omitempty"`  // another part follows
	Whole   bool             `json:"whole,omitempty"` // what was before does not count
	Records []control.Record `json:"records,omitempty"`
}

// records keep the state of control in a log for one term. They are a dispatch.Journal, for one goroutine.
type records struct {
	log    Log
	writer string
	term   uint64 // 0 before it has begun
	now    func() time.Time

	last    uint64 // the newest record that was read or written
	size    int    // bytes written since the last whole state
	live    map[key]json.RawMessage
	pending []control.Record // parts whose last one has not come
	newest  uint64           // the newest term in the log
}

type key struct{ kind, key string }

func newRecords(log Log, writer string, now func() time.Time) *records {
	return &records{log: log, writer: writer, now: now, live: map[key]json.RawMessage{}}
}

var (
	errLost  = errors.New("another replica controls the devices now")
	errGap   = errors.New("records of the replicated state of control are missing")
	errEntry = errors.New("a record of the replicated state of control cannot be read")
)

// Load implements dispatch.Journal. It begins the term: from then on nobody else's records are accepted behind older ones.
func (j *records) Load(ctx context.Context) (control.State, error) {
	const op = "term.Load"
	for {
		err := j.read(ctx)
		if err == nil {
			j.term = j.newest + 1
			err = j.add(ctx, &entry{}) // whoever wrote before is behind now
		}
		switch {
		case fault.Is(err, fault.Conflict) && ctx.Err() == nil:
			continue
		case err != nil:
			return control.State{}, fault.E(op, fault.KindOf(err), "", err)
		}
		return j.state(), nil
	}
}

func (j *records) state() control.State {
	s := control.State{Version: control.Version, Time: j.now().UTC()}
	for k, data := range j.live {
		s.Records = append(s.Records, control.Record{Kind: k.kind, Key: k.key, Data: data})
	}
	slices.SortFunc(s.Records, func(a, b control.Record) int {
		if c := strings.Compare(a.Kind, b.Kind); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	})
	return s
}

// read reads the log from where this journal is to its end.
func (j *records) read(ctx context.Context) error {
	first, end, err := j.log.Bounds(ctx)
	if err != nil {
		return err
	}
	if first > end || end == 0 { // nothing is there, whatever was
		j.last = max(j.last, end)
		return nil
	}
	if j.last == 0 {
		j.last = first - 1
	}
	whole := j.last == 0 || j.last >= first // this journal knows what was before
	err = j.log.Scan(ctx, j.last+1, func(sequence uint64, data []byte) error {
		var e entry
		if err := json.Unmarshal(data, &e); err != nil {
			return fault.E("term.read", fault.Corrupt, fmt.Sprint("record ", sequence), fmt.Errorf("%w: %w", errEntry, err))
		}
		if sequence != j.last+1 || !whole && !e.Whole {
			return fault.E("term.read", fault.Corrupt, fmt.Sprint("record ", sequence), errGap)
		}
		whole, j.last = true, sequence
		j.take(&e, len(data))
		return nil
	})
	if err == nil && j.last < end {
		err = fault.E("term.read", fault.Unavailable, "", errGap)
	}
	return err
}

// take applies an entry of the log.
func (j *records) take(e *entry, size int) {
	j.size, j.newest = j.size+size, max(j.newest, e.Term)
	if e.Part == 0 {
		j.pending = nil
	}
	if j.pending = append(j.pending, e.Records...); e.More {
		return
	}
	if e.Whole {
		clear(j.live)
		j.size = 0
	}
	j.apply(j.pending)
	j.pending = nil
}

func (j *records) apply(list []control.Record) {
	for _, r := range list {
		if r.Data == nil {
			delete(j.live, key{r.Kind, r.Key})
			continue
		}
		j.live[key{r.Kind, r.Key}] = r.Data
	}
}

// add adds one entry behind what was read.
func (j *records) add(ctx context.Context, e *entry) error {
	if j.newest > j.term {
		return fault.E("term.Keep", fault.Unavailable, "", errLost)
	}
	e.Writer, e.Term = j.writer, j.term
	data, err := json.Marshal(e)
	if err != nil {
		return fault.E("term.Keep", fault.Internal, "", err)
	}
	ctx, cancel := context.WithTimeout(ctx, addTime)
	defer cancel()
	at, err := j.log.AddBehind(ctx, data, j.last)
	if err != nil {
		return err
	}
	j.last = at
	j.take(e, len(data))
	return nil
}

// Keep implements dispatch.Journal: the records are on the disks of a majority when it returns. It fails once another term has begun.
func (j *records) Keep(ctx context.Context, records []control.Record) error {
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	err := j.write(ctx, records, false)
	if fault.Is(err, fault.Conflict) { // a record of its own that was given up, or those of another term
		if err = j.read(ctx); err == nil {
			err = j.write(ctx, records, false)
		}
	}
	if err == nil && j.size > settled && j.size > times*j.bytes() {
		err = j.settle(ctx)
	}
	if err != nil {
		return fault.E("term.Keep", fault.Unavailable, "", err)
	}
	return nil
}

func (j *records) bytes() (n int) {
	for k, data := range j.live {
		n += len(k.kind) + len(k.key) + len(data)
	}
	return n
}

// write adds records in as many entries as they need. Only with the last one they count.
func (j *records) write(ctx context.Context, records []control.Record, whole bool) error {
	for part := 0; ; part++ {
		n, size := 0, 0
		for n < len(records) && size < most {
			size += len(records[n].Key) + len(records[n].Data)
			n++
		}
		e := entry{Part: part, More: n < len(records), Whole: whole, Records: records[:n]}
		if err := j.add(ctx, &e); err != nil || !e.More {
			return err
		}
		records = records[n:]
	}
}

// settle writes the whole state, and drops what was before.
func (j *records) settle(ctx context.Context) error {
	before := j.last
	if err := j.write(ctx, j.state().Records, true); err != nil {
		return err
	}
	return j.log.Forget(ctx, before+1)
}

// SetAside implements dispatch.Journal: the state begins anew, and what could be read of the old one is dropped.
func (j *records) SetAside(ctx context.Context) (string, error) {
	err := j.log.Scan(ctx, 1, func(sequence uint64, data []byte) error {
		var e entry
		_ = json.Unmarshal(data, &e) // one that cannot be read has no term
		j.last, j.newest = sequence, max(j.newest, e.Term)
		return nil
	})
	if err == nil {
		j.term, j.pending = j.newest+1, nil
		clear(j.live)
		err = j.write(ctx, nil, true)
	}
	if err == nil {
		err = j.log.Forget(ctx, j.last)
	}
	if err != nil {
		return "", fault.E("term.SetAside", fault.Unavailable, "", err)
	}
	return "dropped at all replicas", nil
}
