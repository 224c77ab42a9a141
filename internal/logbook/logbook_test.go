package logbook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/internal/logbook"
)

const all = 1000

func secret(name string) bool { return name == "password" }

func book(octets int) (*logbook.Handler, *slog.Logger) {
	b := logbook.New(slog.DiscardHandler, slog.LevelInfo, octets, secret)
	return b, slog.New(b)
}

// search returns what is found, as messages with attributes.
func search(b *logbook.Handler, f logbook.Filter) (texts []string, found logbook.Found) {
	if f.Limit == 0 {
		f.Limit = all
	}
	found, _ = b.Search(&f)
	for i := range found.Records {
		texts = append(texts, found.Records[i].Message+string(found.Records[i].Attrs))
	}
	return texts, found
}

func TestRecordsAreKeptWithTheirAttributesAndWithoutSecrets(t *testing.T) {
	b, log := book(1 << 20)
	log.With(slog.String("device", "ahu1")).WithGroup("bus").Warn("lost",
		slog.Any("err", errors.New("no answer")), slog.String("password", "hunter2"), slog.Any("level", "x"), slog.Duration("took", time.Second))
	log.Info("plain")
	texts, _ := search(b, logbook.Filter{})
	want := `lost{"device":"ahu1","bus":{"err":"no answer","password":"(hidden)","level":"x","took":1000000000}} plain`
	if got := strings.Join(texts, " "); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheOtherHandlerGetsWhatItTakesAndTheBookWhatIsImportant(t *testing.T) {
	var out bytes.Buffer
	b := logbook.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn}), slog.LevelInfo, 1<<20, secret)
	log := slog.New(b)
	log.Debug("one")
	log.Info("two")
	log.Warn("three", slog.String("password", "hunter2"))
	if texts, _ := search(b, logbook.Filter{}); strings.Join(texts, " ") != `two three{"password":"(hidden)"}` {
		t.Errorf("the book has %v", texts)
	}
	if s := out.String(); strings.Contains(s, "two") || !strings.Contains(s, "three") {
		t.Errorf("the other handler wrote %s", s)
	}
}

func TestTheBookIsBoundedInOctetsAndCountsWhatIsGone(t *testing.T) {
	const most = 64 << 10
	b, log := book(most)
	log.Info("first")
	_, begun := search(b, logbook.Filter{})
	for i := range 5000 {
		log.Info("again", slog.Int("i", i), slog.String("text", strings.Repeat("x", i%400)))
	}
	_, found := search(b, logbook.Filter{Limit: 10_000})
	octets := 0
	for _, r := range found.Records {
		octets += len(r.Message) + len(r.Attrs)
	}
	if octets > most || octets < most/4 {
		t.Errorf("%d bytes are kept, %d may be", octets, most)
	}
	_, behind := search(b, logbook.Filter{After: begun.Last, Limit: 10_000})
	if int(behind.Lost)+len(behind.Records) != 5000 || behind.Lost == 0 {
		t.Errorf("%d are lost and %d there, of 5000", behind.Lost, len(behind.Records))
	}
	log.Info(strings.Repeat("ä", 100_000), slog.String("text", strings.Repeat("y", 100_000)), slog.Any("list", []string{strings.Repeat("z", 100_000)})) //nolint:sloglint // a message of any length
	_, found = search(b, logbook.Filter{Limit: 1})
	if r := found.Records[0]; len(r.Message)+len(r.Attrs) > 10<<10 || !strings.Contains(string(r.Attrs), `"octets":10`) {
		t.Errorf("a huge record is kept with %d bytes: %.80s", len(r.Message)+len(r.Attrs), r.Attrs)
	}
	log.Info("again", slog.String("name", strings.Repeat("y", 3000)), slog.Any("err", errors.New(strings.Repeat("x", 3000))), slog.String("stack", strings.Repeat("s", 3000)))
	_, found = search(b, logbook.Filter{Limit: 1})
	if r := string(found.Records[0].Attrs); strings.Count(r, "y") != 1<<10 || strings.Count(r, "x") != 1<<10 || strings.Count(r, "s") < 3000 {
		t.Errorf("long texts are kept with %d bytes: %.80s", len(r), r)
	}
}

func TestAFilterSelectsAndPagesWithoutGaps(t *testing.T) {
	b, log := book(1 << 20)
	for i := range 10 {
		log.Log(context.Background(), slog.LevelInfo+slog.Level(i%2*4), fmt.Sprintf("n%d", i), slog.String("point", "site/Temp")) //nolint:sloglint // told apart
	}
	for _, c := range []struct {
		name string
		f    logbook.Filter
		want int
	}{
		{"all", logbook.Filter{}, 10},
		{"by level", logbook.Filter{Level: slog.LevelWarn}, 5},
		{"by text in the message", logbook.Filter{Text: "N3"}, 1},
		{"by text in the attributes", logbook.Filter{Text: "site/temp"}, 10},
		{"of later", logbook.Filter{Since: time.Now().Add(time.Hour)}, 0},
		{"the newest", logbook.Filter{Limit: 3}, 3},
		{"behind a number of a clock that was ahead", logbook.Filter{After: 1 << 52}, 10},
		{"behind a number of a program before", logbook.Filter{After: 1}, 10},
	} {
		if texts, found := search(b, c.f); len(texts) != c.want || found.Lost != 0 {
			t.Errorf("%s: %v, %d lost", c.name, texts, found.Lost)
		}
	}
	_, first := search(b, logbook.Filter{Level: slog.LevelWarn, Limit: 1})
	after := first.Records[0].Number - 8
	var got []string
	for range 6 {
		texts, found := search(b, logbook.Filter{Level: slog.LevelWarn, After: after, Limit: 2})
		got, after = append(got, texts...), found.Last
	}
	if len(got) != 4 || !strings.HasPrefix(got[0], "n3") || !strings.HasPrefix(got[3], "n9") {
		t.Errorf("in pages of two: %v", got)
	}
}

func TestWhoFollowsGetsEachRecordOnce(t *testing.T) {
	b, log := book(1 << 20)
	log.Info("begin")
	_, found := search(b, logbook.Filter{})
	const writers, each = 4, 500
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				log.With(slog.Int("a", 1)).Info("x", slog.Int("b", 2))
			}
		})
	}
	f := logbook.Filter{After: found.Last, Limit: 100}
	for count := 0; count < writers*each; {
		found, news := b.Search(&f)
		for i, r := range found.Records {
			if want := f.After + 1 + uint64(i); r.Number != want || string(r.Attrs) != `{"a":1,"b":2}` {
				t.Fatalf("record %d where %d is next: %s", r.Number, want, r.Attrs)
			}
		}
		count, f.After = count+len(found.Records), found.Last
		if len(found.Records) == 0 {
			<-news
		}
	}
	all.Wait()
}

// BenchmarkHandle measures what a record costs.
func BenchmarkHandle(b *testing.B) {
	_, log := book(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		log.Info("device is offline", slog.String("device", "site/ahu1"), slog.Any("err", context.DeadlineExceeded))
	}
}
