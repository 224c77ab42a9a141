package elasticsearch_test

import (
	"context"
	"encoding/pem"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/internal/await"
	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/elasticsearch"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
)

// add records so many readings, from a number on.
func add(t *testing.T, log *sinktest.Log, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		log.Add(t, sinktest.At("plant/a", i, point.FloatOf(float64(i))))
	}
}

func TestADestinationThatIsFullLosesNothingAndSaysWhy(t *testing.T) {
	x, log := sinktest.StartBulk(t), sinktest.NewLog()
	r := sinktest.Open(t, t.TempDir(), log, nil, x.Peer(t, elasticsearch.Kind()))
	x.Fill(true)
	add(t, log, 0, 10)
	r.Until(t, "it is told", func(s *destination.State) bool {
		return s.Err != nil && strings.Contains(s.Problem(), "disk usage exceeded") && s.Waiting == 10 && s.Kept == 0
	})
	x.Fill(false)
	r.Until(t, "all are there", func(s *destination.State) bool { return s.Sent == 10 && s.Counts.Refused == 0 && s.Err == nil })
}

func TestAnAnswerThatWasCutOffLeavesEachReadingOnce(t *testing.T) {
	x, log := sinktest.StartBulk(t), sinktest.NewLog()
	r := sinktest.Open(t, t.TempDir(), log, nil, x.Peer(t, elasticsearch.Kind()))
	x.Cut(2)
	add(t, log, 0, 10)
	r.Until(t, "all are sent", func(s *destination.State) bool { return s.Sent == 10 && s.Err == nil })
	if n := x.Stored(); n != 10 {
		t.Errorf("there are %d documents of 10 readings", n)
	}
}

func TestASchemaThatChangesRefusesReadingsUntilItIsMended(t *testing.T) {
	x, log := sinktest.StartBulk(t), sinktest.NewLog()
	r := sinktest.Open(t, t.TempDir(), log, nil, x.Peer(t, elasticsearch.Kind()))
	add(t, log, 0, 5)
	r.Until(t, "the first are sent", func(s *destination.State) bool { return s.Sent == 5 })
	x.Map("value", "string")
	add(t, log, 5, 5)
	r.Until(t, "the others are refused and kept", func(s *destination.State) bool { return s.Kept == 5 && s.Err == nil && s.Waiting == 0 })
	x.Map("value", "float64")
	if n, err := r.Resend(t.Context(), "there"); n != 5 || err != nil {
		t.Errorf("sent again: %d, %v", n, err)
	}
	if s := r.State(t); s.Kept != 0 || s.Accepted != 5 || x.Stored() != 10 {
		t.Errorf("the account is %+v, and there are %d documents", s, x.Stored())
	}
}

// Two destinations of one node: one takes nothing for a while, the other goes on.
func TestASlowDestinationHoldsUpNoOther(t *testing.T) {
	slow, quick, log := sinktest.StartBulk(t), sinktest.StartBulk(t), sinktest.NewLog()
	d, stop := open(t, t.TempDir(), log, setting.Sink{Name: "slow", URL: slow.URL()}, setting.Sink{Name: "quick", URL: quick.URL()})
	defer stop()
	release := slow.Hold()
	defer release()
	add(t, log, 0, 10)
	now := func() string { return "" }
	await.Until(t, "the quick one has all", func() bool { return d.States(t.Context())[1].Sent == 10 }, now)
	if s := d.States(t.Context())[0]; s.Sent != 0 || s.Waiting != 10 {
		t.Errorf("the slow one is %+v", s)
	}
	release()
	await.Until(t, "the slow one has all", func() bool { return d.States(t.Context())[0].Sent == 10 }, now)
}

func TestADestinationThatIsRemovedAndAddedAgainGoesOnUnlessItIsForgotten(t *testing.T) {
	x, log := sinktest.StartBulk(t), sinktest.NewLog()
	entry := setting.Sink{Name: "search", Kind: "tested", URL: x.URL()}
	d, stop := open(t, t.TempDir(), log, entry)
	defer stop()
	has := func(n uint64) func() bool {
		return func() bool { return d.States(t.Context())[0].Sent == n }
	}
	now := func() string { return "" }
	add(t, log, 0, 5)
	await.Until(t, "the first are sent", has(5), now)
	change := func(list ...setting.Sink) {
		t.Helper()
		if err := d.Adopt(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Forget("search"); err == nil || !strings.Contains(err.Error(), "remove it first") {
		t.Errorf("one that is there is forgotten: %v", err)
	}
	change()
	add(t, log, 5, 5)
	change(entry)
	await.Until(t, "it goes on where it was", has(10), now)
	change()
	if err := d.Forget("search"); err != nil || d.Remembered("search") {
		t.Errorf("it is not forgotten: %v", err)
	}
	add(t, log, 10, 5)
	change(entry)
	add(t, log, 15, 5)
	await.Until(t, "it begins anew", has(5), now)
	if n := x.Stored(); n != 15 {
		t.Errorf("there are %d documents, not 15", n)
	}
	if err := d.Forget("../../voltbus"); err == nil || d.Remembered("../position") {
		t.Error("a name leads out of the folder of positions")
	}
	wrong := entry
	wrong.CA = filepath.Join(t.TempDir(), "missing.pem")
	if err := d.Adopt(t.Context(), []setting.Sink{wrong}); err == nil {
		t.Error("an entry that cannot be used is taken")
	}
	add(t, log, 20, 1)
	await.Until(t, "after a wrong entry it goes on as before", has(6), now)
}

// open runs destinations of Elasticsearch.
func open(t *testing.T, dir string, log *sinktest.Log, list ...setting.Sink) (d *destination.Destinations, stop func()) {
	t.Helper()
	for i := range list {
		list[i].Kind = "tested"
	}
	d, err := destination.Open(t.Context(), destination.Config{
		Sinks: list, Kinds: map[string]destination.Kind{"tested": elasticsearch.Kind()}, Dir: dir, Node: "home", Blocks: log,
		Unit: func(point.Path) string { return "" }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	return d, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// What keeps a destination from being used is one sentence that says what to do.
func TestAWrongCertificatePasswordOrAddressIsOneSentence(t *testing.T) {
	x := sinktest.StartBulk(t)
	secure := httptest.NewTLSServer(x)
	defer secure.Close()
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	own := file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	d, stop := open(t, dir, sinktest.NewLog())
	defer stop()
	for name, c := range map[string]struct {
		entry setting.Sink
		want  string
	}{
		"an authority that is not known": {setting.Sink{URL: secure.URL}, "write the authority's certificate as ca"},
		"another name":                   {setting.Sink{URL: strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), CA: own}, "write that name in the address"},
		"a wrong password":               {setting.Sink{URL: x.URL(), User: "plant", PasswordFile: file("wrong", "wrong")}, "look at user and password_file"},
		"TLS where there is none":        {setting.Sink{URL: strings.Replace(x.URL(), "http:", "https:", 1)}, "does not speak TLS at this address"},
		"nothing listens":                {setting.Sink{URL: "http://127.0.0.1:1"}, "nothing listens there"},
		"another path":                   {setting.Sink{URL: x.URL() + "/other"}, "takes no such requests at this address"},
		"all right":                      {setting.Sink{URL: secure.URL, CA: own}, ""},
	} {
		c.entry.Kind, c.entry.Name = "tested", "search"
		err := d.Try(t.Context(), c.entry)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if n := x.Stored(); n != 0 {
		t.Errorf("a trial stored %d documents", n)
	}
}
