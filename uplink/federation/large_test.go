package federation_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"voltbus/identity"
	"voltbus/point"
	"voltbus/query"
	"voltbus/uplink/federation"
)

// backlog returns a node that holds blocks of samples of a point, one each second, and sent none of them.
func backlog(t *testing.T, blocks, samples int, value func(i int) point.Value) *site {
	t.Helper()
	s := growAs("campus", catalogues(t, []point.Info{{Path: "campus/p"}})[0], "**")
	list := make([]point.Sample, samples)
	for b := range blocks {
		for i := range list {
			n := b*samples + i
			list[i] = point.Sample{Point: "campus/p", Time: noon().Add(time.Duration(n) * time.Second), Value: value(n)}
		}
		s.record(t, "campus", uint64(b+1), list)
	}
	return s
}

func countOf(i int) point.Value { return point.IntOf(int64(i)) }

// above returns a node whose child has the backlog.
func above(t *testing.T, child *site) *site {
	t.Helper()
	region := growAs("region", catalogues(t, []point.Info{{Path: "campus/p"}})[0])
	region.hang(federation.Child{Name: "campus", Prefix: "campus", Online: true, Waiting: 1}, child)
	return region
}

// request asks for all that the backlog may hold.
func request() query.Request {
	return query.Request{Selection: query.Selection{Points: []point.Path{"campus/p"}}, From: noon(), To: noon().Add(30 * 24 * time.Hour)}
}

func TestLongTextsComeInAnswersThatTheBusTakes(t *testing.T) {
	letters := strings.Repeat("a", 60<<10)
	child := backlog(t, 10, 10, func(i int) point.Value { return point.TextOf(letters + time.Duration(i).String()) })
	region := above(t, child)
	var got int
	err := region.Export(t.Context(), request(), func(sources []query.Source) {
		if len(sources) != 1 || sources[0].State != query.SourceAsked {
			t.Errorf("%+v", sources)
		}
	}, func(run []point.Sample) error { got += len(run); return nil })
	if err != nil || got != 100 {
		t.Errorf("%d samples, %v", got, err)
	}
	if len(region.answered) < 100*60/2048 { // before they are compressed
		t.Errorf("6 MB of texts came in %d answers", len(region.answered))
	}
}

func TestMoreTextThanMayBeIsRefusedByTheOneThatAsks(t *testing.T) {
	letters := point.TextOf(strings.Repeat("a", 1<<20))
	var list []point.Sample
	for i := range 4 {
		list = append(list, point.Sample{Time: noon().Add(time.Duration(i) * time.Second), Value: letters})
	}
	f := told(catalogues(t, nil)[0], func(q *federation.Query) []byte { return reply(t, make([]federation.PointReply, len(q.Points)), list) })
	req := request()
	req.Points = nil
	for i := range 20_000 { // asked for in twenty parts
		req.Points = append(req.Points, point.Path("campus/"+strconv.Itoa(i)))
	}
	err := f.Export(t.Context(), req, func(sources []query.Source) {
		if len(sources) != 1 || sources[0].State != query.SourceFailed || !strings.Contains(sources[0].Why, "64 MiB of texts") {
			t.Errorf("%+v", sources)
		}
	}, func([]point.Sample) error { return nil })
	if err != nil {
		t.Error(err)
	}
}

func TestANodeDoesNotReadMoreOfItsLogThanOneAnswerHolds(t *testing.T) {
	child := backlog(t, 100, 10_000, countOf)
	w := federation.Wanted{Point: "campus/p", From: noon().UnixMicro()}
	q := federation.Query{Points: []federation.Wanted{w}, To: noon().Add(30 * 24 * time.Hour).UnixMicro(), Time: 2}
	before := int64(0)
	got := answerOf(t, child, &q)
	for got == nil || got.Rough { // the time was over before
		before = child.log.delivered.Load()
		got = answerOf(t, child, &q)
	}
	if !got.Large {
		t.Errorf("a million samples in one answer: %+v", got)
	}
	if n := child.log.delivered.Load() - before; n > 21 {
		t.Errorf("%d blocks of 10,000 samples were read to find that they are more than 200,000", n)
	}
}

func TestALimitHoldsHoweverMuchWaits(t *testing.T) {
	region := above(t, backlog(t, 100, 3_000, countOf))
	for _, newest := range []bool{false, true} {
		req := request()
		req.Limit, req.Newest = 700, newest
		first := 0
		if newest {
			first = 300_000 - 700
		}
		a, err := settled(func() (query.Answer, []query.Source, error) {
			a, err := region.Range(t.Context(), req)
			return a, a.Sources, err
		})
		if err != nil || len(a.Series) != 1 || len(a.Series[0].Samples) != 700 || !a.Series[0].Truncated {
			t.Fatalf("newest %v: %v, %+v", newest, err, a.Sources)
		}
		for i, s := range a.Series[0].Samples {
			if n, _ := s.Value.Int(); n != int64(first+i) {
				t.Fatalf("newest %v: sample %d is %d, want %d", newest, i, n, first+i)
			}
		}
	}
}

// answerOf returns the answer of a node; nil if it had no time for one.
func answerOf(t *testing.T, s *site, q *federation.Query) *federation.Reply {
	t.Helper()
	body, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.Answer(t.Context(), &identity.Grants{Read: []point.Pattern{"**"}}, body)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	r := &federation.Reply{}
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatal(err)
	}
	return r
}
