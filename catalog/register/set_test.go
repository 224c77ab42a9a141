package register

import (
	"strconv"
	"strings"
	"testing"
)

func TestAttackWhoDescribesAPointAgainAndAgainTakesNoMoreMemory(t *testing.T) {
	r := New()
	for i := range 1000 {
		text := strconv.Itoa(i)
		r.Put([]Record{{Path: "p", Device: text, Description: text, Traits: Traits{Since: int64(i), Tags: `{"a":"` + text + `"}`, Child: "plant"}}})
	}
	for name, n := range map[string]int{"traits": len(r.traits.list), "devices": len(r.devices.list), "descriptions": len(r.descriptions.list)} {
		if n > 2 {
			t.Errorf("one point has %d %s", n, name)
		}
	}
	if s, want := r.Share("plant"), (Share{1, int64(len(`p999999{"a":"999"}`))}); s != want {
		t.Errorf("its share is %+v, want %+v", s, want)
	}
	if c := r.Record(0); c.Description != "999" || c.Device != "999" || !strings.Contains(c.Tags, "999") {
		t.Errorf("the point is %+v", c)
	}
}
