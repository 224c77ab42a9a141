package experiment

import (
	"testing"
	"time"
)

func TestACourseKeepsFewMomentsFromTheWholeCase(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	const told = 10_000
	var c course
	c.begin(0, began)
	for i := range told {
		c.add(&Progress{Time: began.Add(time.Duration(i) * time.Second), Repeat: 1, Rate: 5})
		c.add(&Progress{Time: began, Message: "no figure"})
	}
	got := c.kept()
	if len(got) < mostMoments/2-1 || len(got) >= mostMoments {
		t.Fatalf("%d moments are kept", len(got))
	}
	if last := got[len(got)-1].At; got[0].At > told/50 || last < told*0.97 {
		t.Errorf("the moments reach from %v to %v s", got[0].At, last)
	}
	for i := 1; i < len(got); i++ {
		if got[i].At <= got[i-1].At || got[i].Rate != 5 {
			t.Fatalf("moment %d is %+v behind %+v", i, got[i], got[i-1])
		}
	}
}

func TestEachCaseHasACourseOfItsOwn(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	var c course
	for repeat := range 2 {
		c.begin(repeat, began)
		c.add(&Progress{Time: began.Add(time.Second), Repeat: repeat + 1, P99: 1})
	}
	first := c.kept()
	c.begin(0, began)
	if len(first) != 2 || first[1].Repeat != 2 || first[1].At != 1 || len(c.kept()) != 0 {
		t.Errorf("the first case has %+v, the next one begins with %+v", first, c.kept())
	}
}
