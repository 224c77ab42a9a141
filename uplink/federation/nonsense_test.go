package federation_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"voltbus/catalog"
	"voltbus/point"
	"voltbus/query"
	"voltbus/uplink/federation"
	"voltbus/wire"
)

// reply is what a child says of its points, sample for sample as they are given.
func reply(t *testing.T, told []federation.PointReply, samples []point.Sample) []byte {
	t.Helper()
	b := &point.Block{}
	for i := range told {
		b.Points = append(b.Points, point.Path(strconv.Itoa(i)))
	}
	for i := range samples {
		b.Append(0, &samples[i])
	}
	data, err := new(wire.Encoder).AppendPacked(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(&federation.Reply{Points: told, Block: data})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// sourced is a reply that names a node.
func sourced(t *testing.T, node string) []byte {
	t.Helper()
	r := &federation.Reply{}
	if err := json.Unmarshal(reply(t, []federation.PointReply{{}}, nil), r); err != nil {
		t.Fatal(err)
	}
	r.Sources = []query.Source{{Node: node, State: query.SourceAsked}}
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// told returns a node whose only child answers so.
func told(c *catalog.Catalog, answer func(*federation.Query) []byte) *federation.Federation {
	s := grow(c)
	return federation.New(federation.Config{
		Name: "region", Store: s.store, Catalog: c, Limits: query.DefaultLimits(), Now: now, Log: &s.log,
		Children: func() []federation.Child {
			return []federation.Child{{Name: "campus", Prefix: "campus", Online: true, Waiting: 1}}
		},
		Ask: func(_ context.Context, _ string, body []byte) ([]byte, error) {
			q := &federation.Query{}
			err := json.Unmarshal(body, q)
			return answer(q), err
		},
	})
}

func number(at time.Time) point.Sample { return point.Sample{Time: at, Value: point.FloatOf(1)} }

func TestAnAnswerThatNoNodeGivesDoesNoHarm(t *testing.T) {
	c := catalogues(t, []point.Info{{Path: "campus/p", Kind: point.Float}})[0]
	far := time.UnixMicro(1 << 60)
	for name, answer := range map[string][]byte{
		"against the order":    reply(t, []federation.PointReply{{}}, []point.Sample{number(noon().Add(72 * time.Hour)), number(noon()), number(noon().Add(time.Minute))}),
		"one time twice":       reply(t, []federation.PointReply{{}}, []point.Sample{number(noon()), number(noon())}),
		"a year beyond 9999":   reply(t, []federation.PointReply{{}}, []point.Sample{number(far)}),
		"a source of no name":  sourced(t, "\x1b[2J"),
		"a text without UTF-8": reply(t, []federation.PointReply{{}}, []point.Sample{{Time: noon(), Value: point.TextOf("\xff")}}),
	} {
		t.Run(name, func(t *testing.T) {
			f := told(c, func(*federation.Query) []byte { return answer })
			req := query.Request{Selection: query.Selection{Points: []point.Path{"campus/p"}}, From: noon(), To: noon().Add(time.Hour)}
			failed := func(what string, sources []query.Source, err error) {
				t.Helper()
				if err != nil || len(sources) != 1 || sources[0].State != query.SourceFailed {
					t.Errorf("%s: %v, %+v", what, err, sources)
				}
			}
			a, err := f.Range(t.Context(), req)
			failed("the range", a.Sources, err)
			s, err := f.Aggregate(t.Context(), req, query.Aggregation{Step: query.Step{Days: 1}, Functions: []query.Function{query.Mean}})
			failed("the summary", s.Sources, err)
			n, err := f.Latest(t.Context(), req.Selection)
			failed("the newest", n.Sources, err)
			if len(n.Samples) != 0 {
				t.Errorf("the newest of an answer that cannot be right: %v", n.Samples)
			}
		})
	}
}

func TestAttackWhatAChildSaysOfAPointIsBounded(t *testing.T) {
	c := catalogues(t, nil)[0]
	far := int64(1) << 62
	for name, one := range map[string]federation.PointReply{
		"a negative interval":      {FirstSeen: 1, Interval: -1},
		"an interval of millennia": {FirstSeen: 1, Interval: far},
		"an interval of a century": {FirstSeen: 1, Interval: 100 * 366 * 24 * time.Hour.Microseconds()},
		"times beyond the years":   {FirstSeen: far, Since: far, Removed: far},
		"times before the years":   {FirstSeen: -far, Since: -far, Removed: -far},
	} {
		t.Run(name, func(t *testing.T) {
			answer := reply(t, []federation.PointReply{one}, []point.Sample{number(noon())})
			f := told(c, func(*federation.Query) []byte { return answer })
			req := query.Request{Selection: query.Selection{Points: []point.Path{"campus/p"}}, From: noon(), To: noon().Add(time.Hour)}
			a, err := f.Range(t.Context(), req)
			if err == nil {
				_, err = json.Marshal(a)
			}
			if err != nil || len(a.Series) != 1 || len(a.Series[0].Samples) != 1 {
				t.Errorf("the range: %v, %+v", err, a)
			}
			s, err := f.Aggregate(t.Context(), req, query.Aggregation{
				Step: query.Step{Duration: time.Hour}, Functions: []query.Function{query.TimeWeighted},
			})
			if err != nil || len(s.Series) != 1 {
				t.Errorf("the summary: %v, %+v", err, s)
			}
		})
	}
}
