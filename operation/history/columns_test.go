package history

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/api/answer"
	"voltbus/operation"
	"voltbus/point"
)

// told is what a reader makes of columns.
type told struct {
	Times     []float64
	Values    []json.RawMessage
	Qualities [][3]any
}

func TestColumnsSayTheSameAsTuples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Custom(drawSample), 0, 30).Draw(t, "samples")
		at := rapid.Int64Range(-1e15, 4e15).Draw(t, "first")
		for i := range samples {
			samples[i].Time = time.UnixMicro(at)
			at += rapid.SampledFrom([]int64{1, 1000, 60_000_000, 60_000_000, 60_000_123}).Draw(t, "step")
		}
		want := make([]answer.Tuple, len(samples))
		for i := range samples {
			if err := json.Unmarshal(answer.AppendTuple(nil, &samples[i]), &want[i]); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, readColumns(t, samples)); diff != "" {
			t.Errorf("%s", diff)
		}
	})
}

func drawSample(t *rapid.T) point.Sample {
	value := rapid.SampledFrom([]point.Value{
		{}, point.FloatOf(1.5), point.FloatOf(math.NaN()), point.IntOf(-3), point.BoolOf(true), point.TextOf(`"</script>`),
	}).Draw(t, "value")
	quality := rapid.SampledFrom([]point.Quality{point.Good, point.Good, point.Bad, point.BadTimeout, point.Uncertain}).Draw(t, "quality")
	return point.Sample{Point: "p", Value: value, Quality: quality}
}

// readColumns unfolds the columns of samples.
func readColumns(t *rapid.T, samples []point.Sample) []answer.Tuple {
	var out operation.Output
	if err := asColumns(&out, samples); err != nil {
		t.Fatal(err)
	}
	var series struct{ Columns told }
	if err := json.Unmarshal([]byte("{"+string(out.Buf)+"}"), &series); err != nil {
		t.Fatal(err)
	}
	c := series.Columns
	read := make([]answer.Tuple, len(c.Values))
	for i, at := range unfold(c.Times) {
		read[i] = answer.Tuple{Millis: float64(at) / 1000, Value: c.Values[i]}
	}
	for _, run := range c.Qualities {
		first, n, quality := run[0].(float64), run[1].(float64), run[2].(string)
		for i := int(first); i < int(first+n); i++ {
			read[i].Quality = quality
		}
	}
	return read
}

// unfold returns the microseconds that stand for a first time and pairs of steps and counts.
func unfold(times []float64) []int64 {
	if len(times) == 0 {
		return nil
	}
	at := int64(math.Round(times[0] * 1000))
	list := []int64{at}
	for i := 1; i+1 < len(times); i += 2 {
		for range int(times[i+1]) {
			at += int64(math.Round(times[i] * 1000))
			list = append(list, at)
		}
	}
	return list
}
