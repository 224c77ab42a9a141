package service

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/ingest"
	"voltbus/point"
	"voltbus/wire"
)

// raw is JSON that is decoded later.
type raw = json.RawMessage

// record are the arguments of the method.
type record struct {
	Samples raw    `json:"samples"`
	Key     string `json:"key"`
}

// Scan decodes arguments in their usual form; false if encoding/json must do it.
func (in *record) Scan(text []byte) bool {
	var samples, key []byte
	r := wire.NewReader(text)
	ok := r.Members(func(name []byte) (ok bool) {
		switch {
		case string(name) == "samples" && samples == nil:
			samples, ok = r.Value()
		case string(name) == "key" && key == nil:
			key, ok = r.Plain()
		}
		return ok
	}) && r.Ended()
	if ok {
		in.Samples, in.Key = samples, string(key)
	}
	return ok
}

const (
	maxKey      = 255
	maxProblems = 100 // problems listed in an answer
	answered    = 200 // the status of a repeat with a stored answer
)

var (
	errNoSamples = errors.New(`must be a list such as [{"point":"a/b","time":"2026-01-31T12:00:00Z","value":21.5}]`)
	errTooMany   = fmt.Errorf("there are more than %d; send them in parts", MaxSamples)
	errKey       = fmt.Errorf("a key has at most %d printable ASCII characters", maxKey)
	errKeyReuse  = errors.New("this key came with other samples before; choose a new key for new samples")
	errNotWhole  = errors.New("nothing was recorded, because some of the samples may not be; problems says which and why")
)

// parsers is a pool of parsers, which cache paths.
type parsers struct{ pool sync.Pool }

func (p *parsers) get() *ingest.Parser {
	if parser, ok := p.pool.Get().(*ingest.Parser); ok {
		return parser
	}
	return ingest.NewParser()
}

// record keeps samples durably, all or none.
func (s *Service) record(ctx context.Context, r *request) ([]byte, error) {
	const op = "service.record"
	if s.cfg.Admission == nil {
		return nil, absent("record")
	}
	var in record
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if len(in.Samples) == 0 || in.Samples[0] != '[' {
		return nil, fault.E(op, fault.Invalid, "samples", errNoSamples)
	}
	if in.Key == "" || s.cfg.Repeats == nil {
		return s.keep(ctx, r, in.Samples, s.cfg.Now())
	}
	if len(in.Key) > maxKey || slices.ContainsFunc([]byte(in.Key), func(c byte) bool { return c < 0x20 || c >= 0x7f }) {
		return nil, fault.E(op, fault.Invalid, "key", errKey)
	}
	return s.once(ctx, r, &in)
}

// once records samples with a key, or returns the earlier answer. Samples without a time get the time of the first
// attempt. The answer is stored after it is sent: if the node stops in between, the same samples are recorded
// again with their times, as if it had stopped before answering.
func (s *Service) once(ctx context.Context, r *request, in *record) ([]byte, error) {
	const op = "service.record"
	who := "agent:" + r.agent.Name // no person can have this name
	unlock, err := s.writing.Lock(ctx, [2]string{who, in.Key})
	if err != nil {
		return nil, fault.E(op, fault.KindOf(err), in.Key, fmt.Errorf("wait for the first request: %w", err))
	}
	ends := true
	defer func() {
		if ends {
			unlock()
		}
	}()
	asked := catalog.Repeat{
		User: who, Key: in.Key, Hash: sha256.Sum256(in.Samples), At: s.cfg.Now().UTC().Truncate(time.Microsecond),
	}
	r.waits() // for the disk, so that concurrent requests share one write
	known, err := s.cfg.Repeats.BeginRepeat(ctx, asked)
	switch {
	case err != nil:
		return nil, err
	case known.Hash != asked.Hash:
		return nil, fault.E(op, fault.Conflict, in.Key, errKeyReuse)
	case known.Status != 0:
		return known.Answer, nil
	}
	out, err := s.keep(ctx, r, in.Samples, known.At)
	if err != nil {
		return nil, err
	}
	known.Status, known.Answer, known.Sent = answered, out, true
	ends = false
	r.afterwards(func() {
		defer unlock()
		if err := s.cfg.Repeats.EndRepeat(context.WithoutCancel(ctx), known); err != nil {
			s.cfg.Log.LogAttrs(ctx, slog.LevelWarn, "answer to a record with a key is not kept: asked again, it records again",
				slog.String("agent", r.agent.Name), slog.String("key", in.Key), slog.Any("err", err))
		}
	})
	return out, nil
}

