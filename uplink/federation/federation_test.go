package federation_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
	"voltbus/store/memory"
	"voltbus/uplink/federation"
	"voltbus/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func noon() time.Time { return time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC) }
func now() time.Time  { return noon().Add(40 * time.Hour) }

// blocks is a log in memory.
type blocks struct {
	list      [][]byte
	delivered atomic.Int64
}

func (b *blocks) ID() string { return "log" }

func (b *blocks) Bounds(context.Context) (first, last uint64, err error) {
	return 1, uint64(len(b.list)), nil
}

func (b *blocks) Scan(_ context.Context, from uint64, deliver func(uint64, []byte) error) error {
	for i := int(from); i <= len(b.list); i++ {
		b.delivered.Add(1)
		if err := deliver(uint64(i), b.list[i-1]); err != nil {
			return err
		}
	}
	return nil
}

// site is a node: of its log some is stored, and some is sent.
type site struct {
	*federation.Federation
	cfg     federation.Config
	log     blocks
	store   *memory.Store
	stored  int // blocks
	sent    int
	selects []point.Pattern
	below   []federation.Child
	nodes   map[string]*site
	silent  bool // nobody below answers

	mu       sync.Mutex
	answered []int // bytes of the answers from below
}

// grow returns a site with a catalogue that other tests may use at the same time.
func grow(c *catalog.Catalog, selects ...point.Pattern) *site { return growAs("here", c, selects...) }

func growAs(name string, c *catalog.Catalog, selects ...point.Pattern) *site {
	s := &site{store: memory.New(memory.Options{}), selects: selects, nodes: map[string]*site{}}
	everything := &identity.Grants{Read: []point.Pattern{"**"}}
	s.cfg = federation.Config{
		Name: name, Store: s.store, Catalog: c, Limits: query.DefaultLimits(), Now: now, Log: &s.log,
		Children: func() []federation.Child { return s.below },
		Ask: func(ctx context.Context, child string, body []byte) ([]byte, error) {
			n := s.nodes[child]
			if n == nil {
				return nil, fault.E("ask", fault.Unreachable, child, context.Canceled)
			}
			if s.silent {
				<-ctx.Done()
				return nil, fault.E("ask", fault.Timeout, child, ctx.Err())
			}
			answer, err := n.Answer(ctx, everything, body)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.answered = append(s.answered, len(answer))
			return answer, err
		},
		Below: func(at point.Path) []point.Path { return []point.Path{at} },
		Sent:  s.sends, Place: func() uint64 { return uint64(s.sent) },
	}
	s.Federation = federation.New(s.cfg)
	return s
}

func (s *site) sends(p point.Path) bool {
	return slices.ContainsFunc(s.selects, func(x point.Pattern) bool { return x.Match(p) })
}

// hang makes a node the child of this one.
func (s *site) hang(c federation.Child, n *site) {
	s.below = append(s.below, c)
	s.nodes[c.Name] = n
}

// record appends samples of an origin to the log.
func (s *site) record(t fatal, origin string, sequence uint64, samples []point.Sample) {
	data, err := new(wire.Encoder).AppendPacked(nil, blockOf(origin, sequence, samples))
	if err != nil {
		t.Fatal(err)
	}
	s.log.list = append(s.log.list, data)
}

type fatal interface{ Fatal(args ...any) }

func blockOf(origin string, sequence uint64, samples []point.Sample) *point.Block {
	b := &point.Block{Origin: origin, Sequence: sequence, Created: noon()}
	for i := range samples {
		at := slices.Index(b.Points, samples[i].Point)
		if at < 0 {
			at = len(b.Points)
			b.Points = append(b.Points, samples[i].Point)
		}
		b.Append(uint32(at), &samples[i])
	}
	return b
}

// keep stores blocks of the log up to a place.
func (s *site) keep(t fatal, to int) {
	for ; s.stored < to; s.stored++ {
		b := &point.Block{}
		if err := new(wire.Decoder).DecodeBlock(s.log.list[s.stored], b); err != nil {
			t.Fatal(err)
		}
		b.Log, b.LogSequence = s.log.ID(), uint64(s.stored+1)
		if _, err := s.store.Append(context.Background(), []*point.Block{b}); err != nil {
			t.Fatal(err)
		}
	}
}

