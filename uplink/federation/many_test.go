package federation_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store/memory"
	"voltbus/uplink/federation"
)

// Samples of each child, and their bytes in memory. Those of all children take eight times the memory of their parent.
const (
	ofEach    = 24
	octetsOf  = ofEach * 80
	tooMuchBy = 8
)

// many is a node with many children, which sent nothing, and the store that has all.
type many struct {
	*site
	points []point.Path
	one    *query.Engine
}

func newMany(t *testing.T, children int) *many {
	t.Helper()
	m := &many{}
	var infos []point.Info
	for i := range children {
		infos = append(infos, point.Info{Path: point.Path(fmt.Sprintf("c%03d/p", i)), Kind: point.Float, Unit: "kW", Interval: time.Minute})
	}
	c := catalogues(t, infos[:children/2], infos) // half of them only the children know
	m.site = growAs("region", c[0])
	all := memory.New(memory.Options{})
	for i := range infos {
		name := strings.TrimSuffix(string(infos[i].Path), "/p")
		child := growAs(name, c[1], "**")
		var samples []point.Sample
		for j := range ofEach {
			samples = append(samples, point.Sample{Point: infos[i].Path, Time: noon().Add(time.Duration(j) * time.Minute), Value: point.FloatOf(float64(i*ofEach + j))})
		}
		child.record(t, name, 1, samples)
		if _, err := all.Append(t.Context(), []*point.Block{blockOf(name, 1, samples)}); err != nil {
			t.Fatal(err)
		}
		m.hang(federation.Child{Name: name, Prefix: point.Path(name), Online: true, Waiting: ofEach}, child)
		m.points = append(m.points, infos[i].Path)
	}
	m.cfg.Memory = int64(children * octetsOf / tooMuchBy)
	m.Federation = federation.New(m.cfg)
	m.one = query.New(all, c[1], query.DefaultLimits(), now)
	return m
}

func (m *many) request() query.Request {
	return query.Request{Selection: query.Selection{Points: m.points}, From: noon(), To: noon().Add(time.Hour)}
}

// bounded looks at what was held at once, and that nothing is held any more.
func (m *many) bounded(t *testing.T, questions int) {
	t.Helper()
	held, most := m.Held()
	if bound := m.cfg.Memory + federation.Decoders*octetsOf; most > bound || most < m.cfg.Memory/4 || held != 0 {
		t.Errorf("%d bytes of %d were held at once, at most %d may be; %d are still", most, len(m.points)*octetsOf, bound, held)
	}
	if n := m.Asked(); n > int64(questions*federation.AtOnce) {
		t.Errorf("%d goroutines asked for %d questions", n, questions)
	}
}

func TestAQuestionToManyNodesIsAnsweredWholeInBoundedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // nobody is late
		m := newMany(t, 1000)
		values := cmp.Comparer(func(a, b point.Value) bool { return a == b })
		same := func(what string, want, got any, err1, err2 error) {
			t.Helper()
			if err1 != nil || err2 != nil {
				t.Fatalf("%s: %v, %v", what, err1, err2)
			}
			if diff := cmp.Diff(want, got, values); diff != "" {
				t.Errorf("%s differs: %.2000s", what, diff)
			}
		}
		from := func(sources []query.Source) {
			t.Helper()
			if len(sources) != len(m.points) {
				t.Errorf("%d sources", len(sources))
			}
			for _, s := range sources {
				if s.State != query.SourceAsked || s.Samples != ofEach {
					t.Fatalf("a source is %+v", s)
				}
			}
		}
		a1, err1 := m.one.Range(t.Context(), m.request())
		a2, err2 := m.Range(t.Context(), m.request())
		from(a2.Sources)
		a2.Sources = nil
		same("the range", a1, a2, err1, err2)
		how := query.Aggregation{Step: query.Step{Duration: 7 * time.Minute}, Functions: []query.Function{query.Mean, query.TimeWeighted, "p90"}}
		s1, err1 := m.one.Aggregate(t.Context(), m.request(), how)
		s2, err2 := m.Aggregate(t.Context(), m.request(), how)
		from(s2.Sources)
		s2.Sources = nil
		same("the summary", s1, s2, err1, err2)
		p1, err1 := m.one.Plot(t.Context(), m.request(), 10)
		p2, err2 := m.Plot(t.Context(), m.request(), 10)
		p2.Sources = nil
		same("the plot", p1, p2, err1, err2)
		l1, err1 := m.one.Latest(t.Context(), m.request().Selection)
		l2, err2 := m.Latest(t.Context(), m.request().Selection)
		same("the newest", l1, l2.Samples, err1, err2)
		m.bounded(t, 1)
	})
}

