package modbus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	wire "github.com/simonvetter/modbus"

	"voltbus/driver"
	"voltbus/driver/modbus/layout"
	"voltbus/fault"
	"voltbus/point"
)

// retryRefused is the interval after which a refused register is requested again.
const retryRefused = 10 * time.Minute

// patience is how many times in a row a device may answer "device failure" to one request, while it answers
// others, before the request is split.
const patience = 3

// session is one unit on a line.
type session struct {
	line      *line
	unit      uint8
	multiple  *bool
	registers []register
	byName    map[string]int
	planner   *planner
	results   []result // by register: the result of the last request
	refusals  []refusal
	answered  bool // the unit has given data at least once

	names     []string  // names for which requests are planned
	requests  []request // nil if they must be replanned
	renew     time.Time // when a refused register may be requested again
	diagnosis error     // of the last read, for Diagnose
}

// result is the result of a request for one register.
type result struct {
	words   []uint16
	quality point.Quality
	time    time.Time
}

// refusal is a register that the device refuses.
type refusal struct {
	until   time.Time // time of the next request; kept until that gives data; zero if not refused
	quality point.Quality
}

// Open implements driver.Line. It causes no traffic.
func (l *line) Open(_ context.Context, cfg driver.Config) (driver.Session, error) {
	const op = "modbus.Open"
	c, ok := cfg.(*Config)
	if !ok || c.LineName() != l.name {
		return nil, fault.E(op, fault.Internal, l.name, fmt.Errorf("configuration %T is not for this line", cfg))
	}
	if l.lost != nil {
		return nil, fault.E(op, fault.Unreachable, l.name, fmt.Errorf("%w: %w", driver.ErrNotConnected, l.lost))
	}
	if c.settings() != l.set {
		return nil, fault.E(op, fault.Invalid, l.name,
			errors.New("devices on one line differ in timeout or serial settings; write the same for all of them"))
	}
	c.compile()
	s := &session{
		line: l, unit: uint8(c.Unit), multiple: c.WriteMultiple, registers: c.registers,
		byName:   make(map[string]int, len(c.registers)),
		planner:  newPlanner(c.registers, c.MaxRegisters, c.MaxGap),
		results:  make([]result, len(c.registers)),
		refusals: make([]refusal, len(c.registers)),
	}
	for i := range c.registers {
		s.byName[c.registers[i].name] = i
	}
	return s, nil
}

// Diagnose implements driver.Diagnoser.
func (s *session) Diagnose() error { return s.diagnosis }

// Close implements driver.Session. The line stays open.
func (s *session) Close() error { return nil }

// Read implements driver.Session.
func (s *session) Read(ctx context.Context, names []string) ([]point.Sample, error) {
	if err := s.request(ctx, names, time.Now()); err != nil {
		return nil, s.fail("modbus.Read", err)
	}
	samples := make([]point.Sample, len(names))
	now := time.Now().UTC().Truncate(time.Microsecond)
	for i, name := range names {
		samples[i] = point.Sample{Point: point.Path(name), Time: now, Quality: point.BadConfig}
		if r, known := s.byName[name]; known {
			s.sample(r, &samples[i])
		}
	}
	return samples, nil
}

// sample fills in what the requests gave for register r.
func (s *session) sample(r int, into *point.Sample) {
	if f := s.refusals[r]; !f.until.IsZero() {
		into.Quality = f.quality
		return
	}
	got := s.results[r]
	into.Time, into.Quality = got.time, got.quality
	if got.quality != point.Good {
		return
	}
	other, ok := s.other(r)
	if !ok {
		into.Quality = point.BadValue
		return
	}
	value, ok := s.registers[r].decode(got.words, other)
	if !ok {
		into.Quality = point.BadValue
		s.doubt(r)
		return
	}
	into.Value = value
}

// doubt marks a string with invalid encoding as uncertain, unless its quality is worse.
func (s *session) doubt(r int) {
	if l := &s.registers[r].layout; l.Form == layout.Text && s.diagnosis == nil {
		s.diagnosis = fault.E("", fault.Corrupt, "", fmt.Errorf(
			"%s is not UTF-8; if the device writes ISO 8859-1, its type is string[%d,latin1]", s.registers[r].name, l.Size))
	}
}

