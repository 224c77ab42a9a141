package query_test

import (
	"testing"
	"time"

	"voltbus/query"
)

func TestTimesCanBeWrittenInManyWays(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]time.Time{
		"now":                         now,
		"now-1h":                      now.Add(-time.Hour),
		"-1h":                         now.Add(-time.Hour),
		"2026-03-01":                  time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		"now+90s":                     now.Add(90 * time.Second),
		"now 90s":                     now.Add(90 * time.Second), // "+" in a query is a space
		"-1h30m":                      now.Add(-90 * time.Minute),
		"-7d":                         now.AddDate(0, 0, -7),
		"now-2w":                      now.AddDate(0, 0, -14),
		"0":                           time.UnixMilli(0),
		"1772366400123":               time.UnixMilli(1772366400123),
		"1772366400123.456":           time.UnixMicro(1772366400123456),
		"2026-03-01T12:00:00Z":        now,
		"2026-03-01T13:00:00+01:00":   now,
		"2026-03-01T13:00:00 01:00":   now,
		"2026-03-01T12:00:00.000001Z": now.Add(time.Microsecond),
	}
	for text, want := range tests {
		if got, err := query.ParseTime(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "now-", "now-1", "-1", "--1h", "-+1h", "now-1h now", "1e300", "NaN", "-9999999d", "2026-02-30", "2026-3-1", "2026-03-01T", "1800-01-01", "2026-13-01T00:00:00Z", "1772366400123456789"} {
		if got, err := query.ParseTime(text, now); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"now", "-1h", "now-1d", "2026-03-01T12:00:00+01:00", "1772366400123", "-9223372036854775808ns", "0d", "d"} {
		f.Add(s)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		got, err := query.ParseTime(s, now)
		if err != nil {
			return
		}
		if got.Location() != time.UTC || got.Year() < 1900 || got.Year() > 2200 {
			t.Errorf("%q is %v", s, got)
		}
		if again, err := query.ParseTime(got.Format(time.RFC3339Nano), now); err != nil || !again.Equal(got) {
			t.Errorf("%q is %v, which reads back as %v, %v", s, got, again, err)
		}
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"1h", "15m", "7d", "2w", "-1h", "+1h", "d", "99999999999d", "1h30m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := query.ParseDuration(s); err == nil && d < 0 {
			t.Errorf("%q is %v", s, d)
		}
	})
}
