package s3_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/s3"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const bucket = "fleet"

// row is a reading in the store, as pyarrow reads it over the protocol of S3.
type row struct {
	Point, Text, Quality, Unit, Node, Date, Building string
	Time                                             int64
	Value                                            *float64
	Exact                                            *int64
}

func rows(t testing.TB, reader *peers.Conversation, folder string) (list []row) {
	t.Helper()
	reader.Do(t, "%s/%s", bucket, folder)
	text := reader.Await(t, "rows ")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Log(text)
		return nil
	}
	return list
}

func secret(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func peer(t testing.TB, server *peers.Server, reader *peers.Conversation, folder string) *sinktest.Peer {
	t.Helper()
	return &sinktest.Peer{
		Entry: setting.Sink{
			URL: "http://" + server.Addr, User: peers.StoreUser, PasswordFile: secret(t, peers.StoreSecret), Into: bucket + "/" + folder,
			Every: 20 * time.Millisecond,
		},
		Kind: s3.Kind(), Late: true, Kill: server.Kill, Start: func() { server.Start(t) },
		Read: func(t testing.TB) map[string]string {
			found := map[string]string{}
			for _, r := range rows(t, reader, folder) {
				if strings.HasPrefix(r.Quality, "bad") {
					continue
				}
				number := 0.0
				if r.Value != nil {
					number = *r.Value
				}
				found[sinktest.Key(r.Point, r.Time)] = sinktest.Text(number, r.Text)
			}
			return found
		},
	}
}

func TestFilesInAnObjectStore(t *testing.T) {
	server, n := peers.StartObjectStore(t, bucket), 0
	reader := peers.ReadParquet(t, server)
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer {
		n++
		return peer(t, server, reader, fmt.Sprint("t", n))
	})
	t.Run("a day has a folder, and each column its type", func(t *testing.T) {
		p, log := peer(t, server, reader, "days"), sinktest.NewLog()
		p.Entry.Tags = map[string]string{"building": "{1}"}
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/b", 0, point.IntOf(1<<60+1)), sinktest.At("plant/a", 0, point.BoolOf(true)), sinktest.At("plant/a", -86_400_000, point.TextOf("late")))
		r.Until(t, "all are sent", func(s *destination.State) bool { return s.Sent == 3 })
		got := rows(t, reader, "days")
		if len(got) != 3 || got[0].Text != "late" || got[0].Date != "2026-02-28" || got[0].Value != nil || got[1].Point != "plant/a" || *got[1].Value != 1 ||
			*got[2].Exact != 1<<60+1 || got[2].Node != "home" || got[2].Building != "plant" || got[2].Date != "2026-03-01" || got[2].Quality != "good" {
			t.Errorf("there are %+v", got)
		}
		files, err := filepath.Glob(filepath.Join(server.Files(), bucket, "days", "node=home", "date=2026-03-01", "part-log-1-000000000001.parquet"))
		if err != nil || len(files) != 1 {
			t.Errorf("files: %v %v", files, err)
		}
	})
	t.Run("what a crash sends again is there once", func(t *testing.T) {
		p, log, dir := peer(t, server, reader, "once"), sinktest.NewLog(), t.TempDir()
		file := filepath.Join(dir, "sinks", "there.json")
		r := sinktest.Open(t, dir, log, nil, p)
		at := func(i int) point.Sample { return sinktest.At("plant/a", i*43_200_000, point.IntOf(int64(i))) }
		log.Add(t, at(0))
		r.Until(t, "the first is sent", func(s *destination.State) bool { return s.Sent == 1 })
		r.Stop()
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < 5; i++ {
			log.Add(t, at(i))
		}
		p.Entry.Every, p.Entry.Batch = time.Hour, 4 // one file for each day
		r = sinktest.Open(t, dir, log, nil, p)
		r.Until(t, "four are sent", func(s *destination.State) bool { return s.Sent == 5 })
		r.Stop()
		if err := os.WriteFile(file, before, 0o600); err != nil {
			t.Fatal(err)
		}
		p.Entry.Batch = 2 // other files than before the crash
		log.Add(t, at(5), at(6))
		r = sinktest.Open(t, dir, log, nil, p)
		r.Until(t, "all are sent", func(s *destination.State) bool { return s.Sent == 7 })
		count := map[int64]int{}
		for _, r := range rows(t, reader, "once") {
			count[*r.Exact]++
		}
		for i := range int64(7) {
			if count[i] != 1 {
				t.Errorf("reading %d is there %d times", i, count[i])
			}
		}
	})
	for _, c := range []struct {
		name   string
		change func(*setting.Sink)
		want   string
	}{
		{"a wrong secret", func(e *setting.Sink) { e.PasswordFile = secret(t, "another") }, `does not accept the access key "plant-key" or the secret key (SignatureDoesNotMatch); look at user and password_file`},
		{"no user", func(e *setting.Sink) { e.User = "" }, "may not write there"},
		{"a bucket that is not there", func(e *setting.Sink) { e.Into = "elsewhere/x" }, `there is no bucket "elsewhere"; make it, or write another one as into`},
		{"another region", func(e *setting.Sink) { e.URL += "?region=eu-central-1" }, "is in another region than eu-central-1"},
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

func TestAnObjectStoreOverTLSIsReachedWithItsAuthority(t *testing.T) {
	server, ca := peers.StartSecureObjectStore(t, bucket)
	entry := setting.Sink{URL: "https://" + server.Addr, User: peers.StoreUser, PasswordFile: secret(t, peers.StoreSecret), Into: bucket}
	for _, c := range []struct{ ca, want string }{{ca, ""}, {"", "its certificate is from an authority that is not known here"}} {
		entry.CA = c.ca
		err := probe(t, &entry)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("with the authority %q: %v", c.ca, err)
		}
	}
	if _, err := os.Stat(filepath.Join(server.Files(), bucket, "node=home", "_voltbus")); err != nil {
		t.Error(err)
	}
}

func probe(t *testing.T, entry *setting.Sink) error {
	t.Helper()
	w, err := s3.Kind().Make(entry, destination.Environment{Node: "home"})
	if err != nil {
		return err
	}
	t.Cleanup(func() { _ = w.Close() })
	p, can := w.(destination.Prober)
	if !can {
		t.Fatal("it cannot be tried")
	}
	return p.Probe(t.Context())
}

func TestEntriesThatCannotWorkSayWhatToWrite(t *testing.T) {
	for _, c := range []struct {
		change func(*setting.Sink)
		want   string
	}{
		{func(e *setting.Sink) { e.Into = "Not a bucket" }, "is not a bucket; write one such as readings, or readings/plant"},
		{func(e *setting.Sink) { e.Tags = map[string]string{"date": "x"} }, "give the tag another name"},
		{func(e *setting.Sink) { e.URL += "?style=new" }, "is neither path nor virtual"},
		{func(e *setting.Sink) { e.URL = "http://localhost.:1?style=virtual" }, "http://fleet.localhost.:1"}, // which no name server knows
	} {
		e := setting.Sink{Name: "lake", URL: "http://127.0.0.1:1", Into: bucket}
		c.change(&e)
		if err := probe(t, &e); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v does not say %q", err, c.want)
		}
	}
}

func BenchmarkCatchUp(b *testing.B) {
	server, n := peers.StartObjectStore(b, bucket), 0
	reader := peers.ReadParquet(b, server)
	sinktest.CatchUp(b, func() *sinktest.Peer {
		n++
		return peer(b, server, reader, fmt.Sprint("t", n))
	})
}