// other returns the value that register r is scaled by; true if it needs none.
func (s *session) other(r int) (float64, bool) {
	name := s.registers[r].change.other
	if name == "" {
		return 0, true
	}
	i := s.byName[name]
	got := s.results[i]
	if got.quality != point.Good || got.words == nil || !s.refusals[i].until.IsZero() {
		return 0, false
	}
	value, ok := s.registers[i].decode(got.words, 0)
	if !ok {
		return 0, false
	}
	number, ok := value.Number()
	return number, ok && !math.IsNaN(number)
}

// request reads the registers of the given names into results. An error concerns the whole device.
func (s *session) request(ctx context.Context, names []string, now time.Time) error {
	return s.pass(names, now, func(r request) ([]uint16, error) { return s.ask(ctx, r) })
}

// pass sends the requests for names one after the other.
func (s *session) pass(names []string, now time.Time, ask func(request) ([]uint16, error)) error {
	s.prepare(names, now)
	scan := scan{session: s, queue: slices.Clone(s.requests), began: now}
	for len(scan.queue) > 0 {
		r := scan.queue[0]
		scan.queue = scan.queue[1:]
		words, err := ask(r)
		if err := scan.judge(&r, words, err); err != nil {
			return err
		}
	}
	s.diagnosis = scan.diagnose()
	return scan.verdict
}

// prepare plans the requests, unless those of the last scan can be reused.
func (s *session) prepare(names []string, now time.Time) {
	if s.requests != nil && slices.Equal(names, s.names) && (s.renew.IsZero() || now.Before(s.renew)) {
		return
	}
	wanted := make([]bool, len(s.registers))
	for _, name := range names {
		if i, known := s.byName[name]; known {
			wanted[i] = true
			if o, scaled := s.byName[s.registers[i].change.other]; scaled {
				wanted[o] = true
			}
		}
	}
	s.renew = time.Time{}
	for i, f := range s.refusals {
		if wanted[i] && now.Before(f.until) {
			wanted[i] = false
			if s.renew.IsZero() || f.until.Before(s.renew) {
				s.renew = f.until
			}
		}
	}
	s.names = slices.Clone(names)
	s.requests = s.planner.plan(func(i int) bool { return wanted[i] })
}

// ask sends one read and returns the words, one per bit for bit tables.
func (s *session) ask(ctx context.Context, r request) (words []uint16, err error) {
	var set []bool
	err = s.line.retry(ctx, s.unit, func(c *wire.ModbusClient) (err error) {
		switch r.table {
		case coil:
			set, err = c.ReadCoils(r.first, r.count)
		case discrete:
			set, err = c.ReadDiscreteInputs(r.first, r.count)
		case input:
			words, err = c.ReadRegisters(r.first, r.count, wire.INPUT_REGISTER)
		case holding:
			words, err = c.ReadRegisters(r.first, r.count, wire.HOLDING_REGISTER)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s %d–%d: %w", r.table, r.first, int(r.first)+int(r.count)-1, err)
	}
	if r.table.bits() {
		words = make([]uint16, len(set))
		for i, on := range set {
			if on {
				words[i] = 1
			}
		}
	}
	return words, nil
}

// fail converts the error of a request to the contract's.
func (s *session) fail(op string, err error) error {
	subject := fmt.Sprintf("unit %d at %s", s.unit, s.line.name)
	switch {
	case errors.Is(err, driver.ErrNotConnected):
		return fault.E(op, fault.Unreachable, s.line.name, err)
	case errors.Is(err, errNoAnswer):
		return fault.E(op, fault.Timeout, subject, fmt.Errorf("%w; check the unit number and that the device is on, or raise config.timeout for a slow device", err))
	case errors.Is(err, errGarbled):
		return fault.E(op, fault.Corrupt, subject, err)
	case errors.Is(err, wire.ErrGWPathUnavailable), errors.Is(err, wire.ErrGWTargetFailedToRespond):
		return fault.E(op, fault.Unreachable, subject, fmt.Errorf("%w; check the unit number and that the device behind the gateway is on", err))
	case errors.Is(err, wire.ErrServerDeviceBusy):
		return fault.E(op, fault.Unavailable, subject, fmt.Errorf("%w; ask again in a moment", err))
	case errors.Is(err, errUnitFails):
		return fault.E(op, fault.Rejected, subject, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fault.E(op, fault.Timeout, subject, fmt.Errorf(
			"nothing was answered in the time that a scan may take; one request may take %v: make the device's timeout longer than its config.timeout", s.line.set.timeout))
	case errors.Is(err, context.Canceled):
		return fault.E(op, fault.Canceled, subject, err)
	}
	return fault.E(op, fault.Rejected, subject, err)
}
