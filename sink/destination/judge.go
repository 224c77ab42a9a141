package destination

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/judge"
	"voltbus/judge/aside"
	"voltbus/judge/setting"
	"voltbus/point"
)

// bench judges what is sent to one destination. What its rules remember is kept in a file from time to time, with the position in the log
// that it belongs to: after a crash or a failed attempt, blocks from there on are judged again, and so have the same verdicts. A nil bench
// believes everything.
type bench struct {
	name  string
	rules setting.Rules
	kept  *aside.File
	file  string
	log   *slog.Logger
	now   func() time.Time

	judge   *judge.Judge // nil after a failure
	saved   recollection
	last    time.Time // when it was saved
	judged  uint64    // the last block
	points  []*judge.Point
	held    []Refused // of the rows that are being sent
	pending bool      // some of the file are beyond the position

	functions *judge.Panel
	verdicts  judge.Findings // of functions, until the position is behind the block
}

// recollection is the content of the file: what rules remember of the readings up to a position.
type recollection struct {
	Log      string       `json:"log"`
	Sequence uint64       `json:"sequence"`
	Memory   judge.Memory `json:"memory"`
}

func withheldName(dir, name string) string { return filepath.Join(dir, folder, name+".withheld") }

func memoryFile(dir, name string) string { return filepath.Join(dir, folder, name+".judge") }

// rememberEvery bounds what is judged again after a failure.
const rememberEvery = 10 * time.Second

// openBench makes the bench of the destination, if rules hold for it or readings are kept from when some did.
func (t *target) openBench() error {
	rules := t.cfg.Judge.For(t.entry.Name)
	kept, err := aside.Open(withheldName(t.cfg.Dir, t.entry.Name))
	if err != nil || (len(rules) == 0 && kept.Len() == 0) {
		return err
	}
	t.bench = &bench{name: t.entry.Name, rules: rules, kept: kept, file: memoryFile(t.cfg.Dir, t.entry.Name), log: t.log, now: t.cfg.Now, pending: true}
	t.bench.open(t.cfg)
	return nil
}

// restore makes the judge again from what was saved, and forgets what was withheld beyond the position.
func (b *bench) restore(p *position) error {
	if b == nil || b.judge != nil {
		return nil
	}
	b.saved = recollection{}
	data, err := os.ReadFile(b.file)
	if err == nil {
		err = json.Unmarshal(data, &b.saved)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.log.Warn("what the rules for a destination remember cannot be read, and they begin anew", slog.Any("err", err))
	}
	if err != nil || b.saved.Log != p.Log || b.saved.Sequence > p.Sequence { // the position is of an older copy of the directory
		b.saved = recollection{Log: p.Log, Sequence: p.Sequence}
	}
	if b.pending {
		if err := b.kept.Fence(p.Log, p.Sequence); err != nil {
			return err
		}
		b.pending = false
	}
	b.judge, b.held = judge.New(b.rules, b.saved.Memory), b.held[:0]
	return nil
}

// forget has the judge begin again where it was saved.
func (b *bench) forget() {
	if b != nil {
		b.judge = nil
	}
}

// from returns where in the log judging begins, at or before the position.
func (b *bench) from(p *position) uint64 {
	if b == nil || b.judge == nil {
		return p.Sequence
	}
	return b.saved.Sequence
}

// of returns what rules know of the points of a block; nil if there are no rules.
func (b *bench) of(block *point.Block) []*judge.Point {
	if b == nil {
		return nil
	}
	if b.judged = block.LogSequence; len(b.rules) == 0 {
		return nil
	}
	b.points = b.points[:0]
	for _, path := range block.Points {
		b.points = append(b.points, b.judge.Point(path))
	}
	return b.points
}

// replay judges a block that was sent before.
func (b *bench) replay(block *point.Block) {
	judged := b.of(block)
	for i := range block.Point {
		if judged != nil {
			judged[block.Point[i]].Judge(block.Time[i], block.Value(i), block.Quality[i])
		}
	}
}

// found counts what a rule found, and reports whether the reading is withheld.
func (b *bench) found(block *point.Block, i int, v *judge.Verdict, shape *Shape, p *position) bool {
	rule := b.rules[v.Rule].Name
	c := p.Rules[rule]
	c.Add(v)
	if v.Withheld {
		p.Withheld++
		row := Row{Shape: shape, Time: block.Time[i], Value: shape.convert(block.Value(i)), Quality: block.Quality[i]}
		one := refusedOf(&row, b.now(), v.Reason)
		one.Rule, one.Log, one.Sequence = rule, block.Log, block.LogSequence
		b.held = append(b.held, one)
	}
	if p.Rules == nil {
		p.Rules = map[string]RuleCounts{}
	}
	p.Rules[rule] = c
	return v.Withheld
}

