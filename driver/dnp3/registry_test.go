package dnp3

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/driver/dnp3/pointlist"
	"voltbus/point"
)

func TestACustomaryRegistryIsReadAsItIs(t *testing.T) {
	entries, problems := pointlist.ParseCSV("registry", "relay.csv", strings.NewReader(
		"\xef\xbb\xbfPoint Name,Volttron Point Name,Group,Variation,Index,Scaling,Units,Writable,Notes\r\n"+
			"AI_0,power,30,6,0,0.1,kW,FALSE,\"active power, total\"\r\n"+
			"# a remark,,,,,,,,\r\n"+
			"BO_1,breaker,10,2,1,1,,TRUE,\r\n"+
			"AO_2,limit,41,2,2,1,kW,TRUE,\r\n"+
			"AE_3,event,32,7,3,,,,\r\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c := NewConfig()
	c.Address, c.Registry.Entries = "relay", entries
	if problems := c.Validate(); len(problems) > 0 {
		t.Fatal(problems)
	}
	want := []point.Info{
		{Path: "power", Kind: point.Float, Unit: "kW", Description: "active power, total"},
		{Path: "breaker", Kind: point.Bool, Writable: true},
		{Path: "limit", Kind: point.Float, Unit: "kW", Writable: true},
		{Path: "event", Kind: point.Float},
	}
	if diff := cmp.Diff(want, c.Points(), cmp.Comparer(func(a, b point.Value) bool { return a == b })); diff != "" {
		t.Errorf("points differ (-want +got):\n%s", diff)
	}
	var asked []string
	for i := range c.items {
		asked = append(asked, c.items[i].Variation().String())
	}
	if diff := cmp.Diff([]string{"g30v6", "g10v2", "g40v2", "g30v0"}, asked); diff != "" {
		t.Errorf("variations differ (-want +got):\n%s", diff)
	}
	if c.LineName() != "tcp://relay:20000" {
		t.Errorf("the line is %s", c.LineName())
	}
}

func TestARegistrySaysWhatCommandsGoBackToAndTheirBounds(t *testing.T) {
	entries, problems := pointlist.ParseCSV("registry", "relay.csv", strings.NewReader(strings.Join([]string{
		"name,type,index,writable,default,min,max",
		"limit,analog_output,0,true,50,0,100.5",
		"breaker,binary_output,1,true,true,,",
		"other,analog_output,2,true,,,",
	}, "\n")))
	c := NewConfig()
	c.Address, c.Registry.Entries = "relay", entries
	if problems = append(problems, c.Validate()...); len(problems) > 0 {
		t.Fatal(problems)
	}
	want := []point.Info{
		{Path: "limit", Kind: point.Float, Writable: true, Default: point.FloatOf(50), Min: new(0.0), Max: new(100.5)},
		{Path: "breaker", Kind: point.Bool, Writable: true, Default: point.BoolOf(true)},
		{Path: "other", Kind: point.Float, Writable: true},
	}
	if diff := cmp.Diff(want, c.Points(), cmp.Comparer(func(a, b point.Value) bool { return a == b })); diff != "" {
		t.Errorf("points differ (-want +got):\n%s", diff)
	}
	entries, _ = pointlist.ParseCSV("registry", "relay.csv", strings.NewReader(strings.Join([]string{
		"name,type,index,writable,default,min,max",
		"a,analog_output,0,true,warm,,",
		"b,binary_output,0,true,2,,",
		"c,analog_output,1,true,,NaN,much",
		"d,analog_input,0,,1,,",
	}, "\n")))
	bad := NewConfig()
	bad.Address, bad.Registry.Entries = "relay", entries
	var told []string
	for _, problem := range bad.Validate() {
		told = append(told, problem.Error())
	}
	all := strings.Join(told, "\n")
	for _, words := range []string{`"warm" is not a number`, `"2" is neither true nor false`, `"NaN" is no number`, `"much" is no number`, "for points that may be written"} {
		if !strings.Contains(all, words) {
			t.Errorf("it does not say %q:\n%s", words, all)
		}
	}
}

func TestEveryProblemOfARegistryIsToldAtItsPlace(t *testing.T) {
	entries, problems := pointlist.ParseCSV("registry", "relay.csv", strings.NewReader(strings.Join([]string{
		"name,type,group,index,variation,scale,writable,operate,control,on_time,surprise",
		"a,analog_input,,70000,,,,,,,",
		"b,thermometer,,1,,,,,,,",
		"c,,,1,,,,,,,",
		"d,analog_input,1,1,,,,,,,",
		"e,,60,1,,,,,,,",
		"f,analog_input,,1,9,,,,,,",
		"g,binary_input,,1,,0.5,,,,,",
		"h,binary_input,,2,,,true,,,,",
		"i,binary_output,,2,,,true,twice,,,",
		"i2,binary_output,,3,,,true,,slam,,",
		"i3,binary_output,,4,,,true,,,soon,",
		"j,counter,,1,,0,maybe,,,,",
		",counter,,2,,,,,,,",
		"k,counter,,5,,,,,,,",
		"k,counter,,6,,,,,,,",
		"l,counter,,5,,,,,,,",
		"m,counter,,7,,,,,,,,more",
	}, "\n")))
	c := NewConfig()
	c.Address, c.Registry.Entries = "relay", entries
	var texts []string
	for _, problem := range append(problems, c.Validate()...) {
		texts = append(texts, problem.Error())
	}
	want := []string{
		`column "surprise" is not known; write name,`,
		`registry[16]: (m) has more cells than the heading`,
		`registry[0].index: (a) "70000" is not an index; write a number from 0 to 65535`,
		`registry[1].type: (b) "thermometer" is not known; write binary_input,`,
		`registry[2].type: (c) is missing; write a type such as analog_input, or a group such as 30`,
		`registry[3].type: (d) is analog_input, but group 1 is another type`,
		`registry[4].type: (e) group 60 holds no points`,
		`registry[5].type: (f) variation 9 of group 30 is not known`,
		`registry[6].scale: (g) is not possible for a binary_input`,
		`registry[7].writable: (h) is true, but only binary_output and analog_output can be operated`,
		`registry[8].operate: (i) "twice" is not known; write sbo, direct or no_answer`,
		`registry[9].operate: (i2) control "slam" is not known; write latch, pulse or trip_close`,
		`registry[10].operate: (i3) on_time "soon" is not a duration; write one such as 500ms`,
		`registry[11].scale: (j) is 0; write a factor such as 0.1`,
		`registry[11].writable: (j) "maybe" is neither true nor false; write one of them`,
		`registry[12].name: is missing; write the name of the point`,
		`registry[14].name: (k) "k" stands there twice; give each point its own name`,
		`registry[15].index: (l) is the same counter as "k"; remove one of them`,
	}
	for i := range max(len(want), len(texts)) {
		if i >= len(want) || i >= len(texts) || !strings.Contains(texts[i], want[i]) {
			t.Fatalf("problem %d differs: got\n%s\nwant\n%s", i, strings.Join(texts, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestEveryProblemOfAConfigurationIsTold(t *testing.T) {
	c := NewConfig()
	*c = Config{
		Transport: "pigeon", Address: "host:99999", LocalAddress: "", TLS: TLS{Key: "k"}, Baudrate: 1, Databits: 9, Parity: "maybe",
		Stopbits: 3, Master: 1, Outstation: 1, Timeout: 0, Retries: 99, KeepAlive: -1, Scan: "all", Unsolicited: []int{0},
		Polls: []Poll{{Classes: []int{4}}}, TimeSync: "soon", Clock: "mine", Operate: "hard",
		Alternatives: []string{"relay2:0"}, Allow: []string{"10.0.0.0/33"},
	}
	told := make(map[string]bool)
	for _, problem := range c.Validate() {
		key, _, _ := strings.Cut(problem.Error(), ": ")
		told[key] = true
	}
	for _, key := range []string{
		"transport", "address", "tls", "tls.certificate", "tls.ca", "baudrate", "databits", "parity", "stopbits", "outstation",
		"timeout", "retries", "keep_alive", "scan", "unsolicited[0]", "polls[0].classes[0]", "polls[0].interval", "max_events",
		"time_sync", "clock", "operate", "registry", "alternatives", "alternatives[0]", "allow", "allow[0]",
	} {
		if !told[key] {
			t.Errorf("%s has no problem", key)
		}
	}
}

func FuzzRegistry(f *testing.F) {
	f.Add("name,type,index\na,analog_input,1\n")
	f.Add("Volttron Point Name;Group;Variation;Index\nx;30;6;0\n")
	f.Fuzz(func(t *testing.T, text string) {
		entries, _ := pointlist.ParseCSV("registry", "fuzz.csv", strings.NewReader(text))
		c := NewConfig()
		c.Address, c.Registry.Entries = "relay", entries
		problems := c.Validate()
		if len(c.Points())+len(problems) < len(entries) {
			t.Errorf("%d points and %d problems of %d entries", len(c.Points()), len(problems), len(entries))
		}
	})
}
