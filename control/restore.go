package control

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// metaState numbers go on after a restart.
type metaState struct {
	Order     uint64 `json:"order"`
	LastWrite uint64 `json:"last_write"`
}

// valueState is a value with its kind.
type valueState struct{ point.Value }

// MarshalJSON writes {"float":"22.5"}, {"int":"3"}, {"bool":"true"}, {"text":"auto"} or null.
func (v valueState) MarshalJSON() ([]byte, error) { return v.append(nil), nil }

func (v valueState) append(dst []byte) []byte {
	if v.Kind() == point.None {
		return append(dst, "null"...)
	}
	dst = append(append(append(dst, `{"`...), v.Kind().String()...), `":`...)
	return append(point.AppendQuoted(dst, v.String()), '}')
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (v *valueState) UnmarshalJSON(data []byte) error {
	var fields map[string]string
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("a value is no object: %w", err)
	}
	if len(fields) > 1 {
		return errors.New("a value has more than one kind")
	}
	for name, text := range fields {
		value, err := parseValue(name, text)
		if err != nil {
			return err
		}
		v.Value = value
	}
	return nil
}

func parseValue(name, text string) (point.Value, error) {
	switch kind, _ := point.ParseKind(name); kind {
	case point.Float:
		f, err := strconv.ParseFloat(text, 64)
		return point.FloatOf(f), err
	case point.Int:
		i, err := strconv.ParseInt(text, 10, 64)
		return point.IntOf(i), err
	case point.Bool:
		b, err := strconv.ParseBool(text)
		return point.BoolOf(b), err
	case point.Text:
		return point.TextOf(text), nil
	case point.None:
	}
	return point.Value{}, fmt.Errorf("%q is no kind of value", name)
}

// commandState is a Command with its times.
type commandState struct {
	ID        string        `json:"id"`
	Point     point.Path    `json:"point"`
	Requester string        `json:"requester"`
	Task      string        `json:"task,omitempty"`
	Level     Level         `json:"level"`
	Value     valueState    `json:"value"`
	Reason    string        `json:"reason,omitempty"`
	Lease     time.Duration `json:"lease,omitempty"`
	Order     uint64        `json:"order"`
	Since     time.Time     `json:"since"`
	Until     time.Time     `json:"until,omitzero"`
	Fresh     bool          `json:"fresh,omitempty"`   // the device has not taken it yet
	Returns   bool          `json:"returns,omitempty"` // the point was on its way back before it
	Reverts   time.Time     `json:"reverts,omitzero"`  // when it ends because somebody reverts its point
	Reverter  string        `json:"reverter,omitempty"`
	Prior     *commandState `json:"prior,omitempty"` // what it has replaced, to come back if the device refuses
}

func stateOfCommand(c *Command, order uint64, since, until time.Time) commandState {
	return commandState{
		ID: c.ID, Point: c.Point, Requester: c.Requester, Task: c.Task, Level: c.Level,
		Value: valueState{c.Value}, Reason: c.Reason, Lease: c.Lease, Order: order, Since: since, Until: until,
	}
}

func (s *commandState) command() Command {
	return Command{
		ID: s.ID, Point: s.Point, Requester: s.Requester, Task: s.Task, Level: s.Level,
		Value: s.Value.Value, Reason: s.Reason, Lease: s.Lease,
	}
}

// taskState is a task with the windows that are left.
type taskState struct {
	Requester string   `json:"requester"`
	Priority  Priority `json:"priority"`
	Reason    string   `json:"reason,omitempty"`
	Order     uint64   `json:"order"`
	Started   bool     `json:"started,omitempty"`
	Preempted bool     `json:"preempted,omitempty"`
	Windows   []Window `json:"windows"`
}

func stateOfTask(t *task) taskState {
	s := taskState{Requester: t.Requester, Priority: t.Priority, Reason: t.Reason, Order: t.order, Started: t.started, Preempted: t.preempted}
	for _, w := range t.windows {
		s.Windows = append(s.Windows, w.Window)
	}
	return s
}

// overrideState is an override with its times.
type overrideState struct {
	Requester string        `json:"requester"`
	Reason    string        `json:"reason,omitempty"`
	Length    time.Duration `json:"length,omitempty"`
	Failsafe  bool          `json:"failsafe,omitempty"`
	Order     uint64        `json:"order"`
	Since     time.Time     `json:"since"`
	Until     time.Time     `json:"until,omitzero"`
}

func (m *Model) stateOfOverride(o *override) overrideState {
	return overrideState{
		Requester: o.Requester, Reason: o.Reason, Length: o.Length, Failsafe: o.Failsafe,
		Order: o.order, Since: o.since, Until: o.holder(m).Until,
	}
}

