package elasticsearch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/elasticsearch"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDocumentsAreThoseOfTheBulkAPI(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer { return sinktest.StartBulk(t).Peer(t, elasticsearch.Kind()) })
	t.Run("a document that the mapping refuses is kept, with the reason", func(t *testing.T) {
		x, log := sinktest.StartBulk(t), sinktest.NewLog()
		x.Map("value", "string") // somebody mapped it so
		r := sinktest.Open(t, t.TempDir(), log, nil, x.Peer(t, elasticsearch.Kind()))
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)), sinktest.At("plant/mode", 2, point.TextOf("heat")))
		r.Until(t, "one is refused", func(s *destination.State) bool { return s.Sent == 1 && s.Kept == 1 })
		list, err := r.Refused("there", 0, 10)
		if err != nil || len(list) != 1 || list[0].Reason != "mapper_parsing_exception: failed to parse field [value]: it is float64" {
			t.Errorf("refused: %+v %v", list, err)
		}
	})
	t.Run("documents that are rejected under load are sent again", func(t *testing.T) {
		x, log := sinktest.StartBulk(t), sinktest.NewLog()
		x.Reject(2)
		r := sinktest.Open(t, t.TempDir(), log, nil, x.Peer(t, elasticsearch.Kind()))
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)), sinktest.At("plant/b", 2, point.FloatOf(2)))
		r.Until(t, "both are there", func(s *destination.State) bool { return s.Sent == 2 && s.Kept == 0 && s.Err == nil })
	})
	t.Run("what the log dropped while it was away is counted", func(t *testing.T) {
		x, log, dir := sinktest.StartBulk(t), sinktest.NewLog(), t.TempDir()
		r := sinktest.Open(t, dir, log, nil, x.Peer(t, elasticsearch.Kind()))
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)))
		r.Until(t, "the first is sent", func(s *destination.State) bool { return s.Sent == 1 })
		r.Stop()
		for i := 2; i < 6; i++ {
			log.Add(t, sinktest.At("plant/a", i, point.FloatOf(1)), sinktest.At("plant/b", i, point.FloatOf(1)))
		}
		log.Drop(4)
		r = sinktest.Open(t, dir, log, nil, x.Peer(t, elasticsearch.Kind()))
		r.Until(t, "the rest is sent, and the others are counted", func(s *destination.State) bool { return s.Sent == 5 && s.Missing == 4 && s.Waiting == 0 })
	})
	t.Run("a position that cannot be read stops this destination, and says what to do", func(t *testing.T) {
		x, log, dir := sinktest.StartBulk(t), sinktest.NewLog(), t.TempDir()
		r := sinktest.Open(t, dir, log, nil, x.Peer(t, elasticsearch.Kind()))
		r.Stop()
		damage(t, dir)
		r = sinktest.Open(t, dir, log, nil, x.Peer(t, elasticsearch.Kind()))
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)))
		if s := r.State(t); s.Err == nil || !strings.Contains(s.Problem(), "remove the file") {
			t.Errorf("%+v", s)
		}
	})
}

func TestTheAgentSearchalarmFindsZonesThatAreTooWarmAmongWhatWasSent(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("correct horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	engine, log := peers.Search(t, sinktest.Noon().Add(10*time.Second), secret), sinktest.NewLog()
	r := sinktest.Open(t, t.TempDir(), log, nil, &sinktest.Peer{
		Entry: setting.Sink{URL: "http://" + engine.Addr, Into: "readings", User: "plant", PasswordFile: secret}, Kind: elasticsearch.Kind(),
	})
	bad := sinktest.At("b3/zone_temp", 1, point.FloatOf(99))
	bad.Quality = point.BadSensor
	log.Add(t,
		sinktest.At("b1/zone_temp", 1, point.FloatOf(27)), sinktest.At("b1/zone_temp", 2, point.FloatOf(28)), sinktest.At("b1/mode", 2, point.TextOf("cool")),
		sinktest.At("b2/zone_temp", 1, point.FloatOf(21)), sinktest.At("b2/supply_temp", 1, point.FloatOf(60)), bad)
	r.Until(t, "all are sent", func(s *destination.State) bool { return s.Sent == 6 })
	engine.Say(t, `{"index": "readings", "points": "*/zone_temp", "above": 26}`)
	if found := engine.Lines(t); len(found) != 1 || found[0] != "b1/zone_temp: 27.5, above 26" {
		t.Errorf("the agent finds %q", found)
	}
}

func BenchmarkCatchUp(b *testing.B) {
	x := sinktest.StartBulk(b)
	sinktest.CatchUp(b, func() *sinktest.Peer { return x.Peer(b, elasticsearch.Kind()) })
}
