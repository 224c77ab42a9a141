package ingest_test

import (
	"strings"
	"testing"
	"time"

	"voltbus/ingest"
)

func TestOwnJSONIsRead(t *testing.T) {
	check(t, ingest.JSON, []body{
		{"samples with all that they may say", `{"samples":[
			{"point":"a/b","time":"2026-03-01T12:00:00.5Z","value":21.5,"unit":"degC"},
			{"point":"a/b","time":"2026-03-01T13:00:00+01:00","value":null,"quality":"bad(timeout)"},
			{"point":"a/t","time":1772366401000,"value":"x\u00e9\n\"","quality":"good"},
			{"point":"a/c","value":true}, {"value":7,"kind":"int","point":"a/d"}]}`, []string{
			"a/b float 21.5 @0.5", "a/b none  @0 bad(timeout)", "a/t text xé\n\" @1", "a/c bool true @0", "a/d int 7 @0",
		}, nil},
		{"an array of samples", ` [ {"point" : "a", "value" : 1 } ] `, []string{"a float 1 @0"}, nil},
		{"series, as the answer to a range has them", `{"series":[{"point":"a","unit":"kW","kind":"int","expected":null,"samples":[[1772366400000,1],[1772366400000.5,2,"uncertain"]]},
			{"point":"b","kind":"none","samples":[["2026-03-01T12:00:01Z",false]]}],"completeness":0.5,"from":"x","more":{"a":[1]}}`, []string{
			"a int 1 @0", "a int 2 @0.0005 uncertain", "b bool false @1",
		}, nil},
		{"numbers keep their digits", `[{"point":"a","value":9007199254740993},{"point":"a","value":-1e-7},{"point":"a","value":0.1},{"point":"a","value":9007199254740993,"kind":"float"}]`, []string{
			"a int 9007199254740993 @0", "a float -1e-07 @0", "a float 0.1 @0", "a float 9007199254740992 @0",
		}, nil},
		{"numbers that do not fit", `[{"point":"a","value":1e999},{"point":"a","value":1e-999},{"point":"a","value":"NaN"},{"point":"a","value":"NaN","kind":"text"}]`, []string{
			"a float 0 @0", "a text NaN @0", "! 1 a: does not fit…", "! 3 a: NaN and infinities…",
		}, nil},
		{"readings that are wrong are refused one by one", `[7,{"value":1},{"point":"","value":1},{"point":7,"value":1},{"point":"a"},{"point":"a","value":null},
			{"point":"a","value":1,"time":"noon"},{"point":"a","value":1,"time":1},{"point":"a","value":1,"quality":"great"},{"point":"a","value":[1]},
			{"point":"a","value":1,"kind":"none"},{"point":"a","value":1.5,"kind":"int"},{"point":"a","value":"x","kind":"float"},{"point":"a","value":1,"typo":1},
			{"point":"a\u0000","value":1},{"point":"a","value":1}]`, []string{
			"a float 1 @0", "! 1 : must be an object…", "! 2 : names no point", "! 3 : names no point", "! 4 7: \"point\": must be a string", "! 5 a: has no value…",
			"! 6 a: null needs…", "! 7 a: \"noon\" is not a time…", "! 8 a: \"1\" the time must lie…", "! 9 a: \"great\" is not a quality…", "! 10 a: a value must be…",
			"! 11 a: \"none\" is not a kind…", "! 12 a: \"1.5\" does not fit the kind int", "! 13 a: \"x\" does not fit the kind float", "! 14 a: \"typo\": unknown…",
			"! 15 a\x00: a path must not contain control characters",
		}, nil},
		{"series that are wrong", `{"series":[1,{"point":"a"},{"point":"a","samples":{}},{"point":"a","samples":[1,[1],[1,2,3,4],[null,2]]},{"samples":[[null,2]]}]}`, []string{
			"a float 2 @0", "! 1 : must be an object…", "! 2 a: must be…", "! 3 a: must be…", "! 4 a: must be [time…", "! 5 a: must be [time…", "! 6 a: must be [time…", "! 8 : names no point",
		}, nil},
		{"whole numbers as times in another unit", `[{"point":"a","value":1,"time":1772366401}]`, []string{"a float 1 @1"}, precision(time.Second)},
		{"nothing", `{"samples":[]}`, nil, nil},
		{"another shape", `{"points":[]}`, []string{"!! body: must be {\"samples\"…"}, nil},
		{"a number", `7`, []string{"!! body: must be {\"samples\"…"}, nil},
		{"samples that are no array", `{"samples":{}}`, []string{"!! body: must be {\"samples\"…"}, nil},
		{"text that is not UTF-8", "[{\"point\":\"a\",\"value\":\"\xff\"},{\"point\":\"\xff\",\"value\":1}]", []string{"! 1 a: a text value must be valid UTF-8", "! 2 \xff: a path must be valid UTF-8"}, nil},
	})
}

