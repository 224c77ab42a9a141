package node_test

import (
	"slices"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/testing/link"
)

// history records a sample a second at a node, so many of each point.
func history(t *testing.T, at member, base time.Time, count int, points ...string) {
	t.Helper()
	for _, p := range points {
		samples := make([]point.Sample, count)
		for i := range samples {
			samples[i] = point.Sample{Point: point.Path(p), Time: base.Add(time.Duration(i) * time.Second), Value: point.IntOf(int64(i))}
		}
		if err := at.Record(wait(t), samples); err != nil {
			t.Fatal(err)
		}
	}
	awaitTrue(t, "it is stored there", func() bool {
		for _, p := range points {
			r, err := at.Range(wait(t), client.Span{Points: []string{p}, From: "-1d", Local: true}, 0, false)
			if err != nil || len(r.Series[0].Samples) < count {
				return false
			}
		}
		return true
	})
}

// whole reports whether a series holds the values from first up to end, each once and in order.
func whole(s answer.Series, first, end int) bool {
	samples, err := client.Samples(s)
	if err != nil || len(samples) != end-first {
		return false
	}
	for i := range samples {
		if samples[i].Value != point.IntOf(int64(first+i)) {
			return false
		}
	}
	return true
}

func states(list []answer.Source) (out []string) {
	for _, s := range list {
		out = append(out, s.Node+" "+s.State)
	}
	return out
}

func TestHistoryIsAnsweredWithWhatNodesBelowHaveNotSent(t *testing.T) {
	const count = 300
	c := plantChain(t, map[string]string{
		"campus": "uplink: {select: [\"plant/ahu/**\"], allow: [\"read **\"]}\n",
		"plant":  "uplink: {select: [\"ahu/**\"], allow: [\"read ahu/**\", \"read meter/**\"]}\n",
	}, nil)
	base := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	history(t, c.plant, base, count, "ahu/temp", "meter/power", "door/lock")
	awaitTrue(t, "the region has what is sent", func() bool { n, _ := stored(c.region.running, "plant"); return n >= count })
	span := client.Span{Points: []string{"campus/plant/ahu/temp", "campus/plant/meter/power"}, From: "-1d"}
	r, err := c.region.Range(wait(t), span, 0, false)
	if err != nil || len(r.Series) != 2 || !whole(r.Series[0], 0, count) || !whole(r.Series[1], 0, count) {
		t.Fatalf("the region answers %+v, %v", r, err)
	}
	if got := states(r.Sources); !slices.Equal(got, []string{"campus asked", "plant asked"}) || r.Sources[0].Samples != count || r.Series[1].Present != count {
		t.Errorf("the sources are %+v, the series has %d", r.Sources, r.Series[1].Present)
	}
	for _, bound := range []struct {
		newest     bool
		first, end int
	}{{false, 0, 7}, {true, count - 7, count}} {
		r, err := c.region.Range(wait(t), span, 7, bound.newest)
		if err != nil || !whole(r.Series[0], bound.first, bound.end) || !whole(r.Series[1], bound.first, bound.end) || !r.Series[1].Truncated {
			t.Errorf("with a limit: %+v, %v", r, err)
		}
	}
	l, err := c.region.Latest(wait(t), client.Span{Points: span.Points})
	if err != nil || len(l.Samples) != 2 || string(l.Samples[1].Value) != "299" || l.Samples[1].Point != span.Points[1] {
		t.Errorf("the newest are %+v, %v", l, err)
	}
	r, err = c.region.Range(wait(t), client.Span{Points: []string{"campus/plant/door/lock"}, From: "-1d"}, 0, false)
	if err != nil || !slices.Contains(states(r.Sources), "plant refused") || r.Sources[len(r.Sources)-1].Missing != "read door/lock" {
		t.Errorf("what the plant does not let read: %+v, %v", r, err)
	}
	span.Local = true
	if _, err := c.region.Range(wait(t), span, 0, false); !fault.Is(err, fault.NotFound) {
		t.Errorf("the own store alone has a point that was not sent: %v", err)
	}
	if _, err := c.region.Range(wait(t), client.Span{Points: []string{"campus/plant/meter/none"}}, 0, false); !fault.Is(err, fault.NotFound) {
		t.Errorf("a point that no node knows: %v", err)
	}
	r, err = c.region.Range(wait(t), client.Span{Points: span.Points[:1], From: "-1d", To: base.Add(100 * time.Second).Format(time.RFC3339)}, 0, false)
	if err != nil || !whole(r.Series[0], 0, 100) || r.Sources[0].State != "stored" && r.Sources[0].Waiting == 0 {
		t.Errorf("a time that is stored here: %+v, %v", r.Sources, err)
	}
}

