package influxdb_test

import (
	"testing"

	"go.uber.org/goleak"

	"voltbus/sink/influxdb"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLineProtocolToVictoriaMetrics(t *testing.T) {
	for _, path := range []string{"", "/write"} {
		t.Run("at the path "+path, func(t *testing.T) {
			sinktest.Run(t, func(t *testing.T) *sinktest.Peer {
				server := peers.StartVictoriaMetrics(t)
				return &sinktest.Peer{
					// The server keeps no texts.
					Entry: setting.Sink{URL: "http://" + server.Addr + path, Into: "plant"}, Kind: influxdb.Kind(), Numbers: true, Late: true,
					Kill: server.Stop, Start: func() { server.Start(t) },
					Read: func(t testing.TB) map[string]string {
						return sinktest.Victoria(t, server.Addr, "reading_value", "point")
					},
				}
			})
		})
	}
}

func BenchmarkCatchUp(b *testing.B) {
	server := peers.StartVictoriaMetrics(b)
	sinktest.CatchUp(b, func() *sinktest.Peer {
		return &sinktest.Peer{Entry: setting.Sink{URL: "http://" + server.Addr + "/write", Into: "plant"}, Kind: influxdb.Kind()}
	})
}
