package stream

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/api/answer"
)

func TestMessagesAreCountedBySubject(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c := newCounter(at)
	for i := range 60 {
		c.see(at, "live.a", []byte("12345"))
		if i < 2 {
			c.see(at, "live.b", nil)
		}
	}
	shown, rates := c.take(at.Add(2 * time.Second))
	want := answer.BusRates{
		Time: at.Add(2 * time.Second), Seconds: 2, Total: answer.Traffic{Messages: 62, Bytes: 300}, Hidden: 12,
		Subjects: []answer.SubjectRate{
			{Subject: "live.a", Traffic: answer.Traffic{Messages: 60, Bytes: 300}}, {Subject: "live.b", Traffic: answer.Traffic{Messages: 2}},
		},
	}
	if diff := cmp.Diff(want, rates); diff != "" || len(shown) != 50 {
		t.Errorf("%d are shown, rates (-want +got):\n%s", len(shown), diff)
	}
	if shown, rates = c.take(at.Add(3 * time.Second)); len(shown) != 0 || rates.Total.Messages != 0 || rates.Seconds != 1 {
		t.Errorf("then %d are shown, rates %+v", len(shown), rates)
	}
}

func TestSubjectsWithoutEndAreBounded(t *testing.T) {
	c := newCounter(time.Time{})
	for i := range 10_000 {
		c.see(time.Time{}, fmt.Sprint("live.", i), nil)
	}
	_, rates := c.take(time.Time{})
	if len(c.subjects) > maxCounted || len(rates.Subjects) != maxSubjects || rates.More != maxCounted-maxSubjects+1 || rates.Total.Messages != 10_000 {
		t.Errorf("%d subjects are listed, %d more, of %d messages", len(rates.Subjects), rates.More, rates.Total.Messages)
	}
}

func TestTextsOfMessagesAreBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		data   string
		text   string
		cut    bool
		binary bool
	}{
		"a short text":                      {"<b>ü", "<b>ü", false, false},
		"a text that is cut in a character": {strings.Repeat("x", 4095) + "üü", strings.Repeat("x", 4095), true, false},
		"bytes that are no text":            {"a\xff\xfeb", "a\uFFFDb", false, true},
		"nothing":                           {"", "", false, false},
	} {
		if m := seen(time.Time{}, "s", []byte(tt.data)); m.Text != tt.text || m.Cut != tt.cut || m.Binary != tt.binary || m.Bytes != len(tt.data) {
			t.Errorf("%s: %+v", name, m)
		}
	}
}