// keep decodes the samples, and records them unless any is refused.
func (s *Service) keep(ctx context.Context, r *request, samples []byte, now time.Time) ([]byte, error) {
	a, err := active(s.cfg.Registry, r.agent.Name) // the request may have waited for its turn
	if err != nil {
		return nil, err
	}
	w := &whole{may: a.Grants.MayRecord, checked: map[point.Path]error{}}
	parser := s.parsers.get()
	defer s.parsers.pool.Put(parser)
	report, err := parser.Parse(ingest.JSON, samples, ingest.Options{Now: now, Bounds: s.cfg.Bounds}, w.take)
	if err != nil {
		return nil, err
	}
	if err := w.verdict(report); err != nil {
		return nil, err
	}
	n := len(w.batch.Samples)
	w.batch.Report = report
	r.waits() // for the disk
	if err := s.cfg.Admission.RecordWhole(ctx, &w.batch); err != nil {
		return nil, err
	}
	if err := w.verdict(report); err != nil {
		return nil, err
	}
	out := strconv.AppendInt([]byte(`{"accepted":`), int64(n), 10)
	if report.Misdated > 0 {
		out = strconv.AppendInt(append(out, `,"misdated":`...), int64(report.Misdated), 10)
	}
	return append(out, '}'), nil
}

// whole collects a batch of which all samples must pass.
type whole struct {
	batch   ingest.Batch
	may     func(point.Path) error
	checked map[point.Path]error
	missing error // the first refusal
}

// take adds a part of the samples. Those that may not be recorded are refused.
func (w *whole) take(b *ingest.Batch) error {
	if len(w.batch.Samples)+len(b.Samples) > MaxSamples {
		return fault.E("service.record", fault.Invalid, "samples", errTooMany)
	}
	b.Drop(func(s *point.Sample) error {
		err, seen := w.checked[s.Point]
		if !seen {
			err = w.may(s.Point)
			w.checked[s.Point] = err
		}
		if err != nil && w.missing == nil {
			w.missing = err
		}
		return err
	})
	w.batch.Samples = append(w.batch.Samples, b.Samples...)
	w.batch.Lines = append(w.batch.Lines, b.Lines...)
	for p, unit := range b.Units {
		if w.batch.Units == nil {
			w.batch.Units = map[point.Path]string{}
		}
		w.batch.Units[p] = unit
	}
	return nil
}

// verdict returns nil if nothing was refused. Invalid samples take precedence over forbidden ones.
func (w *whole) verdict(report *ingest.Report) error {
	if report.Refused == 0 {
		return nil
	}
	kind, list := fault.Refused, []wire.Problem{}
	for _, e := range report.Errors {
		if e.Kind != fault.Refused {
			kind = e.Kind
		}
		if len(list) < maxProblems {
			list = append(list, wire.Problem{Index: e.Line - 1, Message: problemText(&e)})
		}
	}
	err := errNotWhole
	if kind == fault.Refused && w.missing != nil {
		if m, ok := errors.AsType[*identity.Missing](w.missing); ok {
			err = fmt.Errorf("%w: %w", errNotWhole, m)
		}
	}
	return fault.E("service.record", kind, "samples", &problems{list, err})
}

func problemText(e *ingest.Error) string {
	if e.Point == "" {
		return e.Detail
	}
	return string(e.Point) + ": " + e.Detail
}
