package drivertest

import (
	"context"
	"errors"
	"math"
	"testing"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

func writes(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	_, s, done := open(t, h, cfg)
	defer done()
	w := writer(t, s)
	before := mustRead(t, s, []string{h.Writable})[0].Value
	got, err := w.Write(t.Context(), h.Writable, h.Value)
	if err != nil || got != h.Value {
		t.Errorf("write %v returned %v, %v, want the value read back", h.Value, got, err)
	}
	if after := mustRead(t, s, []string{h.Writable})[0].Value; after != h.Value {
		t.Errorf("the device holds %v, want %v", after, h.Value)
	}
	if got, err := w.Write(t.Context(), h.Writable, before); err != nil || got != before {
		t.Errorf("write %v back returned %v, %v", before, got, err)
	}
}

func refusesReadOnly(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	_, s, done := open(t, h, cfg)
	defer done()
	if _, err := writer(t, s).Write(t.Context(), h.ReadOnly, point.IntOf(1)); fault.KindOf(err) != fault.Refused {
		t.Errorf("got %v, want the kind refused", err)
	}
}

func refusesNonsense(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	_, s, done := open(t, h, cfg)
	defer done()
	w := writer(t, s)
	if _, err := w.Write(t.Context(), unknown, h.Value); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown point gives %v, want the kind not-found", err)
	}
	before := mustRead(t, s, []string{h.Writable})[0].Value
	wrong := []point.Value{{}, point.FloatOf(math.NaN()), point.FloatOf(math.Inf(1)), point.FloatOf(math.Inf(-1))}
	if h.TooMuch.Kind() != point.None {
		wrong = append(wrong, h.TooMuch)
	}
	for _, v := range wrong {
		if got, err := w.Write(t.Context(), h.Writable, v); fault.KindOf(err) != fault.Invalid {
			t.Errorf("writing %q gives %v, %v, want the kind invalid", v, got, err)
		}
	}
	if after := mustRead(t, s, []string{h.Writable})[0].Value; after != before {
		t.Errorf("the device holds %v after refused writes, want %v", after, before)
	}
}

func writer(t *testing.T, s driver.Session) driver.Writer {
	t.Helper()
	w, ok := s.(driver.Writer)
	if !ok {
		t.Fatal("the session is no driver.Writer")
	}
	return w
}

func rejectedWrite(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	_, s, done := open(t, h, cfg)
	defer done()
	if got, err := writer(t, s).Write(t.Context(), h.Denied, point.IntOf(1)); fault.KindOf(err) != fault.Rejected {
		t.Errorf("got %v, %v, want the kind rejected", got, err)
	}
	if sample := mustRead(t, s, []string{h.Writable})[0]; !sample.Quality.IsGood() {
		t.Errorf("%s is %v afterwards, want good", h.Writable, sample.Quality)
	}
}

func writesManyTimes(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	_, s, done := open(t, h, cfg)
	defer done()
	w := writer(t, s)
	before := mustRead(t, s, []string{h.Writable})[0].Value
	for i := range 30 {
		v := []point.Value{h.Value, before}[i%2]
		if got, err := w.Write(t.Context(), h.Writable, v); err != nil || got != v {
			t.Fatalf("write %d of %v returned %v, %v", i, v, got, err)
		}
	}
	if after := mustRead(t, s, []string{h.Writable})[0].Value; after != before {
		t.Errorf("the device holds %v, want %v", after, before)
	}
}

func writesCancelled(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	_, s, done := open(t, h, cfg)
	defer done()
	before := mustRead(t, s, []string{h.Writable})[0].Value
	within(t, h.Timeout, func() {
		if got, err := writer(t, s).Write(cancelled(t), h.Writable, h.Value); fault.KindOf(err) != fault.Canceled {
			t.Errorf("got %v, %v, want the kind canceled", got, err)
		}
	})
	if after := mustRead(t, s, []string{h.Writable})[0].Value; after != before {
		t.Errorf("the device holds %v, want %v", after, before)
	}
}

// cutWithinWrite cuts the line within the answer: the device accepted the value, but the driver cannot know.
func cutWithinWrite(t *testing.T, h Harness) {
	r := throughProxy(t, h)
	defer r.done()
	before := mustRead(t, r.session, []string{h.Writable})[0].Value
	r.proxy.CutAfter(1)
	got, err := writer(t, r.session).Write(t.Context(), h.Writable, h.Value)
	if fault.KindOf(err) != fault.Timeout || !errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("got %v, %v of kind %v, want a time-out that says ErrNotConnected", got, err, fault.KindOf(err))
	}
	r.proxy.Heal()
	_, s, done := open(t, h, h.Config(t, r.proxy.Addr()))
	defer done()
	if _, err := writer(t, s).Write(t.Context(), h.Writable, before); err != nil {
		t.Errorf("on a new line: %v", err)
	}
}

// writesAfterClose requires the error kind for a request that was not sent.
func writesAfterClose(t *testing.T, h Harness) {
	line, s, done := open(t, h, h.Config(t, h.Peer))
	defer done()
	if err := line.Close(); err != nil {
		t.Fatalf("close the line: %v", err)
	}
	got, err := writer(t, s).Write(t.Context(), h.Writable, h.Value)
	if fault.KindOf(err) != fault.Unreachable || !errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("got %v, %v of kind %v, want unreachable that says ErrNotConnected", got, err, fault.KindOf(err))
	}
}

func cancelledWrite(t *testing.T, h Harness) {
	r := throughProxy(t, h)
	defer r.done()
	r.proxy.Hang()
	ctx, cancel := context.WithTimeout(t.Context(), h.Timeout/10)
	defer cancel()
	within(t, h.Timeout, func() {
		got, err := writer(t, r.session).Write(ctx, h.Writable, h.Value)
		if kind := fault.KindOf(err); kind != fault.Timeout && kind != fault.Canceled {
			t.Errorf("got %v, %v of kind %v, want a time-out or canceled: the outcome is not known", got, err, kind)
		}
	})
}