// workState is what is known of a commanded point.
type workState struct {
	Commands  []commandState `json:"commands,omitempty"`
	Before    valueState     `json:"before"`
	Reverting bool           `json:"reverting,omitempty"`
	Failsafe  bool           `json:"failsafe,omitempty"`
	Undo      bool           `json:"undo,omitempty"`    // the revert is to what the point had before a command that was declined in part
	Partial   bool           `json:"partial,omitempty"` // the device may have a part of a value that it declined
	Output    Output         `json:"output"`
	Held      valueState     `json:"held"`
	Reported  valueState     `json:"reported"`
	Changed   time.Time      `json:"changed,omitzero"`
	Turned    time.Time      `json:"turned,omitzero"`

	AssertAt    time.Time     `json:"assert_at,omitzero"`     // what the point loses is not written again before
	AssertPause time.Duration `json:"assert_pause,omitempty"` // after the next such write

	Told     bool          `json:"told,omitempty"`      // that there is a mismatch
	SayAt    time.Time     `json:"say_at,omitzero"`     // the next one is not told before
	SayPause time.Duration `json:"say_pause,omitempty"` // after the next one that is told

	Sent *sentState `json:"sent,omitempty"` // the write that is under way
	Text string     `json:"text,omitempty"`
}

// sentState is a Write.
type sentState struct {
	ID        uint64     `json:"id"`
	Value     valueState `json:"value"`
	Release   bool       `json:"release,omitempty"`
	Read      bool       `json:"read,omitempty"`
	Level     Level      `json:"level,omitempty"`
	Cause     Cause      `json:"cause,omitempty"`
	Requester string     `json:"requester,omitempty"`
	Command   string     `json:"command,omitempty"`
}

func (m *Model) stateOfWork(w *work) workState {
	s := workState{
		Before: valueState{w.before}, Reverting: w.reverting, Failsafe: w.failsafe, Undo: w.undo, Partial: w.partial, Output: w.state,
		Held: valueState{w.held}, Reported: valueState{w.reported}, Text: w.text,
	}
	if sent := &w.sent; sent.ID != 0 {
		s.Sent = &sentState{sent.ID, valueState{sent.Value}, sent.Release, sent.Read, sent.Level, sent.Cause, sent.Requester, sent.Command}
	}
	if w.changedAt > 0 {
		s.Changed = m.now.at(w.changedAt)
	}
	if w.turnedAt > 0 {
		s.Turned = m.now.at(w.turnedAt)
	}
	if w.assertPause > 0 {
		s.AssertAt, s.AssertPause = m.now.at(w.assertAt), w.assertPause
	}
	if s.Told = w.told; w.sayPause > 0 {
		s.SayAt, s.SayPause = m.now.at(w.sayAt), w.sayPause
	}
	for _, c := range w.commands {
		s.Commands = append(s.Commands, m.stateOf(c))
	}
	return s
}

func (m *Model) stateOf(c *command) commandState {
	s := stateOfCommand(&c.Command, c.order, c.since, time.Time{})
	if c.ends > 0 {
		s.Until = m.now.at(c.ends)
	}
	if c.revert.at > 0 {
		s.Reverts, s.Reverter = m.now.at(c.revert.at), c.revert.by
	}
	s.Fresh, s.Returns = c.fresh, c.aside.reverting
	if c.aside.prior != nil {
		prior := m.stateOf(c.aside.prior)
		s.Prior = &prior
	}
	return s
}

func (m *Model) stateOfProposal(p *proposal) commandState {
	return stateOfCommand(&p.Command, p.order, p.since, m.now.at(p.ends))
}

// answerState is a remembered decision.
type answerState struct {
	Requester string    `json:"requester"`
	ID        string    `json:"id"`
	Order     uint64    `json:"order"`
	Mark      uint64    `json:"mark"`
	Status    Status    `json:"status"`
	Why       Why       `json:"why,omitempty"`
	Kind      string    `json:"kind,omitempty"`
	Subject   string    `json:"subject,omitempty"`
	Text      string    `json:"text,omitempty"`
	Holders   []Holder  `json:"holders,omitempty"`
	Lost      []Holder  `json:"lost,omitempty"`
	Until     time.Time `json:"until,omitzero"`
	Later     time.Time `json:"later,omitzero"`
	Wins      bool      `json:"wins,omitempty"`
}

func stateOfAnswer(r ref, a *answer) answerState {
	d := &a.decision
	s := answerState{
		Requester: r.requester, ID: r.id, Order: a.order, Mark: a.mark, Status: d.Status, Why: d.Why,
		Holders: d.Holders, Lost: d.Lost, Until: d.Until, Later: d.Later, Wins: d.Wins,
	}
	if d.Err != nil {
		s.Kind, s.Subject, s.Text = d.Err.Kind.String(), d.Err.Subject, d.Err.Err.Error()
	}
	return s
}