func TestJSONThatIsDamagedIsRefusedAsAWhole(t *testing.T) {
	good := `[{"point":"a","value":-1.5e+3,"time":"2026-03-01T12:00:00Z","quality":"go\u006fd"},{"point":"b","value":[{"x":null}]}]`
	if got := parse(ingest.JSON, good); got.err != nil || len(got.samples) != 1 {
		t.Fatalf("%v: the body to damage is not good", got.lines())
	}
	for i := range len(good) {
		if got := parse(ingest.JSON, good[:i]); got.err == nil || len(got.samples) > 0 || !strings.Contains(got.err.Error(), "ends too early") {
			t.Errorf("cut to %q it gives %q", good[:i], got.lines())
		}
	}
	for _, wrong := range []string{
		`[01]`, `[1.]`, `[.5]`, `[1e]`, `[+1]`, `[-]`, `[NaN]`, `[1,]`, `[,1]`, `[1 2]`, `{"a"}`, `{"a":1,}`, `{a:1}`, `{"a":1 "b":2}`, `["\x"]`, `["\u12g4"]`, "[\"\n\"]",
		`[] x`, `[tru]`, `[truE]`, `nul`, `'a'`, `]`, strings.Repeat("[", 100) + strings.Repeat("]", 100), "\xef\xbb\xbf[]", "[]\x00",
	} {
		if got := parse(ingest.JSON, wrong); got.err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

func TestSenMLIsRead(t *testing.T) {
	check(t, ingest.SenML, []body{
		{"a single value now", `[{"n":"urn:dev:ow:10e2073a01080063","u":"Cel","v":23.1}]`, []string{"urn:dev:ow:10e2073a01080063 float 23.1 @0"}, nil},
		{"base name, base time, base unit and relative times", `[{"bn":"dev/","bt":1772366400,"bu":"A","bver":5,"n":"voltage","u":"V","v":120.1},
			{"n":"current","t":-5,"v":1.2},{"n":"current","t":0.5,"v":1.3}]`, []string{
			"dev/voltage float 120.1 @0", "dev/current float 1.2 @-5", "dev/current float 1.3 @0.5",
		}, nil},
		{"times relative to now", `[{"n":"a","t":-60,"v":1},{"n":"a","t":60,"v":1}]`, []string{"a float 1 @-60", "a float 1 @60"}, nil},
		{"values of other types", `[{"n":"a","vs":"x"},{"n":"a","vb":false},{"n":"a","vd":"aGk"}]`, []string{"a text x @0", "a bool false @0", "a text aGk @0"}, nil},
		{"base value and base sum", `[{"bv":20,"bs":100,"n":"a","v":1.5,"s":1},{"n":"a","v":2},{"n":"a","s":3}]`, []string{
			"a float 21.5 @0", "a/sum float 101 @0", "a float 22 @0", "a/sum float 103 @0",
		}, nil},
		{"a base that changes on the way, and a record with nothing else", `[{"bn":"x"},{"v":1},{"bn":"y","v":2},{"bn":"z","bt":1772366460}, {"n":"z","v":3}]`, []string{
			"x float 1 @0", "y float 2 @0", "zz float 3 @60",
		}, nil},
		{"fields that may be ignored", `[{"n":"a","v":1,"ut":5,"x":[{}],"y":null}]`, []string{"a float 1 @0"}, nil},
		{"records that are wrong", `[5,{"n":"a"},{"v":1},{"n":"_a","v":1},{"n":"a b","v":1},{"n":"a","v":1,"vs":"x"},{"n":"a","v":"1"},{"n":7,"v":1},{"n":"a","vb":1},
			{"n":"a","vd":"a+/="},{"n":"a","t":-1e30,"v":1},{"n":"a","t":1e30,"v":1},{"n":"a","v":1e999},{"n":"a","v":null},{"n":"a","v":1}]`, []string{
			"a float 1 @0", "! 1 : a SenML record…", "! 2 a: has neither…", "! 3 : a SenML name…", "! 4 _a: a SenML name…", "! 5 a b: a SenML name…", "! 6 a: has several…",
			"! 7 a: v: is of the wrong type", "! 8 : n: is of the wrong type", "! 9 a: vb: is of the wrong type", "! 10 a: vd: vd must be base64…", "! 11 a: the time must lie…",
			"! 12 a: the time must lie…", "! 13 a: v: does not fit…", "! 14 a: v: is of the wrong type",
		}, nil},
		{"sums beyond a number", `[{"bv":1e308,"n":"a","v":1e308}]`, []string{"! 1 a: does not fit…"}, nil},
		{"a version that is not known", `[{"bver":11,"n":"a","v":1}]`, []string{"!! record 1: bver: is SenML of a version above 10…"}, nil},
		{"a field that must be understood", `[{"n":"a","v":1,"secret_":1}]`, []string{"!! record 1: secret_: has a field…"}, nil},
		{"no array", `{"n":"a","v":1}`, []string{"!! body: must be an array of SenML records"}, nil},
		{"damage", `[{"n":"a","v":1`, []string{"!! body: is not JSON…"}, nil},
	})
}

func TestTheUnitOfAPointIsTold(t *testing.T) {
	got := parse(ingest.SenML, `[{"bn":"a/","bu":"W","n":"p","v":1},{"n":"q","u":"Cel","v":1},{"n":"r","u":"`+strings.Repeat("x", 65)+`","v":1}]`)
	if got.units["a/p"] != "W" || got.units["a/q"] != "Cel" || len(got.units) != 2 {
		t.Errorf("got %v", got.units)
	}
	if got := parse(ingest.CSV, "point,time,value,unit\na,2026-03-01,1,kW\n"); got.units["a"] != "kW" {
		t.Errorf("got %v", got.lines())
	}
}
