package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/operation/sources"
	"voltbus/testing/peers"
	"voltbus/testing/peers/kafkapeer"
)

func (r *running) source(t testing.TB) sources.SourceState {
	t.Helper()
	list, err := client.Do(wait(t), r.Client, sources.List, struct{}{})
	if err != nil || len(list.Sources) != 1 {
		t.Fatal(list, err)
	}
	return list.Sources[0]
}

// Records of Kafka become points below the path of the source, by the templates that MQTT messages have, and what cannot be read is kept and told.
func TestASourceRecordsByTemplatesBelowItsPathAndKeepsWhatItCannotRead(t *testing.T) {
	server := peers.StartSelf(t, kafkapeer.Environment)
	kafkapeer.Topics(t, server.Addr, "meters")
	r := run(t, load(t, t.TempDir(), listenAnywhere+fmt.Sprintf(`
sources:
  - name: hall
    kind: kafka
    url: kafka://%s
    from: meters
    under: campus/hall
    templates:
      - {name: meter, topic: "meters/{meter}", device: "meters/{meter}", format: json, time: at, points: [{name: power, from: p, type: float, unit: kW}]}
`, server.Addr)))
	at := time.Now().UTC().Truncate(time.Second)
	kafkapeer.Produce(t, server.Addr, "meters", kafkapeer.Record{Key: "m1", Value: fmt.Sprintf(`{"p": 1.5, "at": %d}`, at.Unix())}, kafkapeer.Record{Key: "m1", Value: `{"p": "none"}`},
		kafkapeer.Record{Key: "m2", Value: `{"q": 3}`}, kafkapeer.Record{Key: "m2", Value: fmt.Sprintf(`{"p": 2.5, "at": %d}`, at.Unix())})
	eventually(t, "all are answered", func() bool { s := r.source(t); return s.Messages == 4 && s.Samples == 2 && s.Kept == 2 })
	eventually(t, "the points have their values", func() bool {
		l, err := r.Latest(wait(t), client.Span{Points: []string{"campus/hall/meters/m1/power", "campus/hall/meters/m2/power"}})
		return err == nil && len(l.Samples) == 2 && l.Samples[0].Time.Equal(at) && fmt.Sprintf("%s %s", l.Samples[0].Value, l.Samples[1].Value) == "1.5 2.5"
	})
	if h := r.Node.Health(wait(t)); !strings.Contains(fmt.Sprint(h.Concerns), "could not read 2 messages, which are kept") {
		t.Errorf("health says %v", h.Concerns)
	}
	list, err := client.Do(wait(t), r.Client, sources.Unread, sources.Page{Source: "hall", Limit: 10})
	if err != nil || len(list.Messages) != 2 || list.Kept != 2 {
		t.Fatalf("unread: %+v, %v", list, err)
	}
	for _, m := range list.Messages {
		if !strings.HasPrefix(m.Topic, "meters/m") || m.Reason == "" || !strings.HasPrefix(m.Place, "meters, partition ") || !strings.HasPrefix(m.Payload, "{") {
			t.Errorf("unread: %+v", m)
		}
	}
	if n, err := client.Do(wait(t), r.Client, sources.Discard, sources.Source{Source: "hall"}); err != nil || n.Messages != 2 || r.source(t).Kept != 0 {
		t.Errorf("discarded %+v, %v", n, err)
	}
	if _, err := client.Do(wait(t), r.Client, sources.Retry, sources.Source{Source: "nobody"}); err == nil || !strings.Contains(err.Error(), "voltbus sources list") {
		t.Errorf("a source that does not exist: %v", err)
	}
}

// While the disk is too full to record, a source takes nothing, says so, and goes on afterwards.
func TestASourceTakesNothingWhileTheNodeDoesNotRecord(t *testing.T) {
	t.Parallel()
	server, dir := peers.StartSelf(t, kafkapeer.Environment), t.TempDir()
	kafkapeer.Topics(t, server.Addr, "readings")
	section := fmt.Sprintf("sources: [{name: in, kind: kafka, url: \"kafka://%s\", from: readings, under: plant, whole: true, format: json}]\n", server.Addr)
	kafkapeer.Produce(t, server.Addr, "readings", kafkapeer.Record{Value: `{"point": "plant/a", "value": 1}`}, kafkapeer.Record{Value: `{"point": "other/b", "value": 2}`})
	r := run(t, load(t, dir, listenAnywhere+"log: {min_free: 1000TiB}\n"+section))
	// A server that is slow to let a member into its group is asked again after pauses that double.
	eventuallyIn(t, 2*time.Minute, "it is told", func() bool {
		s := r.source(t)
		return s.State == "paused" && s.Messages == 0 && strings.Contains(s.Reason, "the node does not record: ") && strings.Contains(s.Reason, "recording is paused")
	})
	r.halt()
	r = run(t, load(t, dir, listenAnywhere+section))
	// A member of the group that the server did not hear leave in time is only forgotten after the session of 45 s.
	eventuallyIn(t, 2*time.Minute, "it goes on", func() bool {
		s := r.source(t)
		return s.Messages == 2 && s.Samples == 1 && s.Refused == 1 && s.Kept == 1
	})
	list, err := client.Do(wait(t), r.Client, sources.Unread, sources.Page{Source: "in", Limit: 10})
	if err != nil || len(list.Messages) != 1 || !strings.Contains(list.Messages[0].Reason, `may record below "plant" only`) {
		t.Errorf("what lies elsewhere is refused: %+v, %v", list, err)
	}
}