// restore takes one record over.
func (m *Model) restore(r *Record, answers *[]keptAnswer) error {
	if r.Data == nil {
		return nil
	}
	switch r.Kind {
	case recordMeta:
		return restoreAs(r, func(s *metaState) error {
			m.order, m.lastWrite = s.Order, s.LastWrite
			return nil
		})
	case recordTask:
		return restoreAs(r, func(s *taskState) error { return m.restoreTask(r.Key, s) })
	case recordOverride:
		return restoreAs(r, func(s *overrideState) error { return m.restoreOverride(point.Pattern(r.Key), s) })
	case recordPoint:
		return restoreAs(r, func(s *workState) error { return m.restoreWork(point.Path(r.Key), s) })
	case recordProposal:
		return restoreAs(r, m.restoreProposal)
	case recordAnswers:
		return restoreAs(r, func(list *[]answerState) error {
			for _, s := range *list {
				*answers = append(*answers, keptAnswer{s, r.Key})
			}
			return nil
		})
	case recordAnswer:
		m.touch(recordAnswer, r.Key) // it is gone when its sheet is kept
		return restoreAs(r, func(s *answerState) error {
			*answers = append(*answers, keptAnswer{*s, ""})
			return nil
		})
	}
	return fmt.Errorf("%q is no kind of record", r.Kind)
}

func restoreAs[T any](r *Record, take func(*T) error) error {
	var content T
	if err := json.Unmarshal(r.Data, &content); err != nil {
		return err
	}
	return take(&content)
}

func (m *Model) restoreTask(name string, s *taskState) error {
	t := &task{
		Reservation: Reservation{Requester: s.Requester, Task: name, Priority: s.Priority, Windows: s.Windows, Reason: s.Reason},
		order:       s.Order, started: s.Started, preempted: s.Preempted, commands: make(map[*command]struct{}),
	}
	if len(s.Windows) == 0 || m.tasks[name] != nil {
		return errors.New("the task has no windows, or is there twice")
	}
	for i := range s.Windows {
		w := &s.Windows[i]
		if !w.From.Before(w.Until) || w.From.Year() < firstYear || w.Until.Year() > lastYear {
			return fmt.Errorf("window %d ends before it starts, or is centuries away", i+1)
		}
	}
	m.tasks[name] = t
	for _, w := range s.Windows {
		m.addWindow(t, w)
	}
	return nil
}

// endOf returns the steady moment at which a length is over that was to last until a time.
func (m *Model) endOf(length time.Duration, until time.Time) time.Duration {
	return max(m.now.Steady+max(min(until.Sub(m.now.Wall), length), 0), 1)
}

func (m *Model) restoreOverride(pattern point.Pattern, s *overrideState) error {
	if m.overrides[pattern] != nil || s.Length < 0 || s.Length > maxLength {
		return errors.New("the override is there twice, or has no length that there can be")
	}
	o := m.impose(Override{Pattern: pattern, Requester: s.Requester, Reason: s.Reason, Failsafe: s.Failsafe})
	o.order, o.since = s.Order, s.Since
	if s.Length > 0 {
		o.Length, o.ends = s.Length, m.endOf(s.Length, s.Until)
		m.steady.set(&o.alarm, o, int64(o.ends))
	}
	return nil
}

func (m *Model) restoreWork(path point.Path, s *workState) error {
	t := m.targets[path]
	if t != nil && t.work != nil {
		return errors.New("the point is there twice")
	}
	gone := t == nil || !t.spec.Writable
	if gone {
		t = &target{spec: &Spec{Point: path}}
	}
	w := t.working()
	w.before, w.reverting, w.failsafe, w.state = s.Before.Value, s.Reverting, s.Failsafe, s.Output
	w.undo, w.partial = s.Undo, s.Partial
	w.held, w.reported, w.text = s.Held.Value, s.Reported.Value, s.Text
	w.changedAt, w.turnedAt = m.ago(s.Changed), m.ago(s.Turned)
	w.told = s.Told
	w.assertAt, w.assertPause = m.restoreBound(s.AssertAt, s.AssertPause)
	w.sayAt, w.sayPause = m.restoreBound(s.SayAt, s.SayPause)
	if s.Sent != nil {
		m.interrupted(path, s.Sent)
	}
	if s.Sent != nil || w.state == Writing {
		w.state = Unknown
	}
	for i := range s.Commands {
		if err := m.restoreCommand(t, &s.Commands[i]); err != nil {
			return err
		}
	}
	slices.SortFunc(w.commands, func(a, b *command) int { return cmp.Compare(a.Level, b.Level) })
	for _, c := range slices.Clone(w.commands) {
		if gone {
			m.end(c, CauseRemoved)
		}
	}
	return nil
}

