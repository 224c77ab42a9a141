package node_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/operation/configuration"
	"voltbus/operation/sinks"
	"voltbus/point"
	"voltbus/sink/sinktest"
)

func settingsOf(t testing.TB, keys map[string]any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What an integrator does on the screen of destinations, by its operations: two destinations are added while the node runs, each is
// away for a while, and in the end the account of each says that it has every reading, which is what they say themselves.
func TestDestinationsThatAreAddedAtRunTimeHaveEveryReadingAfterEachWasAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, load(t, dir, listenAnywhere))
	search, stream := sinktest.StartBulk(t), sinktest.StartBrokers(t, []string{"readings"})
	begun, want := time.Now().UTC().Truncate(time.Millisecond), map[string]string{}
	next := 0
	record := func(n int) {
		t.Helper()
		var list []point.Sample
		for range n {
			next++
			at := begun.Add(time.Duration(next) * time.Millisecond)
			list = append(list, point.Sample{Point: "plant/n", Time: at, Value: point.IntOf(int64(next))})
			want[sinktest.Key("plant/n", at.UnixMicro())] = sinktest.Text(float64(next), "")
		}
		if err := r.Record(wait(t), list); err != nil {
			t.Fatal(err)
		}
	}
	put := func(in configuration.Sink) error {
		_, err := client.Do(wait(t), r.Client, configuration.PutSink, in)
		return err
	}
	state := func(name string) (s sinks.SinkState) {
		t.Helper()
		list, err := client.Do(wait(t), r.Client, sinks.List, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Sinks {
			if list.Sinks[i].Name == name {
				return list.Sinks[i]
			}
		}
		return s
	}
	secret := "wrong"
	if err := put(configuration.Sink{Sink: "search", Settings: settingsOf(t, map[string]any{"kind": "elasticsearch", "url": search.URL(), "into": "readings", "user": "plant", "points": []string{"plant/**"}}), Password: &secret}); err == nil || !strings.Contains(err.Error(), "does not accept the user or the password") {
		t.Fatal("a wrong password: ", err)
	}
	secret = "right"
	if err := put(configuration.Sink{Sink: "search", Settings: settingsOf(t, map[string]any{"kind": "elasticsearch", "url": search.URL(), "into": "readings", "user": "plant", "points": []string{"plant/**"}}), Password: &secret}); err != nil {
		t.Fatal(err)
	}
	if err := put(configuration.Sink{Sink: "stream", Settings: settingsOf(t, map[string]any{"kind": "kafka", "url": "kafka://" + stream.Addresses(), "into": "readings", "points": []string{"plant/**"}})}); err != nil {
		t.Fatal(err)
	}
	record(50)
	eventually(t, "both have the first", func() bool { return state("search").Sent == 50 && state("stream").Sent == 50 })
	search.Kill()
	record(50)
	eventually(t, "one is away, the other goes on", func() bool {
		s := state("search")
		return s.State == "paused" && s.Samples == 50 && s.Balanced && strings.Contains(s.Reason, "nothing listens there") && state("stream").Sent == 100
	})
	if h := r.Node.Health(wait(t)); len(h.Concerns) == 0 || h.Concerns[0].Link != "/destinations" || !strings.Contains(h.Concerns[0].Sentence, `to the destination "search"`) {
		t.Errorf("health says %+v", h.Concerns)
	}
	search.Start(t)
	stream.Kill()
	record(50)
	eventually(t, "now the other one is away", func() bool { return state("search").Sent == 150 && state("stream").State == "paused" })
	stream.Start(t)
	record(50)
	for _, name := range []string{"search", "stream"} {
		eventually(t, name+" has all", func() bool {
			s := state(name)
			return s.State == "ok" && s.Sent == 200 && s.Samples == 0 && s.Balanced && s.Taken == s.Sent+s.Left && s.Refused+s.Missing == 0
		})
	}
	if got := search.Read(t); !maps.Equal(got, want) {
		t.Errorf("the index has %d readings, not %d", len(got), len(want))
	}
	if got := stream.Read(t, "readings"); !maps.Equal(got, want) {
		t.Errorf("the topic has %d readings, not %d", len(got), len(want))
	}
	secretStays(t, r.Client, dir)
	removedAndAddedAgain(t, r, search, state, record)
}

// secretStays checks that a password is in a file that only the node's user reads, and in no answer.
func secretStays(t *testing.T, c *client.Client, dir string) {
	t.Helper()
	told, err := client.Do(wait(t), c, configuration.SinkSettings, configuration.SinkName{Sink: "search"})
	if err != nil || !told.There || strings.Contains(string(told.Settings), "right") || !strings.Contains(string(told.Settings), "password_file") {
		t.Errorf("the settings are %s, %v", told.Settings, err)
	}
	file := filepath.Join(dir, "secrets", "destination-search.password_file")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the password is in %v, %v", info, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "voltbus.yaml"))
	if err != nil || strings.Contains(string(text), "right") || !strings.Contains(string(text), "name: search") {
		t.Errorf("the configuration is %s, %v", text, err)
	}
}

// removedAndAddedAgain removes a destination twice: once it goes on where it was, once it begins anew.
func removedAndAddedAgain(t *testing.T, r *running, search *sinktest.Bulk, state func(string) sinks.SinkState, record func(int)) {
	t.Helper()
	again := configuration.Sink{Sink: "search", Settings: settingsOf(t, map[string]any{"kind": "elasticsearch", "url": search.URL(), "into": "readings", "points": []string{"plant/**"}})}
	for _, forget := range []bool{false, true} {
		before := state("search")
		if _, err := client.Do(wait(t), r.Client, configuration.RemoveSink, configuration.Removal{Sink: "search", Forget: forget}); err != nil {
			t.Fatal(err)
		}
		record(10)
		if told, err := client.Do(wait(t), r.Client, configuration.SinkSettings, configuration.SinkName{Sink: "search"}); err != nil || told.There || told.Remembered == forget {
			t.Errorf("after it was removed: %+v, %v", told, err)
		}
		if _, err := client.Do(wait(t), r.Client, configuration.PutSink, again); err != nil {
			t.Fatal(err)
		}
		record(10)
		want := before.Sent + 20
		if forget {
			want = 10
		}
		eventually(t, fmt.Sprintf("it goes on (forgotten: %v)", forget), func() bool { s := state("search"); return s.Sent == want && s.Balanced && s.Missing == 0 })
	}
	if _, err := client.Do(wait(t), r.Client, configuration.PutSink, configuration.Sink{Sink: "bad", Settings: settingsOf(t, map[string]any{"kind": "kafka", "url": "http://x", "colour": 1})}); err == nil || !strings.Contains(err.Error(), "is not an address for kafka") && !strings.Contains(err.Error(), "colour") {
		t.Errorf("wrong settings: %v", err)
	}
}
