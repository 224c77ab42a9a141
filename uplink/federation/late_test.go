package federation_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
	"voltbus/uplink/federation"
)

func always() query.Request {
	return query.Request{Selection: query.Selection{Points: []point.Path{"campus/a/p"}}, From: noon(), To: now()}
}

// ask asks a question, and returns how long that took and the source.
func ask(t *testing.T, question func() ([]query.Source, error)) (time.Duration, query.Source) {
	t.Helper()
	before := time.Now()
	sources, err := question()
	if err != nil || len(sources) != 1 {
		t.Fatalf("the sources are %+v, %v", sources, err)
	}
	return time.Since(before), sources[0]
}

func TestWhoWasLateIsNotWaitedForWithEachQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := catalogues(t, []point.Info{{Path: "campus/a/p", Kind: point.Float}}, nil)
		region, campus := grow(c[0]), grow(c[1], "campus/**")
		campus.record(t, "campus", 1, []point.Sample{{Point: "campus/a/p", Time: noon(), Value: point.FloatOf(1)}})
		region.hang(federation.Child{Name: "campus", Prefix: "campus", Online: true, Waiting: 1}, campus)
		plot := func() ([]query.Source, error) {
			a, err := region.Plot(t.Context(), always(), 100)
			return a.Sources, err
		}
		newest := func() ([]query.Source, error) {
			a, err := region.Latest(t.Context(), always().Selection)
			return a.Sources, err
		}
		region.silent = true
		first, s := ask(t, newest)
		if s.State != query.SourceLate {
			t.Fatalf("who does not answer is %+v", s)
		}
		whole, s := ask(t, plot)
		if s.State != query.SourceLate || whole <= first {
			t.Errorf("who was late for the newest is given %v, after %v: %+v", whole, first, s)
		}
		for _, question := range []func() ([]query.Source, error){plot, newest, plot} {
			if took, s := ask(t, question); s.State != query.SourceLate || took >= first || !strings.Contains(s.Why, "ask again") {
				t.Errorf("who was late is given %v: %+v", took, s)
			}
		}
		region.silent = false
		if _, s := ask(t, plot); s.State != query.SourceAsked || s.Samples != 1 {
			t.Errorf("who answers at once again is %+v", s)
		}
		region.silent = true
		<-time.After(time.Minute)
		if took, s := ask(t, plot); s.State != query.SourceLate || took != whole {
			t.Errorf("a minute later it is given %v: %+v", took, s)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		<-time.After(time.Minute)
		if _, err := region.Plot(ctx, always(), 100); err != nil && !fault.Is(err, fault.Canceled) {
			t.Error(err)
		}
		if took, _ := ask(t, plot); took != whole {
			t.Errorf("a question that was given up makes it late: %v", took)
		}
	})
}

func TestAnAnswerSaysThatMuchOfTheOwnLogIsNotStored(t *testing.T) {
	c := catalogues(t, []point.Info{{Path: "campus/a/p", Kind: point.Float}}, nil, nil)
	region, campus, plant := growAs("region", c[0]), growAs("campus", c[1]), growAs("plant", c[2], "campus/**")
	child := federation.Child{Name: "campus", Prefix: "campus", Online: true, Waiting: 1}
	region.hang(child, campus)
	child.Name = "plant"
	campus.hang(child, plant)
	many := make([]point.Sample, 100_000)
	for i := range many {
		many[i] = point.Sample{Point: "campus/other", Time: noon().Add(time.Duration(i) * time.Millisecond)}
	}
	for _, s := range []*site{region, campus} {
		for range 30 {
			if len(s.log.list) == 0 {
				s.record(t, "plant", 1, many)
			} else {
				s.log.list = append(s.log.list, s.log.list[0])
			}
		}
	}
	failed := func() (out []string) {
		t.Helper()
		a, err := settled(func() (query.Answer, []query.Source, error) {
			a, err := region.Range(t.Context(), always())
			return a, a.Sources, err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range a.Sources {
			if !s.Whole() {
				out = append(out, s.Node+" "+s.State)
			}
		}
		return out
	}
	if got := failed(); got != nil {
		t.Errorf("all that may be looked at: %v", got)
	}
	region.record(t, "plant", 2, many[:1])
	campus.record(t, "plant", 2, many[:1])
	if got := strings.Join(failed(), ", "); got != "campus failed, region failed" {
		t.Errorf("one more: %v", got)
	}
	region.keep(t, len(region.log.list))
	if got := strings.Join(failed(), ", "); got != "campus failed" {
		t.Errorf("one more at the descendant: %v", got)
	}
}
