package live

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

func TestLiveMessagesKeepToTheirRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, each, seconds = 10 << 10, 1 << 10, 20
		f := newFamily(t, "live.scan.>")
		f.bound = rate
		own := newDesk()
		up := f.child("a", own, allowed("a"))
		pass(2 * time.Second)
		noise := rand.NewChaCha8([32]byte{})
		before := up.Status().Sent
		for range 50 * seconds { // five times as much as may go
			text := make([]byte, each/2)
			_, _ = noise.Read(text)
			m := scanOf("zone")
			m.Data = []byte(`{"device":"zone","time":"` + hex.EncodeToString(text) + `","points":{"n":1}}`)
			own.publish(m)
			pass(time.Second / 50)
		}
		pass(3 * time.Second) // what waited went, or was dropped
		s := up.Status().Sent
		if sent := s.Bytes - before.Bytes; sent > rate*(seconds+4) || sent < rate*seconds/2 {
			t.Errorf("%d bytes went in %d s at %d a second", sent, seconds+3, rate)
		}
		if s.Dropped == 0 {
			t.Error("nothing was dropped")
		}
	})
}