// restoreBound has a point that lost its value before a restart written again, and that told, no sooner than without one.
// Whatever the clock says, that is no later than after one pause.
func (m *Model) restoreBound(at time.Time, pause time.Duration) (time.Duration, time.Duration) {
	if pause <= 0 || at.IsZero() {
		return 0, 0
	}
	return m.now.Steady + min(at.Sub(m.now.Wall), pause), pause
}

// interrupted tells of a write whose outcome nobody waited for.
func (m *Model) interrupted(path point.Path, s *sentState) {
	if s.Read {
		return
	}
	m.event(Event{
		Kind: WriteUnknown, Cause: s.Cause, Value: s.Value.Value, Write: s.ID, Fault: fault.Timeout, Text: "the node stopped before the answer came",
		Holder: Holder{Requester: s.Requester, Command: s.Command, Path: path, Level: s.Level},
	})
}

func (m *Model) restoreCommand(t *target, s *commandState) error {
	switch {
	case s.Level < 1 || s.Level > Levels || t.at(s.Level) != nil:
		return fmt.Errorf("two commands have level %d, or there is no such level", s.Level)
	case s.Point != t.spec.Point || m.commands[ref{s.Requester, s.ID}] != nil:
		return fmt.Errorf("the command %q of %s is in the wrong place", s.ID, s.Requester)
	case s.Lease < 0 || s.Lease > maxLength:
		return fmt.Errorf("the command %q has a lease of %v", s.ID, s.Lease)
	}
	c := m.commandOf(t, s)
	if s.Prior != nil && s.Fresh {
		c.aside.prior = m.commandOf(t, s.Prior)
	}
	t.work.commands = append(t.work.commands, c)
	m.index(c)
	m.arm(c)
	return nil
}

// commandOf makes a command of what was kept, without having it take effect.
func (m *Model) commandOf(t *target, s *commandState) *command {
	c := &command{Command: s.command(), order: s.Order, since: s.Since, target: t, fresh: s.Fresh, aside: aside{reverting: s.Returns}}
	if c.Lease > 0 {
		c.ends = m.endOf(c.Lease, s.Until)
	}
	if !s.Reverts.IsZero() {
		c.revert = due{m.endOf(maxSpread, s.Reverts), s.Reverter}
	}
	return c
}

// ago returns the steady moment of a time in the past. What was before this clock began counts as its
// beginning, so minimum times may last longer after a restart, never shorter.
func (m *Model) ago(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(m.now.Steady-max(m.now.Wall.Sub(t), 0), 1)
}

func (m *Model) restoreProposal(s *commandState) error {
	if m.proposals[ref{s.Requester, s.ID}] != nil {
		return errors.New("the command is there twice")
	}
	p := &proposal{Command: s.command(), order: s.Order, since: s.Since}
	p.ends = m.endOf(m.limits.Patience, s.Until)
	m.proposals[ref{p.Requester, p.ID}] = p
	m.steady.set(&p.alarm, p, int64(p.ends))
	return nil
}

// keptAnswer is an answer, and the sheet on which it was kept; "" if it was kept alone.
type keptAnswer struct {
	answerState
	sheet string
}

// restoreAnswers takes the remembered decisions over, in the order of their making. A sheet may hold some
// that were forgotten long ago: those are older than all others.
func (m *Model) restoreAnswers(answers []keptAnswer) {
	slices.SortStableFunc(answers, func(a, b keptAnswer) int { return cmp.Compare(a.Order, b.Order) })
	last := make(map[ref]int, len(answers))
	for i := range answers {
		last[ref{answers[i].Requester, answers[i].ID}] = i
	}
	for i := range answers {
		s := &answers[i]
		if r := (ref{s.Requester, s.ID}); last[r] == i {
			m.restoreAnswer(r, s)
		}
	}
	m.answers.open = nil
}

func (m *Model) restoreAnswer(r ref, s *keptAnswer) {
	d := Decision{Status: s.Status, Why: s.Why, Holders: s.Holders, Lost: s.Lost, Until: s.Until, Later: s.Later, Wins: s.Wins}
	if s.Kind != "" {
		kind, _ := fault.ParseKind(s.Kind)
		d.Err = fault.E("control.once", kind, s.Subject, errors.New(s.Text))
	}
	a := &m.answers
	if s.sheet == "" {
		a.order = max(a.order, s.Order-min(s.Order, 1))
		m.remember(r, s.Mark, d)
		return
	}
	a.order = max(a.order, s.Order)
	if over := a.add(r, &answer{order: s.Order, mark: s.Mark, decision: d, sheet: a.sheet(s.sheet)}); over != "" {
		m.touch(recordAnswers, over)
	}
}