func TestANodeThatIsAwayIsNamedInTheAnswer(t *testing.T) {
	const count = 200
	c := plantChain(t, nil, nil)
	base := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	history(t, c.plant, base, count, "ahu/temp")
	awaitTrue(t, "campus has it", func() bool { n, _ := stored(c.campus.running, "plant"); return n >= count })
	awaitTrue(t, "the region has it", func() bool { n, _ := stored(c.region.running, "plant"); return n >= count })
	c.toRegion.Lead("")
	c.toRegion.Cut()
	history(t, c.plant, base.Add(count*time.Second), 1, "ahu/temp")
	awaitTrue(t, "the region knows that campus is away", func() bool { return !c.region.Tree().Below()[0].Away.IsZero() })
	span := client.Span{Points: []string{"campus/plant/ahu/temp"}, From: "-1d"}
	r, err := c.region.Range(wait(t), span, 0, false)
	if err != nil || !whole(r.Series[0], 0, count) {
		t.Fatalf("the region answers with what it has: %+v, %v", r, err)
	}
	if got := states(r.Sources); !slices.Equal(got, []string{"campus unreachable"}) || r.Sources[0].Since == nil || r.Sources[0].Why == "" {
		t.Errorf("the sources are %+v", r.Sources)
	}
	l, err := c.region.Latest(wait(t), client.Span{})
	if err != nil || len(l.Samples) != 1 || !slices.Equal(states(l.Sources), []string{"campus unreachable"}) {
		t.Errorf("the newest: %+v, %v", l, err)
	}
	span.Local = true
	if r, err = c.region.Range(wait(t), span, 0, false); err != nil || r.Sources != nil {
		t.Errorf("the own store alone: %+v, %v", r.Sources, err)
	}
}

func TestALateNodeIsNamedInTheAnswerAndItsHistoryComesOnce(t *testing.T) {
	const count = 200
	c := plantChain(t, nil, nil)
	base := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	c.toCampus.Hold(link.Up, true)
	history(t, c.plant, base, count, "ahu/temp")
	span := client.Span{Points: []string{"campus/plant/ahu/temp"}, From: "-1d"}
	r, err := c.region.Range(wait(t), span, 0, false)
	if err != nil || len(r.Series) != 1 || len(r.Series[0].Samples) != 0 || !slices.Equal(states(r.Sources), []string{"campus asked", "plant late"}) {
		t.Fatalf("while nothing comes from the plant: %+v, %v", r, err)
	}
	c.toCampus.Hold(link.Up, false)
	if r, err = c.region.Range(wait(t), span, 0, false); err != nil || !whole(r.Series[0], 0, count) {
		t.Errorf("as soon as it comes: %+v, %v", r, err)
	}
	awaitTrue(t, "the region has it", func() bool { n, _ := stored(c.region.running, "plant"); return n >= count })
	if r, err = c.region.Range(wait(t), span, 0, false); err != nil || !whole(r.Series[0], 0, count) {
		t.Errorf("when it is stored here, too: %+v, %v", r, err)
	}
}

func TestABacklogOfASlowUplinkIsInTheAnswer(t *testing.T) {
	const count = 5000
	c := plantChain(t, map[string]string{"plant": "uplink: {rate: 1KiB}\n"}, nil)
	base := time.Now().Add(-2 * time.Hour).UTC().Truncate(time.Second)
	history(t, c.plant, base, count, "ahu/temp", "ahu/fan", "ahu/flow", "ahu/valve")
	span := client.Span{Points: []string{"campus/plant/ahu/fan", "campus/plant/ahu/valve"}, From: "-1d"}
	r, err := c.region.Range(wait(t), span, 0, false)
	if err != nil || len(r.Series) != 2 || !whole(r.Series[0], 0, count) || !whole(r.Series[1], 0, count) {
		t.Errorf("the region answers %+v, %v", r.Sources, err)
	}
	if !slices.Contains(states(r.Sources), "plant asked") || r.Sources[0].Samples == 0 {
		t.Errorf("the sources are %+v", r.Sources)
	}
}
