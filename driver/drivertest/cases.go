package drivertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/internal/await"
	"voltbus/point"
)

func readsAll(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	if problems := cfg.Validate(); len(problems) > 0 {
		t.Fatalf("the configuration has problems: %v", problems)
	}
	_, s, done := open(t, h, cfg)
	defer done()
	kinds := make(map[point.Path]point.Kind)
	for _, info := range cfg.Points() {
		kinds[info.Path] = info.Kind
	}
	before := time.Now().Add(-time.Minute)
	for _, sample := range mustRead(t, s, allNames(cfg)) {
		if want, bad := h.Bad[string(sample.Point)]; bad {
			if sample.Quality != want || sample.Value.Kind() != point.None {
				t.Errorf("%s is %v with %v, want %v without a value", sample.Point, sample.Quality, sample.Value, want)
			}
			continue
		}
		if want := kinds[sample.Point]; sample.Value.Kind() != want && want != point.None {
			t.Errorf("%s is a %v, but declared as %v", sample.Point, sample.Value.Kind(), want)
		}
		if sample.Time.Before(before) || sample.Time.Location() != time.UTC {
			t.Errorf("%s has the time %v, want now in UTC", sample.Point, sample.Time)
		}
	}
	mustBeGood(t, h, s, goodNames(h, cfg))
}

func readsInOrder(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	_, s, done := open(t, h, cfg)
	defer done()
	names := goodNames(h, cfg)
	slices.Reverse(names)
	mustBeGood(t, h, s, append(names, names[0]))
	mustRead(t, s, nil)
}

func unknownName(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	_, s, done := open(t, h, cfg)
	defer done()
	samples := mustRead(t, s, []string{unknown, goodNames(h, cfg)[0]})
	if samples[0].Quality != point.BadConfig || samples[0].Value.Kind() != point.None {
		t.Errorf("an unknown name is %v with %v, want bad(config) without a value", samples[0].Quality, samples[0].Value)
	}
	if !samples[1].Quality.IsGood() {
		t.Errorf("the point beside it is %v, want good", samples[1].Quality)
	}
}

func cancelledBefore(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	_, s, done := open(t, h, cfg)
	defer done()
	within(t, h.Timeout, func() {
		samples, err := s.Read(cancelled(t), goodNames(h, cfg))
		if err != nil && fault.KindOf(err) != fault.Canceled {
			t.Errorf("got %v, want the kind canceled", err)
		}
		if err != nil && samples != nil {
			t.Errorf("got samples with the error %v", err)
		}
	})
	mustBeGood(t, h, s, goodNames(h, cfg))
}

func twoSessions(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	line, first, done := open(t, h, cfg)
	defer done()
	second, err := line.Open(t.Context(), cfg)
	if err != nil {
		t.Fatalf("open a second session: %v", err)
	}
	mustBeGood(t, h, first, goodNames(h, cfg))
	mustBeGood(t, h, second, goodNames(h, cfg))
	if err := second.Close(); err != nil {
		t.Errorf("close the second session: %v", err)
	}
	mustBeGood(t, h, first, goodNames(h, cfg))
}

func afterClose(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	line, s, done := open(t, h, cfg)
	defer done()
	if err := line.Close(); err != nil {
		t.Fatalf("close the line: %v", err)
	}
	samples, err := s.Read(t.Context(), goodNames(h, cfg))
	mustFail(t, samples, err, true)
}

func absentPeer(t *testing.T, h Harness) {
	h.aside(t)
	cfg := h.Absent(t)
	line, err := h.Kind.Dial(t.Context(), cfg)
	if err == nil {
		defer func() { _ = line.Close() }()
		var s driver.Session
		if s, err = line.Open(t.Context(), cfg); err == nil {
			_, err = s.Read(t.Context(), allNames(cfg))
		}
	}
	mustFail(t, nil, err, true)
}

func hangingPeer(t *testing.T, h Harness) {
	h.aside(t)
	r := throughProxy(t, h)
	r.proxy.Hang()
	within(t, h.Timeout, func() {
		samples, err := r.session.Read(t.Context(), r.names)
		mustFail(t, samples, err, false)
		if !errors.Is(err, driver.ErrNotConnected) && fault.KindOf(err) != fault.Timeout {
			t.Errorf("got %v of kind %v, want a time-out or ErrNotConnected", err, fault.KindOf(err))
		}
	})
	within(t, 0, r.done)
}

func cancelledMeanwhile(t *testing.T, h Harness) {
	h.aside(t)
	r := throughProxy(t, h)
	defer r.done()
	r.proxy.Hang()
	ctx, cancel := context.WithTimeout(t.Context(), h.Timeout/10)
	defer cancel()
	within(t, h.Timeout, func() {
		samples, err := r.session.Read(ctx, r.names)
		mustFail(t, samples, err, false)
	})
}

