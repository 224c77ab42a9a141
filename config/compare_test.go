package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/point"
)

func TestCompareFindsWhatMustBeDone(t *testing.T) {
	base := func() *Config {
		c := Default()
		c.Devices = []Device{
			{Path: "a", Driver: "meter", Interval: time.Second, Config: &meter{Address: "10.0.0.1"}},
			{Path: "b", Driver: "meter", Interval: time.Second, Config: &meter{Address: "10.0.0.2"}},
		}
		return c
	}
	tests := map[string]struct {
		change func(*Config)
		want   Changes
	}{
		"nothing":                      {func(*Config) {}, Changes{}},
		"a device described elsewhere": {func(c *Config) { c.Devices[0].Source.Line = 99 }, Changes{}},
		"another order":                {func(c *Config) { c.Devices[0], c.Devices[1] = c.Devices[1], c.Devices[0] }, Changes{}},
		"another interval":             {func(c *Config) { c.Devices[1].Interval = time.Minute }, Changes{Changed: []point.Path{"b"}}},
		"another address": {
			func(c *Config) { c.Devices[0].Config = &meter{Address: "10.0.0.9"} },
			Changes{Changed: []point.Path{"a"}},
		},
		"another registry in the same file": {
			func(c *Config) { c.Devices[0].Config = &meter{Address: "10.0.0.1", Registers: []string{"new"}} },
			Changes{Changed: []point.Path{"a"}},
		},
		"a device moved": {
			func(c *Config) { c.Devices[0].Path = "c" },
			Changes{Added: []point.Path{"c"}, Removed: []point.Path{"a"}},
		},
		"all devices gone":     {func(c *Config) { c.Devices = nil }, Changes{Removed: []point.Path{"a", "b"}}},
		"another file to list": {func(c *Config) { c.Include = []string{"more.yaml"} }, Changes{}},
		"sections": {
			func(c *Config) { c.Listen.Bus, c.Store.Retention.Age = "", time.Hour },
			Changes{Restart: []string{"listen", "store"}},
		},
		"what ancestors may do": {func(c *Config) { c.Uplink.Allow = []string{} }, Changes{Allow: true}},
		"the uplink":            {func(c *Config) { c.Uplink.Rate = KiB }, Changes{Restart: []string{"uplink"}}},
		"the other sections": {
			func(c *Config) {
				c.Node.Name, c.Log.MaxBytes, c.Recorder.Queue, c.Ingest.Points = "x", GiB+1, 1, 1
				c.Audit.Keep = 1
			},
			Changes{Restart: []string{"node", "log", "audit", "recorder", "ingest"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			after := base()
			tt.change(after)
			got := Compare(base(), after)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error("changes (-want +got):\n" + diff)
			}
			if got.Empty() != cmp.Equal(tt.want, Changes{}) {
				t.Errorf("Empty() = %v for %+v", got.Empty(), got)
			}
		})
	}
}