// exported exports all, in the order in which it comes.
func (m *many) exported(ctx context.Context) ([]point.Sample, []query.Source, error) {
	var list []point.Sample
	var sources []query.Source
	err := m.Export(ctx, m.request(), func(s []query.Source) { sources = s },
		func(run []point.Sample) error { list = append(list, run...); return nil })
	return list, sources, err
}

func TestQuestionsAtOneTimeShareTheMemoryAndWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // nobody is late
		m := newMany(t, 200)
		var want []point.Sample
		if err := m.one.Export(t.Context(), m.request(), func(run []point.Sample) error { want = append(want, run...); return nil }); err != nil {
			t.Fatal(err)
		}
		const questions = 4
		var wg sync.WaitGroup
		for range questions {
			wg.Go(func() {
				got, sources, err := m.exported(t.Context())
				if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b point.Value) bool { return a == b })); diff != "" || err != nil {
					t.Errorf("%v, %.2000s", err, diff)
				}
				if len(sources) != len(m.points) {
					t.Errorf("%d sources", len(sources))
				}
			})
		}
		wg.Wait()
		m.bounded(t, questions)
	})
}

// quieter has children answer no more when each was asked so often.
func (m *many) quieter(each int64) {
	ask := m.cfg.Ask
	var asked atomic.Int64
	m.cfg.Ask = func(ctx context.Context, child string, body []byte) ([]byte, error) {
		if asked.Add(1) > each*int64(len(m.points)) {
			return nil, fault.E("ask", fault.Unreachable, child, context.Canceled)
		}
		return ask(ctx, child, body)
	}
	m.Federation = federation.New(m.cfg)
}

func TestANodeThatDoesNotAnswerAgainIsNamedOrEndsTheExport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // nobody is late
		m := newMany(t, 100)
		m.quieter(1)
		_, sources, err := m.exported(t.Context())
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "ask again") || len(sources) != len(m.points) {
			t.Errorf("the export ends with %v", err)
		}
		m.quieter(1)
		a, err := m.Range(t.Context(), m.request())
		if err != nil || len(a.Sources) != len(m.points) {
			t.Fatalf("%d sources, %v", len(a.Sources), err)
		}
		for i, s := range a.Sources {
			if s.Whole() && len(a.Series[i].Samples) != ofEach {
				t.Fatalf("%s is %s, and %d of its samples are there", s.Node, s.State, len(a.Series[i].Samples))
			}
		}
		if held, _ := m.Held(); held != 0 {
			t.Errorf("%d bytes are still held", held)
		}
	})
}

func TestOnePointWithMoreThanIsHeldAtOnceEndsWithWhatToDo(t *testing.T) {
	region := above(t, backlog(t, 1, 10_000, countOf))
	region.cfg.Memory = 256 << 10
	region.Federation = federation.New(region.cfg)
	_, err := region.Range(t.Context(), request())
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "ask for a shorter time") {
		t.Errorf("more of a point than is held at once: %v", err)
	}
	_, err = region.ExportParquet(t.Context(), request(), "not written")
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "format=csv") {
		t.Errorf("as one file: %v", err)
	}
	req := request()
	req.To = req.From.Add(1000 * time.Second)
	if a, err := region.Range(t.Context(), req); err != nil || len(a.Series[0].Samples) != 1000 {
		t.Errorf("a shorter time: %v", err)
	}
	if held, _ := region.Held(); held != 0 {
		t.Errorf("%d bytes are still held", held)
	}
}

func TestANodeThatIsAskedForTooManyPointsIsNamedAndTheirPointsAreKnown(t *testing.T) {
	region := above(t, backlog(t, 1, 10, countOf))
	req := request()
	for i := range 20_000 {
		req.Points = append(req.Points, point.Path(fmt.Sprintf("campus/q%05d", i)))
	}
	err := region.Export(t.Context(), req, func(sources []query.Source) {
		if len(sources) != 1 || sources[0].State != query.SourceFailed || !strings.Contains(sources[0].Why, "20000 points at most") {
			t.Errorf("%+v", sources)
		}
	}, func([]point.Sample) error { return nil })
	if err != nil {
		t.Error(err)
	}
}
