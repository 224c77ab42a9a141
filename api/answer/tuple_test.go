package answer_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"voltbus/api/answer"
	"voltbus/point"
)

// Whatever a point may hold comes back from a tuple as it was, with its kind and microseconds.
func TestTuplesReadBackExactly(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := point.Sample{
			Time: time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(r, "time")).UTC(),
			Value: rapid.OneOf(
				rapid.Map(rapid.Float64(), point.FloatOf),
				rapid.Map(rapid.Int64(), point.IntOf),
				rapid.Map(rapid.Bool(), point.BoolOf),
				rapid.Map(rapid.String(), point.TextOf),
				rapid.Just(point.Value{}),
			).Draw(r, "value"),
			Quality: rapid.SampledFrom([]point.Quality{point.Good, point.Estimated, point.BadTimeout}).Draw(r, "quality"),
		}
		raw := answer.AppendTuple(nil, &want)
		var tuple answer.Tuple
		if err := json.Unmarshal(raw, &tuple); err != nil {
			r.Fatalf("%s: %v", raw, err)
		}
		value, err := answer.ParseValue(want.Value.Kind().String(), tuple.Value)
		if err != nil {
			r.Fatalf("%s: %v", raw, err)
		}
		if !tuple.Time().Equal(want.Time) || value != want.Value || (tuple.Quality == "") != (want.Quality == point.Good) {
			r.Fatalf("%+v became %s, which is %v %v %q", want, raw, tuple.Time(), value, tuple.Quality)
		}
		again, err := json.Marshal(tuple)
		if err != nil {
			r.Fatal(err)
		}
		var second answer.Tuple
		if err := json.Unmarshal(again, &second); err != nil || second.Time() != tuple.Time() || second.Quality != tuple.Quality {
			r.Fatalf("%s became %s: %v", raw, again, err)
		}
	})
}

func TestTuplesRefuseOtherShapes(t *testing.T) {
	for _, raw := range []string{`1`, `[]`, `[1]`, `["a",1]`, `[1,2,3]`, `[1,2,"good",4]`, `{"a":1}`, `null`} {
		var tuple answer.Tuple
		if err := json.Unmarshal([]byte(raw), &tuple); err == nil {
			t.Errorf("%s is %+v, want an error", raw, tuple)
		}
	}
}