// send puts what is selected of the next block into the parent's log.
func (s *site) send(t fatal, to *site) {
	b := &point.Block{}
	if err := new(wire.Decoder).DecodeBlock(s.log.list[s.sent], b); err != nil {
		t.Fatal(err)
	}
	var samples []point.Sample
	for i := range b.Len() {
		if one := b.Sample(i); s.sends(one.Point) {
			samples = append(samples, one)
		}
	}
	s.sent++
	to.record(t, b.Origin, b.Sequence, samples)
}

// catalogues are of the nodes from above; the last knows all points.
func catalogues(t *testing.T, known ...[]point.Info) []*catalog.Catalog {
	t.Helper()
	var list []*catalog.Catalog
	for i, infos := range known {
		c, err := catalog.Open(t.Context(), t.TempDir(), noon)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := c.Below(t.Context(), []string{"campus", "plant", "none", "none"}[i], infos, nil, catalog.Bound{}); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

func draw(t *rapid.T, points []point.Path) []point.Sample {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) point.Sample {
		s := point.Sample{
			Point: rapid.SampledFrom(points).Draw(t, "point"),
			Time:  noon().Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "time")) * 5 * time.Minute),
			Value: point.FloatOf(float64(rapid.IntRange(-400, 400).Draw(t, "value")) / 8),
		}
		if rapid.IntRange(0, 7).Draw(t, "bad") == 0 {
			s.Quality = point.Bad
		}
		return s
	}), 1, 12).Draw(t, "samples")
}

func TestEveryQuestionIsAnsweredAsByOneStoreWhereverTheSamplesAre(t *testing.T) {
	// Of b what campus does not send, of c what the plant does not.
	infos := []point.Info{
		{Path: "campus/a/p", Kind: point.Float, Unit: "kW", Interval: 5 * time.Minute},
		{Path: "campus/a/q", Kind: point.Float},
		{Path: "campus/b/p", Kind: point.Float, Unit: "°C", Interval: 10 * time.Minute},
		{Path: "campus/c/p", Kind: point.Float, Interval: time.Hour},
	}
	c := catalogues(t, infos[:2], infos[:3], infos, infos)
	points := []point.Path{"campus/a/p", "campus/a/q", "campus/b/p", "campus/c/p"}
	for _, prefix := range []point.Path{"campus", ""} {
		t.Run(fmt.Sprintf("prefix %q", prefix), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				region, campus, plant := grow(c[0]), grow(c[1], "campus/a/**"), grow(c[2], "campus/a/**", "campus/b/**")
				child := federation.Child{Prefix: prefix, Record: []point.Pattern{"campus/**"}, Online: true}
				one := memory.New(memory.Options{})
				for i := range rapid.IntRange(0, 12).Draw(t, "blocks") {
					samples := draw(t, points)
					plant.record(t, "plant", uint64(i+1), samples)
					if _, err := one.Append(t.Context(), []*point.Block{blockOf("plant", uint64(i+1), samples)}); err != nil {
						t.Fatal(err)
					}
				}
				for range rapid.IntRange(0, len(plant.log.list)).Draw(t, "at campus") {
					plant.send(t, campus)
				}
				for range rapid.IntRange(0, len(campus.log.list)).Draw(t, "at region") {
					campus.send(t, region)
				}
				child.Name, child.Waiting = "plant", uint64(len(plant.log.list)-plant.sent)
				campus.hang(child, plant)
				child.Name, child.Waiting, child.Below = "campus", uint64(len(campus.log.list)-campus.sent), child.Waiting
				region.hang(child, campus)
				if child.Waiting+child.Below == 0 { // nobody is asked for the newest, which are those of the store
					region.keep(t, len(region.log.list))
				}
				for _, s := range []*site{region, campus, plant} {
					s.keep(t, rapid.IntRange(0, len(s.log.list)).Draw(t, "stored"))
				}
				compare(t, region, query.New(one, c[3], query.DefaultLimits(), now), points, one)
			})
		})
	}
}

