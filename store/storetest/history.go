package storetest

import (
	"flag"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/memory"
)

func historyTests() []test {
	return []test{{"random histories agree with the store in memory", testHistories}}
}

// history drives a store and the reference through the same steps.
type history struct {
	*fixture
	model   *memory.Store
	origins []origin
	sent    []*point.Block // for repetition
	now     time.Time
}

// histories is how many a store is driven through, unless -rapid.checks says another number: each takes a second.
const histories = "30"

func testHistories(t *testing.T, place Place) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := flag.Set(f.Name, histories); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set(f.Name, f.DefValue) })
	}
	rapid.Check(t, func(rt *rapid.T) {
		var r store.Retention
		if rapid.Bool().Draw(rt, "with retention") {
			r.Age = days(4)
		}
		h := &history{
			fixture: start(t, place, r), model: memory.New(memory.Options{Retention: r}),
			origins: []origin{{name: "a"}, {name: "b"}}, now: noon(),
		}
		defer h.stop()
		rt.Repeat(map[string]func(*rapid.T){
			"append":    h.appendRandom,
			"repeat":    h.repeatRandom,
			"reopen":    func(*rapid.T) { h.reopen() },
			"maintain":  h.maintainRandom,
			"read":      h.readRandom,
			"aggregate": h.aggregateRandom,
			"count":     h.countRandom,
			"":          h.check,
		})
	})
}

func (h *history) appendRandom(rt *rapid.T) {
	var blocks []*point.Block
	for range rapid.IntRange(1, 3).Draw(rt, "blocks") {
		o := &h.origins[rapid.IntRange(0, 1).Draw(rt, "origin")]
		if rapid.IntRange(0, 9).Draw(rt, "lost") == 0 {
			o.sequence++
			o.before += 3
		}
		samples := rapid.SliceOfN(h.sample(), 0, 20).Draw(rt, "samples")
		if rapid.IntRange(0, 3).Draw(rt, "carried") > 0 {
			blocks = append(blocks, o.block(samples...))
			continue
		}
		b := o.carried(uint64(rapid.IntRange(1, 4).Draw(rt, "run")), uint64(rapid.IntRange(0, 5).Draw(rt, "left")), samples...)
		if rapid.IntRange(0, 3).Draw(rt, "overlapping") == 0 { // merged with earlier blocks on another path
			back := uint64(rapid.IntRange(0, 4).Draw(rt, "back"))
			b.First, b.Before = max(1, b.First-min(b.First, back)), b.Before-min(b.Before, back)
		}
		blocks = append(blocks, b)
	}
	h.sent = append(h.sent, blocks...)
	h.both(rt, blocks)
}

func (h *history) repeatRandom(rt *rapid.T) {
	if len(h.sent) == 0 {
		rt.Skip("nothing was sent yet")
	}
	h.both(rt, []*point.Block{rapid.SampledFrom(h.sent).Draw(rt, "block")})
}

func (h *history) both(rt *rapid.T, blocks []*point.Block) {
	got, err := h.Append(h.tb.Context(), blocks)
	agree(rt, "append error", nil, err)
	expected, err := h.model.Append(h.tb.Context(), blocks)
	agree(rt, "append error of the model", nil, err)
	agree(rt, "append", expected, got)
}

// sample draws samples around now, most of them fresh, on a coarse grid so that times collide.
func (h *history) sample() *rapid.Generator[point.Sample] {
	return rapid.Custom(func(rt *rapid.T) point.Sample {
		hours := rapid.OneOf(rapid.IntRange(-2, 0), rapid.IntRange(-100, 6)).Draw(rt, "hours")
		return point.Sample{
			Point:   point.Path("p" + strconv.Itoa(rapid.IntRange(0, 4).Draw(rt, "point"))),
			Time:    h.now.Add(time.Duration(hours)*time.Hour + time.Duration(rapid.IntRange(0, 2).Draw(rt, "micros"))*time.Microsecond),
			Value:   value().Draw(rt, "value"),
			Quality: rapid.SampledFrom([]point.Quality{point.Good, point.Good, point.Uncertain, point.BadTimeout}).Draw(rt, "quality"),
		}
	})
}

func value() *rapid.Generator[point.Value] {
	return rapid.OneOf(
		rapid.Map(rapid.Float64(), point.FloatOf),
		rapid.Map(rapid.Int64(), point.IntOf),
		rapid.Map(rapid.Bool(), point.BoolOf),
		rapid.Map(rapid.String(), point.TextOf),
		rapid.Just(point.Value{}),
	)
}

func (h *history) maintainRandom(rt *rapid.T) {
	h.now = h.now.Add(time.Duration(rapid.IntRange(0, 60).Draw(rt, "hours later")) * time.Hour)
	agree(rt, "maintain error", nil, h.Maintain(h.tb.Context(), h.now))
	agree(rt, "maintain error of the model", nil, h.model.Maintain(h.tb.Context(), h.now))
}