// lateAnswer delays answers beyond the time-out and checks that the next reads, which request something else,
// do not take them for their own.
func lateAnswer(t *testing.T, h Harness) {
	h.aside(t)
	r := throughProxy(t, h)
	defer r.done()
	r.proxy.Delay(h.Timeout + h.Timeout/4)
	var samples []point.Sample
	var err error
	for range 10 { // a busy machine sees the answer and the time-out at once, and may take the former
		if samples, err = r.session.Read(t.Context(), r.names); err != nil {
			break
		}
	}
	mustFail(t, samples, err, false)
	if errors.Is(err, driver.ErrNotConnected) {
		return // a new line has no late answers
	}
	r.proxy.Heal()
	for _, name := range r.names {
		mustBeGood(t, h, r.session, []string{name})
	}
}

func cutWithin(t *testing.T, h Harness) {
	h.aside(t)
	r := throughProxy(t, h)
	defer r.done()
	r.proxy.CutAfter(1)
	samples, err := r.session.Read(t.Context(), r.names)
	mustFail(t, samples, err, true)
	r.proxy.Heal()
	mustWorkAgain(t, h, r.proxy)
}

func cutBetween(t *testing.T, h Harness) {
	h.aside(t)
	r := throughProxy(t, h)
	defer r.done()
	r.proxy.Cut()
	samples, err := r.session.Read(t.Context(), r.names)
	mustFail(t, samples, err, true)
	mustWorkAgain(t, h, r.proxy)
}

func halfClosed(t *testing.T, h Harness) {
	h.aside(t)
	r := throughProxy(t, h)
	defer r.done()
	r.proxy.HalfClose()
	samples, err := r.session.Read(t.Context(), r.names)
	mustFail(t, samples, err, true)
	r.proxy.Heal()
	mustWorkAgain(t, h, r.proxy)
}

// mustWorkAgain requires that a new line to the same peer works, as soon as a connection that it may share with others is back.
func mustWorkAgain(t *testing.T, h Harness, proxy *Proxy) {
	t.Helper()
	cfg := h.Config(t, proxy.Addr())
	_, s, done := open(t, h, cfg)
	defer done()
	names := goodNames(h, cfg)
	var err error
	await.Until(t, "the line is connected again", func() bool {
		_, err = s.Read(t.Context(), names)
		return !errors.Is(err, driver.ErrNotConnected)
	}, func() string { return fmt.Sprint(err) })
	mustBeGood(t, h, s, names)
}

// garbage damages answers in various ways for a while. A read may fail, or give bad qualities, but it must
// end; afterwards a new line must work. A changed value may pass if the protocol has no checksum, so values
// are not checked.
func garbage(t *testing.T, h Harness) {
	h.aside(t)
	for _, damage := range []struct {
		name   string
		change func(*rand.Rand, []byte) []byte
	}{
		{"random bytes", func(random *rand.Rand, _ []byte) []byte {
			noise := make([]byte, 300)
			for i := range noise {
				noise[i] = byte(random.Uint32())
			}
			return noise
		}},
		{"one byte changed", func(random *rand.Rand, b []byte) []byte {
			b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
			return b
		}},
		{"the end missing", func(_ *rand.Rand, b []byte) []byte { return b[:len(b)/2] }},
		{"twice", func(_ *rand.Rand, b []byte) []byte { return append(b, b...) }},
		{"zeros", func(_ *rand.Rand, b []byte) []byte { clear(b); return b }},
		{"ones", func(_ *rand.Rand, b []byte) []byte { return slices.Repeat([]byte{0xFF}, len(b)) }},
	} {
		t.Run(damage.name, func(t *testing.T) {
			h.aside(t)
			random := rand.New(rand.NewPCG(1, 2))
			r := throughProxy(t, h)
			defer r.done()
			r.names = r.names[:min(len(r.names), 4)] // each may cost a time-out
			r.proxy.Corrupt(func(answer []byte) []byte { return damage.change(random, answer) })
			for range 2 {
				within(t, h.Timeout*time.Duration(2+len(r.names)), func() {
					samples, err := r.session.Read(t.Context(), r.names)
					if err == nil && len(samples) != len(r.names) {
						t.Errorf("got %d samples for %d r.names", len(samples), len(r.names))
					}
					if err != nil {
						mustFail(t, samples, err, false)
					}
				})
			}
			r.proxy.Heal()
			mustWorkAgain(t, h, r.proxy)
		})
	}
}

func silentNeighbour(t *testing.T, h Harness) {
	cfg, silent := h.Other(t, h.Peer), h.Silent(t, h.Peer)
	if cfg.LineName() != silent.LineName() {
		t.Fatalf("the devices are on the lines %q and %q, want one", cfg.LineName(), silent.LineName())
	}
	line, s, done := open(t, h, cfg)
	defer done()
	dead, err := line.Open(t.Context(), silent)
	if err != nil {
		t.Fatalf("open the silent device: %v", err)
	}
	names := allNames(cfg)
	for range 3 {
		within(t, h.Timeout, func() {
			samples, err := dead.Read(t.Context(), allNames(silent))
			mustFail(t, samples, err, false)
			if errors.Is(err, driver.ErrNotConnected) {
				t.Fatalf("got %v: one silent device must not end the line", err)
			}
		})
		for _, sample := range mustRead(t, s, names) {
			if !sample.Quality.IsGood() {
				t.Errorf("%s of the other device is %v, want good", sample.Point, sample.Quality)
			}
		}
	}
}