// settle keeps what was withheld of the rows that were sent, before the position moves. Without room it is counted only: who can
// produce many readings that rules withhold must not be able to stop the others.
func (b *bench) settle(p *position) error {
	if b == nil || len(b.held) == 0 {
		return nil
	}
	b.pending = true
	fits, err := b.kept.Keep(b.held)
	if err != nil {
		return err
	}
	if !fits {
		p.Unkept += uint64(len(b.held))
	}
	b.held = b.held[:0]
	return nil
}

// end saves what rules remember, if an attempt was successful and it is time. After a failure they begin again where they were saved.
func (b *bench) end(p *position, err error, now time.Time) error {
	if b == nil {
		return err
	}
	if err != nil {
		b.forget()
		return err
	}
	b.pending = false
	soon := now.Sub(b.last) < rememberEvery && !now.Before(b.last)
	if soon || b.judged != p.Sequence { // not all that was sent before is judged again
		return nil
	}
	saved := recollection{Log: p.Log, Sequence: p.Sequence, Memory: b.judge.Memory()}
	data, err := json.Marshal(&saved)
	if err == nil {
		err = (atomicfile.Writer{}).Write(b.file, data, 0o600)
	}
	if err != nil { // more is judged again after the next failure
		b.log.Warn("what the rules for a destination remember cannot be kept", slog.Any("err", err))
		return nil
	}
	b.last, b.saved = now, recollection{Log: saved.Log, Sequence: saved.Sequence}
	return nil
}

// RuleState is what a rule found in the readings for a destination.
type RuleState struct {
	Name, Check string
	RuleCounts
	judge.FunctionState // of the check function

	Failure string // what becomes of readings while a function gives no answer
}

func (b *bench) state(p *position) (held int, list []RuleState) {
	if b == nil {
		return 0, nil
	}
	for i := range b.rules {
		r := &b.rules[i]
		list = append(list, RuleState{Name: r.Name, Check: r.Check, RuleCounts: p.Rules[r.Name], Failure: r.Failure})
	}
	for i, s := range b.functions.States() {
		list[i].FunctionState = s
	}
	return b.kept.Len(), list
}

func (d *Destinations) benchOf(op, name, rule string) (*target, error) {
	t, err := d.find(op, name)
	if err != nil {
		return nil, err
	}
	if t.bench == nil {
		return nil, fault.E(op, fault.NotFound, name, errors.New("no rule holds for this destination; voltbus judge list shows the rules"))
	}
	if rule != "" && !t.bench.knows(rule) {
		return nil, fault.E(op, fault.NotFound, rule, fmt.Errorf("this rule neither holds for the destination %s, nor are readings kept that it withheld; voltbus judge list shows the rules", name))
	}
	return t, nil
}

func (b *bench) knows(rule string) bool {
	for i := range b.rules {
		if b.rules[i].Name == rule {
			return true
		}
	}
	list, _, err := b.kept.Of(rule)
	return err == nil && len(list) > 0
}

// Withheld returns readings that a rule withheld from a destination and that are kept, oldest first, after skipping some; of all rules for no rule.
func (d *Destinations) Withheld(name, rule string, skip, limit int) ([]Refused, error) {
	t, err := d.benchOf("judge.withheld", name, rule)
	if err != nil {
		return nil, err
	}
	list, _, err := t.bench.kept.Of(rule)
	list = list[min(skip, len(list)):]
	return list[:min(limit, len(list))], err
}

// Release sends readings that a rule withheld, and returns how many the destination accepted.
func (d *Destinations) Release(ctx context.Context, name, rule string) (accepted int, err error) {
	t, err := d.benchOf("judge.release", name, rule)
	if err != nil {
		return 0, err
	}
	return t.resend(ctx, t.bench.kept, rule, func(c *Counts, n uint64) { c.Released += n })
}

// Dismiss forgets readings that a rule withheld, and returns how many.
func (d *Destinations) Dismiss(name, rule string) (n int, err error) {
	t, err := d.benchOf("judge.discard", name, rule)
	if err != nil {
		return 0, err
	}
	t.work.Lock()
	defer t.work.Unlock()
	list, rest, err := t.bench.kept.Of(rule)
	if err == nil {
		err = t.bench.kept.Replace(rest)
	}
	if err != nil {
		return 0, err
	}
	return len(list), t.count(func(c *Counts) { c.Dismissed += uint64(len(list)) })
}