func (h *history) drawRange(rt *rapid.T) store.Range {
	from := h.now.Add(time.Duration(rapid.IntRange(-120, 6).Draw(rt, "from")) * time.Hour)
	return store.Range{
		Points:   rapid.SliceOfN(rapid.SampledFrom([]point.Path{"p0", "p1", "p2", "p3", "p4", "p5"}), 1, 6).Draw(rt, "points"),
		From:     from,
		To:       from.Add(time.Duration(rapid.IntRange(0, 120).Draw(rt, "length")) * time.Hour),
		Limit:    rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(rt, "limit"),
		Newest:   rapid.Bool().Draw(rt, "newest"),
		GoodOnly: rapid.Bool().Draw(rt, "good only"),
	}
}

func (h *history) readRandom(rt *rapid.T) {
	r := h.drawRange(rt)
	agree(rt, "read", readAll(h.tb, rt, h.model, r), readAll(h.tb, rt, h.Store, r))
}

func readAll(tb testing.TB, rt *rapid.T, s store.Store, r store.Range) []point.Sample {
	var out []point.Sample
	err := s.Read(tb.Context(), r, func(run []point.Sample) error {
		out = append(out, run...)
		return nil
	})
	agree(rt, "read error", nil, err)
	return out
}

func (h *history) aggregateRandom(rt *rapid.T) {
	q := store.Query{
		Range: h.drawRange(rt),
		Step:  time.Duration(rapid.SampledFrom([]int{1, 7, 24, 100}).Draw(rt, "step")) * time.Hour,
	}
	if rapid.Bool().Draw(rt, "edges") {
		q.Edges = []time.Time{q.From, q.From.Add(time.Hour), q.From.Add(20 * time.Hour), q.To.Add(21 * time.Hour)}
	}
	if rapid.Bool().Draw(rt, "extras") {
		q.Extras = store.Extras{Quantiles: []float64{0, 0.5, 0.99}, Deviation: true, Hold: make([]time.Duration, len(q.Points))}
		hold := time.Duration(rapid.IntRange(0, 50).Draw(rt, "hold")) * time.Hour
		for i := range q.Extras.Hold {
			q.Extras.Hold[i] = hold
		}
	}
	got, err := h.Aggregate(h.tb.Context(), q)
	agree(rt, "aggregate error", nil, err)
	expected, err := h.model.Aggregate(h.tb.Context(), q)
	agree(rt, "aggregate error of the model", nil, err)
	agree(rt, "aggregate", expected, got)
}

func (h *history) countRandom(rt *rapid.T) {
	r := h.drawRange(rt)
	if rapid.Bool().Draw(rt, "off the hour") {
		r.From = r.From.Add(-17 * time.Minute)
	}
	q := store.Query{Range: r, Step: time.Duration(rapid.SampledFrom([]int{30, 60, 420, 1440}).Draw(rt, "step")) * time.Minute}
	got, err := h.Count(h.tb.Context(), q)
	agree(rt, "count error", nil, err)
	expected, err := h.model.Count(h.tb.Context(), q)
	agree(rt, "count error of the model", nil, err)
	agree(rt, "count", expected, got)
}

// check compares what needs no query: it runs after every step.
func (h *history) check(rt *rapid.T) {
	ctx := h.tb.Context()
	got, err := h.Positions(ctx)
	agree(rt, "positions error", nil, err)
	expected, _ := h.model.Positions(ctx)
	agree(rt, "positions", expected, got)

	paths, err := h.Points(ctx)
	agree(rt, "points error", nil, err)
	modelPaths, _ := h.model.Points(ctx)
	agree(rt, "points", modelPaths, paths)

	latest, err := h.Latest(ctx, paths)
	agree(rt, "latest error", nil, err)
	modelLatest, _ := h.model.Latest(ctx, paths)
	agree(rt, "latest", modelLatest, latest)

	stats, err := h.Stats(ctx)
	agree(rt, "stats error", nil, err)
	modelStats, _ := h.model.Stats(ctx)
	agree(rt, "newest", modelStats.Newest, stats.Newest)
	agree(rt, "all samples counted",
		modelStats.Samples+modelStats.Replaced+modelStats.Expired, stats.Samples+stats.Replaced+stats.Expired)
}

func agree[T any](rt *rapid.T, what string, expected, got T) {
	if diff := cmp.Diff(expected, got, values(), cmp.Comparer(sameFloat), cmpopts.EquateEmpty()); diff != "" {
		rt.Fatalf("%s (-model +store):\n%s", what, diff)
	}
}

// sameFloat treats NaN, the sum of opposite infinities, as equal to itself.
func sameFloat(a, b float64) bool { return a == b || (a != a && b != b) }
