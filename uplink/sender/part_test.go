package sender_test

import (
	"testing"
	"testing/synctest"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/wire"
)

// large records a block that does not pack: n samples, 8 bytes each.
func (s *site) large(origin string, n int) {
	s.mu.Lock()
	head := s.heads[origin]
	b := &point.Block{Origin: origin, Sequence: head.Sequence + 1, Before: head.Samples, Created: time.Now().UTC(), Points: []point.Path{path(0)}}
	for range n {
		v := int64(len(s.produced[origin]))
		b.Append(0, &point.Sample{Time: time.UnixMicro(s.rand.Int64()), Value: point.IntOf(v)})
		s.produced[origin] = append(s.produced[origin], v)
	}
	s.heads[origin] = uplink.Position{Sequence: b.Sequence, Samples: b.End()}
	s.mu.Unlock()
	data, err := new(wire.Encoder).AppendBlock(nil, b)
	if err != nil {
		s.t.Fatal(err)
	}
	s.child.append(data)
}

// sent returns how many bytes went up.
func (s *site) sentOctets() (n uint64) {
	for _, l := range s.sender.Status().Lanes {
		n += l.Sent
	}
	return n
}

// sample of large, in bytes on the way.
const octetsEach = 8

func newSlowSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t, 5)
	s.cfg.Patience = 30 * time.Second
	s.rate = 8000 // 64 kbit/s
	return s
}

// A block for which the link needs minutes would be sent again and again from its beginning.
func TestALargeBlockComesOverASlowLinkThatIsCutAgainAndAgain(t *testing.T) {
	for name, c := range map[string]struct {
		every   time.Duration // the link is cut
		rate    int64
		samples int
	}{
		"a link of 64 kbit/s":                                     {time.Hour, 8000, 100_000},
		"a link of 64 kbit/s that is cut each ten seconds":        {10 * time.Second, 8000, 40_000},
		"a link of 16 kbit/s that is cut each twenty-seven":       {27 * time.Second, 2000, 20_000},
		"a link that is fast and cut when a part of it went over": {200 * time.Millisecond, 1 << 20, 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSlowSite(t)
				s.rate = c.rate
				s.record("child~1", path(0), 3)
				s.large("child~1", c.samples)
				s.record("child~1", path(0), 4)
				s.startParent()
				s.startChild()
				urgent := 0
				for next := time.Now().Add(c.every); !s.arrived(); {
					time.Sleep(time.Second) //nolint:forbidigo // virtual
					if time.Now().After(next) {
						s.cut()
						next = time.Now().Add(c.every)
					}
					if urgent < 30 {
						s.record("child~1!", path(1), 1)
						urgent++
					}
					if s.sentOctets() > 3*uint64(c.samples)*octetsEach {
						t.Errorf("%d bytes went up for a block of %d: %+v", s.sentOctets(), c.samples*octetsEach, s.sender.Status())
						break
					}
				}
				s.stop()
				if t.Failed() {
					return
				}
				missing, left, points := s.account()
				if n := s.total(points); n != c.samples+7+urgent || missing["child~1"]+left["child~1"] != 0 {
					t.Errorf("%d samples arrived", n)
				}
			})
		})
	}
}

func TestUrgentReadingsPassALargeBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowSite(t)
		s.large("child~1", 100_000)
		s.startParent()
		s.startChild()
		time.Sleep(10 * time.Second) //nolint:forbidigo // virtual
		for range 5 {
			began := time.Now()
			s.record("child~1!", path(1), 1)
			head := s.heads["child~1!"]
			s.until("it is at the parent", func() bool { return s.receiver.Positions([]string{"child~1!"})["child~1!"] == head })
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
		}
		if s.arrived() {
			t.Error("the large block was there before")
		}
		s.stop()
	})
}

// A refused block is not sent again each time that it is tried.
func TestALargeBlockThatIsRefusedIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlowSite(t)
		granted := s.grants
		s.grants = identity.Grants{}
		const samples = 40_000
		s.large("child~1", samples)
		s.startParent()
		s.startChild()
		refused := func() bool {
			o := s.sender.Status().Origins
			return len(o) > 0 && fault.Is(o[0].Err, fault.Refused)
		}
		s.until("it is refused", refused)
		time.Sleep(5 * time.Minute) //nolint:forbidigo // virtual
		if n := s.sentOctets(); n > 2*samples*octetsEach {
			t.Errorf("%d bytes went up for a block of %d", n, samples*octetsEach)
		}
		s.mu.Lock()
		s.grants = granted
		s.mu.Unlock()
		s.until("it is there", s.arrived)
		if n := s.sentOctets(); n > 2*samples*octetsEach {
			t.Errorf("%d bytes went up for a block of %d", n, samples*octetsEach)
		}
		s.stop()
		s.account()
	})
}

func TestAParentThatKnowsNoPartsGetsLargeBlocksWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 5)
		s.between(skew{welcome: func(fields map[string]any) { delete(fields, "parts") }})
		s.large("child~1", 100_000)
		s.startParent()
		s.startChild()
		s.until("it is there", s.arrived)
		s.stop()
		s.account()
		if l := s.sender.Status().Lanes; l[0].Back+l[1].Back != 0 {
			t.Errorf("it went back: %+v", l)
		}
	})
}
