package score_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/regulation/score"
	"voltbus/regulation/signal"
)

// wave is a sine of a period of 15 minutes, ten seconds a step, delayed by steps and with a factor.
func wave(steps, delay int, factor float64) *signal.Signal {
	s := &signal.Signal{Step: 10 * time.Second}
	for i := range steps {
		s.Values = append(s.Values, factor*math.Sin(2*math.Pi*float64(i-delay)/90))
	}
	return s
}

func judge(t *testing.T, s, r *signal.Signal) *score.Report {
	t.Helper()
	out, err := score.Judge(s, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestAPerfectResponseScoresOne(t *testing.T) {
	r := judge(t, wave(720, 0, 1), wave(720, 0, 1))
	near(t, "composite", r.Composite, 1)
	near(t, "error", r.RMS, 0)
	if !r.Passes() || len(r.Hours) != 2 {
		t.Errorf("%+v", r)
	}
}

// A sine whose response has half its height: the correlation is 1, and each error is half of the signal, so that the precision is 0.5 whatever
// the divisor is. Composite: (1+1+0.5)/3.
func TestHalfAResponseLosesHalfThePrecision(t *testing.T) {
	r := judge(t, wave(720, 0, 1), wave(720, 0, 0.5))
	near(t, "correlation", r.Correlation, 1)
	near(t, "delay", r.Delay, 1)
	near(t, "precision", r.Precision, 0.5)
	near(t, "composite", r.Composite, 2.5/3)
	near(t, "divisor", r.Divisor, 1/math.Tan(math.Pi/90)/45) // the mean of |sin(2πi/90)|: half a period sums to cot(π/90)
	near(t, "error", r.RMS, 0.5/math.Sqrt2)
}

// Ten seconds are the allowance. A response that is 70 seconds late has a delay of 60, 1/5 of five minutes.
func TestADelayCountsFromTheAllowance(t *testing.T) {
	r := judge(t, wave(360, 0, 1), wave(360, 1, 1))
	near(t, "delay within the allowance", r.Delay, 1)
	near(t, "lag", r.Lag, 10)
	r = judge(t, noise(360, 0), noise(360, 7))
	near(t, "lag", r.Lag, 70)
	near(t, "delay", r.Delay, 0.8)
	near(t, "correlation", r.Correlation, 1)
}

// noise is unlike itself at any other shift, so that one delay fits.
func noise(n, delay int) *signal.Signal {
	s := &signal.Signal{Step: 10 * time.Second, Values: make([]float64, n)}
	random := rand.New(rand.NewPCG(1, 2))
	for i := delay; i < n; i++ {
		s.Values[i] = 2*random.Float64() - 1
	}
	return s
}

func TestAnInvertedResponseScoresNothingButDelay(t *testing.T) {
	r := judge(t, wave(360, 0, 1), wave(360, 0, -1))
	near(t, "precision", r.Precision, 0)
	if r.Correlation > 0.8 || r.Composite >= score.Pass {
		t.Errorf("%+v", r.Performance)
	}
}

// A constant signal has no correlation: slopes are compared. The response rises by 29 steps of 0.01 in a window, so that 1−0.29 remains; the
// error is |0.01 i − 0.5| in the mean over an hour; the first shift is best.
func TestAFlatSignalIsComparedBySlope(t *testing.T) {
	s, r := &signal.Signal{Step: 10 * time.Second}, &signal.Signal{Step: 10 * time.Second}
	for i := range 100 {
		s.Values = append(s.Values, 0.5)
		r.Values = append(r.Values, 0.01*float64(i))
	}
	got := judge(t, s, r)
	near(t, "correlation", got.Correlation, 0.71)
	near(t, "delay", got.Delay, 1)
	near(t, "precision", got.Precision, 0.5) // mean of |0.01 i − 0.5| for i in 0..99 is 0.25, and 0.25/0.5 = 0.5
	near(t, "mean error", got.Mean, -0.005)
	near(t, "peak", got.Peak, 0.5)
}

// Five values of two seconds are one of ten, and a missing one leaves the mean of the others.
func TestFinerStepsAreAveraged(t *testing.T) {
	fine := &signal.Signal{Step: 2 * time.Second}
	for _, v := range wave(360, 0, 0.9).Values {
		fine.Values = append(fine.Values, v-0.1, v+0.1, math.NaN(), v-0.1, v+0.1)
	}
	near(t, "composite", judge(t, wave(360, 0, 0.9), fine).Composite, 1)
}

func TestResponseAndSignalAreComparedByTheirTimes(t *testing.T) {
	r := wave(720, -30, 1)
	r.Begin = 300 * time.Second
	near(t, "composite", judge(t, wave(720, 0, 1), r).Composite, 1)
	r.Begin = 0
	if got := judge(t, wave(720, 0, 1), r).Composite; got > 0.9 {
		t.Error(got)
	}
}

func TestMissingValuesCountNowhere(t *testing.T) {
	r := wave(720, 0, 1)
	for i := 300; i < 330; i++ {
		r.Values[i] = math.NaN()
	}
	got := judge(t, wave(720, 0, 1), r)
	near(t, "composite", got.Composite, 1)
	if got.Hours[0].Steps != 330 {
		t.Error(got.Hours[0].Steps)
	}
}

func TestWhatCannotBeJudgedIsSaid(t *testing.T) {
	flat := &signal.Signal{Step: 10 * time.Second, Values: make([]float64, 360)}
	for want, c := range map[string][2]*signal.Signal{
		"no hour can be judged: the mean absolute signal is below 0.01 of the capacity":                   {flat, flat},
		"no hour can be judged: the signal is empty":                                                      {{Step: time.Second}, flat},
		"no hour can be judged: there is no window of 5m0s with all values, and a response of 5m10s more": {wave(60, 0, 1), wave(60, 0, 1)},
		"there is no time with both signal and response":                                                  {wave(360, 0, 1), {Step: time.Second, Begin: time.Hour, Values: []float64{1}}},
		"the step is 1m0s: the score needs steps of at most 10s, such as 2 s":                             {flat, {Step: time.Minute}},
	} {
		_, err := score.Judge(c[0], c[1])
		if err == nil || !strings.HasSuffix(err.Error(), want) || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// 0.5 K above for half an hour and 1 K below for a quarter: 0.25 + 0.25 K·h.
func TestComfortIsLostByKelvinAndHour(t *testing.T) {
	var c score.Comfort
	c.Add(24.5, 20, 24, 30*time.Minute)
	c.Add(19, 20, 24, 15*time.Minute)
	c.Add(22, 20, 24, 10*time.Hour)
	near(t, "violation", c.Violation, 0.5)
}

func TestSwitchesAreCountedAgainstTheLockout(t *testing.T) {
	var s score.Switches
	begin := time.Unix(0, 0)
	for _, o := range []struct {
		at time.Duration
		on bool
	}{{0, true}, {time.Minute, false}, {3 * time.Minute, true}, {6 * time.Minute, false}, {7 * time.Minute, false}} {
		s.Observe(begin.Add(o.at), o.on, 3*time.Minute)
	}
	if s.Count != 3 || s.Early != 1 {
		t.Errorf("%+v", s)
	}
}
