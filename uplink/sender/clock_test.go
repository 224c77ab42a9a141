package sender_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/point"
	"voltbus/uplink/sender"
	"voltbus/wire"
)

// stamp is the time of a sample in a log, with its value.
type stamp struct{ micro, value int64 }

// stamps returns the samples of an origin in a log.
func stamps(t *testing.T, log *memoryLog, origin string) (all []stamp) {
	t.Helper()
	for _, data := range log.entries {
		var b point.Block
		if err := new(wire.Decoder).DecodeBlock(data, &b); err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			if b.Origin == origin {
				s := b.Sample(i)
				v, _ := s.Value.Int()
				all = append(all, stamp{s.Time.UnixMicro(), v})
			}
		}
	}
	return all
}

// told moves the time that a message says.
func told(t *testing.T, by time.Duration) func(map[string]any) {
	return func(fields map[string]any) {
		text, _ := fields["time"].(string)
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Error(err)
		}
		fields["time"] = at.Add(by)
	}
}

func TestSamplesOfAClockThatIsWrongByHoursArriveWithTheirTimes(t *testing.T) {
	for _, ahead := range []time.Duration{5 * time.Hour, -7 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, 4)
			s.ahead = ahead
			// What the child says is ahead, and what it hears is behind its own clock.
			s.between(skew{hello: told(t, ahead), welcome: told(t, -ahead)})
			s.startParent()
			s.startChild()
			for range 20 {
				s.record("child~1", path(0), 10)
				s.record("child~1!", path(1), 2)
			}
			s.until("all is there", s.arrived)
			st, there := s.sender.Status(), s.receiver.Status()["child"]
			s.stop()
			s.account()
			if off := (there.Offset - ahead).Abs(); off > time.Second {
				t.Errorf("the parent says that the child is %v ahead, want %v", there.Offset, ahead)
			}
			if off := (st.Offset + ahead).Abs(); off > time.Second {
				t.Errorf("the child says that the parent is %v ahead, want %v", st.Offset, -ahead)
			}
			if st.State != sender.Connected || there.Refusal != nil || len(s.refusals) != 0 {
				t.Errorf("the child is %s, the parent refuses %v, %v", st.State, there.Refusal, s.refusals)
			}
			for _, origin := range []string{"child~1", "child~1!"} {
				made, arrived := stamps(t, s.child, origin), stamps(t, s.parent, origin)
				if len(made) == 0 || !slices.Equal(made, arrived) {
					t.Errorf("%s: the parent has other times than the child: %v and %v", origin, arrived, made)
				}
				if drift := time.Since(time.UnixMicro(made[0].micro)) + ahead; drift.Abs() > time.Hour {
					t.Errorf("%s: the times are not those of the wrong clock: %v beside", origin, drift)
				}
			}
		})
	}
}
