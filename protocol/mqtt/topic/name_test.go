package topic_test

import (
	"errors"
	"strings"
	"testing"

	"voltbus/protocol/mqtt/topic"
)

// clause returns the clause that an error names, "" for none.
func clause(err error) string {
	if e := (*topic.Error)(nil); errors.As(err, &e) {
		return e.Clause
	}
	return ""
}

func TestTopicNamesAndFiltersAreChecked(t *testing.T) {
	tests := map[string]struct{ topic, name, filter string }{
		"plain":                       {"plant/boiler/temperature", "", ""},
		"one separator":               {"/", "", ""},
		"empty levels":                {"//a//", "", ""},
		"spaces and other scripts":    {"Straße/温度 ❄", "", ""},
		"a zero width no-break space": {"\ufeffa", "", ""}, // [MQTT-1.5.4-3]
		"a topic of the server":       {"$SYS/uptime", "", ""},
		"empty":                       {"", "MQTT-4.7.3-1", "MQTT-4.7.3-1"},
		"a null character":            {"a\x00b", "MQTT-4.7.3-2", "MQTT-4.7.3-2"},
		"65,536 bytes":                {strings.Repeat("a", 65_536), "MQTT-4.7.3-3", "MQTT-4.7.3-3"},
		"a byte that is not UTF-8":    {"a\xff", "MQTT-1.5.4-1", "MQTT-1.5.4-1"},
		"a surrogate":                 {"a\xed\xa0\x80", "MQTT-1.5.4-1", "MQTT-1.5.4-1"},
		"a longer form than needed":   {"a\xc0\xaf", "MQTT-1.5.4-1", "MQTT-1.5.4-1"},
		"everything":                  {"#", "MQTT-4.7.0-1", ""},
		"everything below":            {"a/b/#", "MQTT-4.7.0-1", ""},
		"any level":                   {"+/b/+", "MQTT-4.7.0-1", ""},
		"any level, then everything":  {"+/#", "MQTT-4.7.0-1", ""},
		"# before the end":            {"a/#/b", "MQTT-4.7.0-1", "MQTT-4.7.1-1"},
		"# behind text":               {"a/b#", "MQTT-4.7.0-1", "MQTT-4.7.1-1"},
		"# twice":                     {"##", "MQTT-4.7.0-1", "MQTT-4.7.1-1"},
		"+ behind text":               {"a+", "MQTT-4.7.0-1", "MQTT-4.7.1-2"},
		"+ before text":               {"+a/b", "MQTT-4.7.0-1", "MQTT-4.7.1-2"},
		"+ beside #":                  {"+#", "MQTT-4.7.0-1", "MQTT-4.7.1-2"},
		"65,536 empty levels":         {strings.Repeat("/", 65_535), "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := clause(topic.Check(tt.topic, 0)); got != tt.name {
				t.Errorf("as a name: %q, want %q", got, tt.name)
			}
			if got := clause(topic.Check([]byte(tt.topic), 0)); got != tt.name {
				t.Errorf("as bytes of a name: %q, want %q", got, tt.name)
			}
			if got := clause(topic.CheckFilter(tt.topic, 0)); got != tt.filter {
				t.Errorf("as a filter: %q, want %q", got, tt.filter)
			}
		})
	}
}

func TestLevelsAreLimited(t *testing.T) {
	for _, check := range []func(string, int) error{topic.Check[string], topic.CheckFilter[string]} {
		if err := check("a/b/c", 3); err != nil {
			t.Errorf("three levels: %v", err)
		}
		if err := check("a/b/c/", 3); err == nil || !strings.Contains(err.Error(), "4 levels, more than the 3") {
			t.Errorf("four levels: %v", err)
		}
	}
}

func TestSharedSubscriptionsAreTakenApart(t *testing.T) {
	tests := []struct {
		filter string
		want   topic.Filter
		clause string
	}{
		{"a/b", topic.Filter{Topic: "a/b"}, ""},
		{"$share/g/a/+/#", topic.Filter{Share: "g", Topic: "a/+/#"}, ""},
		{"$share/g//", topic.Filter{Share: "g", Topic: "/"}, ""},
		{"$shared/g/a", topic.Filter{Topic: "$shared/g/a"}, ""},
		{"$share", topic.Filter{}, "MQTT-4.8.2-1"},
		{"$share/", topic.Filter{}, "MQTT-4.8.2-1"},
		{"$share//a", topic.Filter{}, "MQTT-4.8.2-1"},
		{"$share/g", topic.Filter{}, "MQTT-4.8.2-2"},
		{"$share/g/", topic.Filter{}, "MQTT-4.8.2-2"},
		{"$share/g+/a", topic.Filter{}, "MQTT-4.8.2-2"},
		{"$share/#/a", topic.Filter{}, "MQTT-4.8.2-2"},
		{"$share/g\x00/a", topic.Filter{}, "MQTT-4.7.3-2"},
		{"$share/g/a#", topic.Filter{}, "MQTT-4.7.1-1"},
	}
	for _, tt := range tests {
		got, err := topic.Parse(tt.filter, 0)
		if got != tt.want || clause(err) != tt.clause {
			t.Errorf("%q: %+v, %v; want %+v, %q", tt.filter, got, err, tt.want, tt.clause)
		}
		if err == nil && got.String() != tt.filter {
			t.Errorf("%q reads %q", tt.filter, got.String())
		}
	}
}

// The examples of §4.7.1 and §4.7.2, and levels that are empty.
func TestNamesMatchFilters(t *testing.T) {
	tests := []struct {
		filter, name string
		want         bool
	}{
		{"sport/tennis/player1/#", "sport/tennis/player1", true},
		{"sport/tennis/player1/#", "sport/tennis/player1/ranking", true},
		{"sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon", true},
		{"sport/#", "sport", true},
		{"sport/#", "sports", false},
		{"#", "sport", true},
		{"sport/tennis/+", "sport/tennis/player1", true},
		{"sport/tennis/+", "sport/tennis/player1/ranking", false},
		{"sport/+", "sport", false},
		{"sport/+", "sport/", true},
		{"+/+", "/finance", true},
		{"/+", "/finance", true},
		{"+", "/finance", false},
		{"+/tennis/#", "sport/tennis", true},
		{"#", "$SYS/uptime", false},
		{"+/monitor/Clients", "$SYS/monitor/Clients", false},
		{"$SYS/#", "$SYS/uptime", true},
		{"$SYS/#", "$SYS", true},
		{"$SYS/monitor/+", "$SYS/monitor/Clients", true},
		{"a/#", "a/$b", true},
		{"a/+", "a/$b", true},
		{"ACCOUNTS", "Accounts", false},
		{"a//b", "a/b", false},
		{"a", "a", true},
		{"a/+/b/#", "a/x/b", true},
		{"a/+/b/#", "a/x", false},
	}
	for _, tt := range tests {
		if got := topic.Match(tt.filter, tt.name); got != tt.want {
			t.Errorf("Match(%q, %q) = %v", tt.filter, tt.name, got)
		}
	}
}