func compare(t *rapid.T, f *site, one *query.Engine, points []point.Path, all store.Store) {
	ctx := t.Context()
	from := noon().Add(time.Duration(rapid.IntRange(-60, 1500).Draw(t, "from")) * time.Minute)
	req := query.Request{From: from, To: from.Add(time.Duration(rapid.IntRange(1, 2000).Draw(t, "long")) * time.Minute)}
	req.Points = rapid.SliceOfNDistinct(rapid.SampledFrom(points), 1, 4, rapid.ID).Draw(t, "of")
	values := cmp.Comparer(func(a, b point.Value) bool { return a == b })
	same := func(what string, want, got any, err1, err2 error) {
		if err1 != nil || err2 != nil {
			t.Fatalf("%s: %v, %v", what, err1, err2)
		}
		if diff := cmp.Diff(want, got, values, cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })); diff != "" {
			t.Fatalf("%s differs: %s", what, diff)
		}
	}
	how := query.Aggregation{
		Step:      rapid.SampledFrom([]query.Step{{Duration: time.Hour}, {Duration: 15 * time.Minute}, {Days: 1}, {Months: 1}}).Draw(t, "step"),
		Functions: []query.Function{query.Mean, query.TimeWeighted, query.Median, "p90", query.Deviation},
	}
	if rapid.Bool().Draw(t, "zoned") {
		how.Zone, _ = query.ParseZone("Europe/Berlin") // the clock changes on 29 March
	}
	s1, err1 := one.Aggregate(ctx, req, how)
	s2, err2 := settled(func() (query.Summaries, []query.Source, error) {
		a, err := f.Aggregate(ctx, req, how)
		return a, a.Sources, err
	})
	s2.Sources = nil
	same("the summary", s1, s2, err1, err2)
	pixels := rapid.IntRange(10, 60).Draw(t, "pixels")
	a1, err1 := one.Plot(ctx, req, pixels)
	a2, err2 := settled(func() (query.Answer, []query.Source, error) {
		a, err := f.Plot(ctx, req, pixels)
		return a, a.Sources, err
	})
	a2.Sources = nil
	same("the plot", a1, a2, err1, err2)
	compareSamples(t, f, one, req, same)
	l1, err1 := one.Latest(ctx, req.Selection)
	l2, err2 := settled(func() (query.Newest, []query.Source, error) {
		n, err := f.Latest(ctx, req.Selection)
		return n, n.Sources, err
	})
	same("the newest", moments(l1), moments(l2.Samples), err1, err2)
	req.Limit, req.Newest = rapid.IntRange(0, 5).Draw(t, "limit"), rapid.Bool().Draw(t, "newest")
	a1, err1 = one.Range(ctx, req)
	a2, err2 = settled(func() (query.Answer, []query.Source, error) {
		a, err := f.Range(ctx, req)
		return a, a.Sources, err
	})
	a2.Sources = nil
	same("the range", a1, a2, err1, err2)
}

// compareSamples compares all samples, as they are exported and as PromQL reads them.
func compareSamples(t *rapid.T, f *site, one *query.Engine, req query.Request, same func(what string, want, got any, err1, err2 error)) {
	ctx := t.Context()
	var e1 []point.Sample
	err1 := one.Export(ctx, req, func(run []point.Sample) error { e1 = append(e1, run...); return nil })
	e2, err2 := settled(func() (list []point.Sample, sources []query.Source, err error) {
		err = f.Export(ctx, req, func(s []query.Source) { sources = s }, func(run []point.Sample) error { list = append(list, run...); return nil })
		return list, sources, err
	})
	if fault.Is(err1, fault.NotFound) {
		err1, err2 = nil, nil
	}
	same("the export", e1, e2, err1, err2)
	r := store.Range{Points: req.Points, From: req.From, To: req.To}
	e2, err2 = settled(func() (list []point.Sample, sources []query.Source, err error) {
		err = f.Read(ctx, r, func(s []query.Source) { sources = s }, func(run []point.Sample) error { list = append(list, run...); return nil })
		return list, sources, err
	})
	same("what is read", e1, e2, nil, err2)
}

// settled asks again as long as a node was late, which the answer says: on a machine with much to do
// one may be.
func settled[T any](ask func() (T, []query.Source, error)) (T, error) {
	for {
		answer, sources, err := ask()
		if !slices.ContainsFunc(sources, func(s query.Source) bool { return s.State == query.SourceLate }) {
			return answer, err
		}
	}
}

func moments(samples []point.Sample) []string {
	list := []string{}
	for _, s := range samples {
		list = append(list, string(s.Point)+s.Time.Format(time.RFC3339))
	}
	return list
}
