package prometheus_test

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/prometheus"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRemoteWriteToVictoriaMetrics(t *testing.T) {
	server, n := peers.StartVictoriaMetrics(t), 0
	peer := func(t *testing.T) *sinktest.Peer {
		n++
		metric := fmt.Sprint("metric", n)
		return &sinktest.Peer{
			Entry: setting.Sink{URL: "http://" + server.Addr + "/api/v1/write", Into: metric}, Kind: prometheus.Kind(), Numbers: true, Late: true,
			Kill: server.Stop, Start: func() { server.Start(t) },
			Read: func(t testing.TB) map[string]string { return sinktest.Victoria(t, server.Addr, metric, "point") },
		}
	}
	sinktest.Run(t, peer)
	t.Run("texts are refused, and the others of the request are not", func(t *testing.T) {
		p, log := peer(t), sinktest.NewLog()
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)), sinktest.At("plant/mode", 2, point.TextOf("heat")), sinktest.At("plant/b", 3, point.FloatOf(3)))
		r.Until(t, "one is refused", func(s *destination.State) bool { return s.Sent == 2 && s.Kept == 1 })
		if n, err := r.Discard("there"); n != 1 || err != nil || r.State(t).Discarded != 1 || r.State(t).Kept != 0 {
			t.Errorf("discarded %d %v, %+v", n, err, r.State(t))
		}
	})
	t.Run("an address that takes no remote write is told", func(t *testing.T) {
		p, log := peer(t), sinktest.NewLog()
		p.Entry.URL = "http://" + server.Addr + "/nothing"
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)))
		r.Until(t, "it is told", func(s *destination.State) bool { return s.Err != nil })
		if text := r.State(t).Err.Error(); !strings.Contains(text, "it takes no remote write at this address") {
			t.Error(text)
		}
	})
}

func BenchmarkCatchUp(b *testing.B) {
	server := peers.StartVictoriaMetrics(b)
	sinktest.CatchUp(b, func() *sinktest.Peer {
		return &sinktest.Peer{Entry: setting.Sink{URL: "http://" + server.Addr + "/api/v1/write", Into: "metric"}, Kind: prometheus.Kind()}
	})
}
