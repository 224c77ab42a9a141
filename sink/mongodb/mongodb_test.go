package mongodb_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/mongodb"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// document is a reading in the server, as its own driver reads it.
type document struct {
	ID struct {
		Point string
		Us    int64
	} `json:"_id"`
	Point, Time, Text, Quality string
	Value                      json.Number
}

func documents(t testing.TB, reader *peers.Conversation, collection string) (list []document) {
	t.Helper()
	reader.Do(t, "%s", collection)
	text := reader.Await(t, "rows ")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Log(text)
		return nil
	}
	return list
}

func peer(t testing.TB, server *peers.Server, reader *peers.Conversation, collection string) *sinktest.Peer {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(peers.MongoPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &sinktest.Peer{
		Entry: setting.Sink{URL: "mongodb://" + server.Addr + "/" + peers.MongoDatabase, User: peers.MongoUser, PasswordFile: secret, Into: collection},
		Kind:  mongodb.Kind(), Late: true, Kill: server.Kill, Start: func() { server.Start(t) },
		Read: func(t testing.TB) map[string]string {
			found := map[string]string{}
			for _, d := range documents(t, reader, collection) {
				if number, _ := d.Value.Float64(); !strings.HasPrefix(d.Quality, "bad") {
					found[sinktest.Key(d.Point, d.ID.Us)] = sinktest.Text(number, d.Text)
				}
			}
			return found
		},
	}
}

func TestDocumentsOfMongoDB(t *testing.T) {
	server, n := peers.StartMongo(t), 0
	reader := peers.ReadMongo(t, server)
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer {
		n++
		return peer(t, server, reader, fmt.Sprint("t", n))
	})
	t.Run("a reading of the same microsecond replaces the one before", func(t *testing.T) {
		p, log := peer(t, server, reader, "same"), sinktest.NewLog()
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)), sinktest.At("plant/a", 1, point.IntOf(1<<60+1)), sinktest.At("plant/b", 1, point.BoolOf(true)))
		log.Add(t, sinktest.At("plant/b", 1, point.TextOf("on")))
		r.Until(t, "all are sent", func(s *destination.State) bool { return s.Sent == 4 })
		got := documents(t, reader, "same")
		if len(got) != 2 || got[0].Value != "1152921504606846977" || got[1].Text != "on" || got[0].Time != "2026-03-01 12:00:00.001000" || got[0].ID.Point != "plant/a" {
			t.Errorf("there are %+v", got)
		}
	})
	for _, c := range []struct {
		name   string
		change func(*setting.Sink)
		want   string
	}{
		{"a wrong user", func(e *setting.Sink) { e.User = "nobody" }, `does not accept the user "nobody" or the password; look at user and password_file`},
		{"no user", func(e *setting.Sink) { e.User = "" }, "it wants a user; write user and password_file"},
	} {
		t.Run(c.name+" is told in a sentence", func(t *testing.T) {
			p, log := peer(t, server, reader, "closed"), sinktest.NewLog()
			c.change(&p.Entry)
			r := sinktest.Open(t, t.TempDir(), log, nil, p)
			log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)))
			r.Until(t, "it is told", func(s *destination.State) bool { return s.Err != nil && strings.Contains(s.Problem(), c.want) })
		})
	}
}

func TestAServerOverTLSIsReachedWithItsAuthority(t *testing.T) {
	server, ca := peers.StartSecureMongo(t)
	p := peer(t, server, nil, "secure")
	p.Entry.URL = "mongodbs://" + server.Addr + "/" + peers.MongoDatabase
	for _, c := range []struct{ ca, want string }{{ca, ""}, {"", "its certificate is from an authority that is not known here"}} {
		p.Entry.CA = c.ca
		w, err := mongodb.Kind().Make(&p.Entry, destination.Environment{Node: "home"})
		if err != nil {
			t.Fatal(err)
		}
		prober, can := w.(destination.Prober)
		if !can {
			t.Fatal("it cannot be tried")
		}
		err = prober.Probe(t.Context())
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("with the authority %q: %v", c.ca, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The server of the tests takes some thousand readings a second, also from the driver of MongoDB.
const slowBlocks = 10

func BenchmarkCatchUp(b *testing.B) {
	server, n := peers.StartMongo(b), 0
	reader := peers.ReadMongo(b, server)
	sinktest.CatchUp(b, func() *sinktest.Peer {
		n++
		p := peer(b, server, reader, fmt.Sprint("t", n))
		p.Blocks = slowBlocks
		return p
	})
}

// BenchmarkTheServersOwnLimit is what BenchmarkCatchUp is compared with: the same server, and the driver of MongoDB.
func BenchmarkTheServersOwnLimit(b *testing.B) {
	server, n := peers.StartMongo(b), 0
	reader := peers.ReadMongo(b, server)
	for b.Loop() {
		n++
		reader.Do(b, "limit%d 50000", n)
		rate, err := strconv.ParseFloat(reader.Await(b, "rate "), 64)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(rate, "samples/s")
	}
}
