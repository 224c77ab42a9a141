package signal_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"voltbus/fault"
	"voltbus/regulation/signal"
)

var nan = math.NaN()

func TestAFileBecomesEqualSteps(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want signal.Signal
	}{
		"two columns with commas":  {"0,0\n2,0.5\n4,-1\n", signal.Signal{Step: 2 * time.Second, Values: []float64{0, 0.5, -1}}},
		"titles, tabs and a gap":   {"seconds\tRegD\n10\t0.25\n12\t0.5\n18\t1\n20\t1\n", signal.Signal{Begin: 10 * time.Second, Step: 2 * time.Second, Values: []float64{0.25, 0.5, nan, nan, 1, 1}}},
		"times that are not exact": {"# captured\n\n0.0 0.1\n2.1 0.2\n4.0 0.3\n6.0 0.4\n8.0 0.5\n", signal.Signal{Step: 2 * time.Second, Values: []float64{0.1, 0.2, 0.3, 0.4, 0.5}}},
		"times of a clock":         {"2013-04-01T00:00:00Z;-0.5\n2013-04-01T00:00:04Z;.5\r\n", signal.Signal{Begin: 1364774400 * time.Second, Step: 4 * time.Second, Values: []float64{-0.5, 0.5}}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := signal.Read(strings.NewReader(c.text), "f.csv")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(&c.want, s, cmpopts.EquateNaNs()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestABadLineIsNamedWithWhatToWrite(t *testing.T) {
	for text, want := range map[string]string{
		"0,0\n2,x\n":      `line 2: the value "x" is no number: write such as -0.25`,
		"0,0\n2,NaN\n":    `line 2: the value "NaN" is no number: write such as -0.25`,
		"0,0\n2,50\n":     `line 2: the value 50 is not between -1 and 1: divide by the capacity, or per cent by 100`,
		"0,0\n2\n":        `line 2: 1 columns: write a time and a value, such as 2,-0.25`,
		"0,0\n2,0\n2,1\n": `line 3: the time 2 s is not after that of the line before, 2 s: sort the lines by time, and leave repeats out`,
		"0,0\nnoon,1\n":   `line 2: the time "noon" is neither seconds nor an RFC 3339 time: write such as 2 or 2013-04-01T00:00:02Z`,
		"t,v\nt,v\n0,1\n": `line 2: the time "t" is neither seconds nor an RFC 3339 time: write such as 2 or 2013-04-01T00:00:02Z`,
		"0,0\n0.0001,1\n": `all times lie within a millisecond: a signal has steps of at least one`,
		"":                `0 values: a signal has at least two`,
		"0,0\n" + strings.Repeat("1", 5000) + "\n": `line 2: longer than 4096 bytes: write one time and one value on each line`,
		"0,0\n2,1\n4,1\n100000000,1\n":             `from 0 s to 100000000 s are more than 8000000 steps of 2 s: divide the file where values are missing`,
	} {
		_, err := signal.Read(strings.NewReader(text), "f.csv")
		if err == nil || !strings.HasSuffix(err.Error(), want) || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

func TestAResponseHasNoBounds(t *testing.T) {
	s, err := signal.ReadResponse(strings.NewReader("0,512.5\n2,-40\n"), "r.csv")
	if err != nil || s.Values[0] != 512.5 {
		t.Fatal(s, err)
	}
}

func TestTheValueThatHoldsIsTheLastOneKnown(t *testing.T) {
	s := &signal.Signal{Step: 2 * time.Second, Values: []float64{nan, 0.5, nan}}
	for at, want := range map[time.Duration]float64{-1: 0, 0: 0, 2 * time.Second: 0.5, 5 * time.Second: 0.5, time.Hour: 0.5} {
		if got := s.At(at); got != want {
			t.Errorf("%s: %v, want %v", at, got, want)
		}
	}
}

// Worked out by hand: 1, -1 (a change of 2), a gap, 0.5, 0.5; the integrals are 1, 0, 0.5, 1 half hours.
func TestStatisticsOfAShortSignal(t *testing.T) {
	s := &signal.Signal{Step: 30 * time.Minute, Values: []float64{1, -1, nan, 0.5, 0.5}}
	want := signal.Statistics{Known: 4, Missing: 1, Mean: 0.25, MeanAbs: 0.75, Energy: 0.5, Swing: 0.5, Mileage: 1, Ramp: 2, Limited: 0.5}
	if d := cmp.Diff(want, s.Statistics()); d != "" {
		t.Error(d)
	}
}

func TestAGeneratedSignalIsLikeRegD(t *testing.T) {
	for seed := range uint64(20) {
		s := signal.Generate(seed, 24*time.Hour)
		st := s.Statistics()
		if len(s.Values) != 43200 || st.Missing != 0 {
			t.Fatal(len(s.Values), st.Missing)
		}
		for _, v := range s.Values {
			if math.IsNaN(v) || v < -1 || v > 1 {
				t.Fatal(v)
			}
		}
		if math.Abs(st.Mean) > 0.01 || st.Ramp > 0.1000001 || st.Swing > 0.5 || st.MeanAbs < 0.25 || st.MeanAbs > 0.6 || st.Limited == 0 {
			t.Errorf("seed %d: %+v", seed, st)
		}
	}
	same := cmp.Equal(signal.Generate(7, time.Hour), signal.Generate(7, time.Hour))
	if other := cmp.Equal(signal.Generate(7, time.Hour), signal.Generate(8, time.Hour)); !same || other {
		t.Error("the same seed gives the same signal, another one another")
	}
}

func FuzzReadNeverPanics(f *testing.F) {
	f.Add("0,0\n2,1\n")
	f.Add("1e11 0\n1e12 0")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := signal.Read(strings.NewReader(text), "f.csv")
		if err == nil && (s.Step <= 0 || len(s.Values) < 2) {
			t.Fatal(s)
		}
	})
}
