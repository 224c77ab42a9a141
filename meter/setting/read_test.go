package setting_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/meter/setting"
)

func TestReadsAreChecked(t *testing.T) {
	s := setting.Default()
	s.Reads = []setting.Read{{Meter: "m1", Channel: 1, Point: "a/b"}}
	want := []string{`reads: is for a metering data system or a concentrator, and the role is off; write "role: concentrator", or remove it`}
	if diff := cmp.Diff(want, problems(s)); diff != "" {
		t.Error(diff)
	}
	s.Role = "mds"
	s.Reads = append(s.Reads, setting.Read{Meter: "m1", Channel: 1, Point: "/a", Every: 7 * time.Minute}, setting.Read{As: setting.AsAdvance},
		setting.Read{Meter: "m1", Channel: 2, Point: "a/b", Every: 15 * time.Minute, As: setting.AsAdvance})
	want = []string{
		`reads[1].channel: 1 of "m1" is there already; each channel has one entry`,
		`reads[1].point: "/a" is no point; write the path of a point of a device, such as cellar/meter-1/energy`,
		"reads[1].every: 7m0s does not divide a day; write 1s to 24h, such as 15m",
		`reads[2].meter: "" is no id of a meter; write up to 64 bytes`,
		"reads[2].channel: 0 is out of range; write 1 to 65535, such as 1",
		`reads[2].point: "" is no point; write the path of a point of a device, such as cellar/meter-1/energy`,
		"reads[2].every: is missing; an advance is read on schedule: write the length of the intervals, such as 15m",
	}
	if diff := cmp.Diff(want, problems(s)); diff != "" {
		t.Error(diff)
	}
}
