package load_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"voltbus/fault"
	"voltbus/lab/load"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// near allows the histogram's three digits.
func near(got, want time.Duration) bool { return got > want*99/100 && got < want*101/100 }

func TestRequestsAreSentWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		o, err := load.Run(t.Context(), load.Plan{Rate: 10, For: time.Second, Workers: 1}, func(context.Context, int, int64) error {
			at = append(at, time.Since(start))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(at) != 10 || o.Sent != 10 {
			t.Fatalf("%d requests, want 10", len(at))
		}
		for i, d := range at {
			if d != time.Duration(i)*100*time.Millisecond {
				t.Errorf("request %d was sent after %v", i, d)
			}
		}
		if !o.HeadRoom.Kept() || o.HeadRoom.Late != 0 {
			t.Error(o.HeadRoom.Words())
		}
	})
}

// The receiver stalls for a second at the first request. With one worker the nine that were due
// meanwhile are late, and are charged to the receiver in full.
func TestAStallIsChargedToEveryRequestThatItHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, err := load.Run(t.Context(), load.Plan{Rate: 10, For: time.Second, Workers: 1}, func(_ context.Context, _ int, n int64) error {
			if n == 0 {
				<-time.After(time.Second)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Latency.At(50); got < 400*time.Millisecond {
			t.Errorf("median latency %v, want at least 400 ms: half of them waited longer", got)
		}
		if got := o.Service.At(50); got > time.Millisecond {
			t.Errorf("median time of service %v, want none", got)
		}
		if o.HeadRoom.Waited != 9 || o.HeadRoom.Late != 0 || !o.HeadRoom.Kept() {
			t.Errorf("%+v: nine requests waited for the receiver, none for the generator", o.HeadRoom)
		}
	})
}

func TestTheWarmUpIsSentButNotMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, err := load.Run(t.Context(), load.Plan{Rate: 10, For: 2 * time.Second, WarmUp: time.Second, Workers: 2},
			func(_ context.Context, _ int, n int64) error {
				if n < 10 {
					<-time.After(150 * time.Millisecond)
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Latency.Summary(); o.Sent != 20 || got.Count != 10 || got.Most > 0.001 {
			t.Errorf("sent %d, measured %+v", o.Sent, got)
		}
	})
}

func TestErrorsAreCountedAndTheFirstIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("bad")
		o, err := load.Run(t.Context(), load.Plan{Rate: 10, For: time.Second, Workers: 1}, func(_ context.Context, _ int, n int64) error {
			if n%2 == 1 {
				return bad
			}
			return nil
		})
		if err != nil || o.Failed != 5 || !errors.Is(o.First, bad) {
			t.Errorf("%+v, %v", o, err)
		}
	})
}

func TestWatchSeesTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rates []float64
		_, err := load.Run(t.Context(), load.Plan{
			Rate: 100, For: 3 * time.Second, Workers: 1, Watch: func(m load.Moment) { rates = append(rates, m.Rate) },
		}, func(context.Context, int, int64) error { return nil })
		if err != nil || len(rates) < 2 {
			t.Fatal(rates, err)
		}
		for _, r := range rates {
			if r < 98 || r > 102 {
				t.Errorf("rates %v, want 100", rates)
			}
		}
	})
}

func TestAnInterruptedLoadSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := load.Run(ctx, load.Plan{Rate: 1, For: time.Hour, Workers: 4}, func(context.Context, int, int64) error { return nil })
		if fault.KindOf(err) != fault.Canceled {
			t.Errorf("error %v, want canceled", err)
		}
	})
}

func TestImpossiblePlansAreRefused(t *testing.T) {
	for name, p := range map[string]load.Plan{
		"no rate":            {For: time.Second, Workers: 1},
		"no time":            {Rate: 1, Workers: 1},
		"no worker":          {Rate: 1, For: time.Second},
		"nothing but warmup": {Rate: 1, For: time.Second, WarmUp: time.Second, Workers: 1},
	} {
		if _, err := load.Run(t.Context(), p, nil); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
}

func TestAHistogramKeepsThreeDigits(t *testing.T) {
	h, other := load.NewHistogram(), load.NewHistogram()
	for i := range 1000 {
		h.Add(time.Duration(i+1) * time.Millisecond)
	}
	other.Add(2 * time.Hour)
	other.Add(-time.Second)
	h.Merge(other)
	if !near(h.At(50), 500*time.Millisecond) || !near(h.At(99), 990*time.Millisecond) || !near(h.At(100), time.Hour) {
		t.Error(h.At(50), h.At(99), h.At(100))
	}
	if s := h.Summary(); s.Count != 1002 || len(s.Curve) == 0 {
		t.Errorf("%+v", s)
	}
	if s := load.NewHistogram().Summary(); s.Count != 0 || len(s.Curve) != 0 {
		t.Errorf("an empty one: %+v", s)
	}
}

func TestBarsCarryAHistogramToAnotherProcess(t *testing.T) {
	h, other := load.NewHistogram(), load.NewHistogram()
	for i := range 1000 {
		h.Add(time.Duration(i+1) * time.Millisecond)
	}
	other.Add(time.Second)
	other.AddBars(h.Bars())
	if other.Count() != 1001 || !near(other.At(50), 500*time.Millisecond) || !near(other.Least(), time.Millisecond) || !near(other.Most(), time.Second) {
		t.Error(other.Count(), other.At(50), other.Least(), other.Most())
	}
	if bars := load.NewHistogram().Bars(); len(bars) != 0 {
		t.Errorf("an empty one has %v", bars)
	}
}

func TestAGeneratorThatFallsBehindSaysSo(t *testing.T) {
	h := load.HeadRoom{}
	h.Add(load.HeadRoom{Due: 100, Sent: 100, Late: 1})
	if !h.Kept() {
		t.Error(h.Words())
	}
	h.Add(load.HeadRoom{Due: 100, Sent: 100, Late: 50, MostLag: 2})
	if h.Kept() || h.MostLag != 2 {
		t.Error(h.Words())
	}
}
