package ingest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/ingest"
)

func TestLineProtocolIsRead(t *testing.T) {
	long := strings.Repeat("x", ingest.MaxText+1)
	check(t, ingest.Line, []body{
		{"a line with tags, fields of all types and a time", `cpu,host=b,core=a idle=0.5,n=3i,u=4u,ok=t,no=FALSE,s="a b" 1772366401500000000`, []string{
			"cpu/a/b/idle float 0.5 @1.5", "cpu/a/b/n int 3 @1.5", "cpu/a/b/u int 4 @1.5",
			"cpu/a/b/ok bool true @1.5", "cpu/a/b/no bool false @1.5", "cpu/a/b/s text a b @1.5",
		}, nil},
		{"no tags and no time: it is now", "m v=1", []string{"m/v float 1 @0"}, nil},
		{"comments, empty lines, spaces and carriage returns", "# c \" c\n\n  m v=1  1772366400000000000 \r\n\r\n", []string{"m/v float 1 @0"}, nil},
		{"numbers as programs write them", "m a=1.,b=-.5,c=1e3,d=+2,e=-7i,f=1.7976931348623157e308,g=-0", []string{
			"m/a float 1 @0", "m/b float -0.5 @0", "m/c float 1000 @0", "m/d float 2 @0", "m/e int -7 @0",
			"m/f float 1.7976931348623157e+308 @0",
			"m/g float -0 @0",
		}, nil},
		{"the ends of whole numbers", "m a=9223372036854775807i,b=-9223372036854775808i", []string{"m/a int 9223372036854775807 @0", "m/b int -9223372036854775808 @0"}, nil},
		{"escapes in names, tags and texts", `a\ b,t\,1=x\=y\ z f\=g="say \"hi\" \\ \n"`, []string{`a b/x=y z/f=g text say "hi" \ \n @0`}, nil},
		{"commas, spaces, equal signs and line feeds in a text", "m s=\"a, b=c\nd\",n=1\nm v=2", []string{"m/s text a, b=c\nd @0", "m/n float 1 @0", "m/v float 2 @0"}, nil},
		{"quotes that mean nothing in a tag", "m,t=\"a v=1\nm v=2", []string{"m/\"a/v float 1 @0", "m/v float 2 @0"}, nil},
		{"slashes and control characters stay in their segment", "m/x,t=../a%2Fb v/w=1\nm\tn,t=\x01 v=1\n\xff v=1", []string{
			"m%2Fx/..%2Fa%252Fb/v%2Fw float 1 @0", "m%09n/%01/v float 1 @0", "%FF/v float 1 @0",
		}, nil},
		{"markup as it is: whoever shows it escapes it", "<b>,t=é v=1", []string{"<b>/é/v float 1 @0"}, nil},
		{"what cannot be recorded is refused alone", "m a=NaN,b=1,c=-Inf,d=1e999,e=9223372036854775808u,f=99999999999999999999i", []string{
			"m/b float 1 @0", "! 1 m/a: NaN and infinities…", "! 1 m/c: NaN and infinities…", "! 1 m/d: does not fit into a 64-bit number",
			"! 1 m/e: does not fit into a 64-bit number", "! 1 m/f: does not fit into a 64-bit number",
		}, nil},
		{"a text that is too long", "m a=\"" + long + "\",b=1", []string{"m/b float 1 @0", "! 1 m/a: a text value has at most 64 KiB…"}, nil},
		{"a line that is wrong is refused as a whole, and only it", "m a=1,b=x\nm a=2", []string{"m/a float 2 @0", `! 1 m: b: "x" is no value…`}, nil},
		{"what stands before the mistake does not count twice", "m a=NaN,b=x", []string{`! 1 m: b: "x" is no value…`}, nil},
		{"mistakes of all kinds", "m\nm \n,t=1 v=1\nm, v=1\nm,t v=1\nm,t= v=1\nm,=1 v=1\nm,t=1, v=1\nm =1\nm v\nm v=\nm v=1,\nm v=1 x\nm v=1 1 2\nm v=1i2\nm v=i\nm v=-u\nm v=0x10\nm v=1_0\nm v=tru\nm v=\"a\"b", []string{
			"! 1 m: has no fields…", "! 2 m: has no fields…", "! 3 ,t=1: begins with no measurement", "! 4 m,: a tag needs…", "! 5 m,t: a tag needs…",
			"! 6 m,t=: a tag needs…", "! 7 m,=1: a tag needs…", "! 8 m,t=1,: a tag needs…", "! 9 m: a field needs…", "! 10 m: a field needs…",
			"! 11 m: v: \"\" is no value…", "! 12 m: a field needs…", "! 13 m: the time behind…", "! 14 m: the time behind…", "! 15 m: v: \"1i2\" is no value…",
			"! 16 m: v: \"i\" is no value…", "! 17 m: v: \"-u\" is no value…", "! 18 m: v: \"0x10\" is no value…", "! 19 m: v: \"1_0\" is no value…",
			"! 20 m: v: \"tru\" is no value…", "! 21 m: is no value…",
		}, nil},
		{"a text that is not closed costs one line", "m s=\"a\nm v=1\nm w=2", []string{"m/v float 1 @0", "m/w float 2 @0", "! 1 m: a text is not closed…"}, nil},
		{"a path that is too long", strings.Repeat("m", 600) + " v=1", []string{"! 1 mmm…"}, nil},
		{"a line that is too long", "m v=1\n" + strings.Repeat("m", ingest.MaxLine+1) + "\nm v=2", []string{"m/v float 1 @0", "m/v float 2 @0", "! 2 : a line has at most 1048576 bytes"}, nil},
		{"times in other units", "m v=1 1772366401", []string{"m/v float 1 @1"}, precision(time.Second)},
		{"hours", "m v=1 492323", []string{"m/v float 1 @-3600"}, precision(time.Hour)},
		{"times in the wrong unit", "m v=1 1772366401\nm v=1 -1\nm v=1 9223372036854775807", []string{
			"! 1 m: the time must lie…", "! 2 m: the time must lie…", "! 3 m: the time must lie…",
		}, nil},
		{"nanoseconds as seconds", "m v=1 1772366401000000000", []string{"! 1 m: the time must lie…"}, precision(time.Second)},
		{"nanoseconds are rounded down to microseconds", "m v=1 1772366400000019999", []string{"m/v float 1 @1e-05"}, nil},
		{"fields in another order, and new ones", "m a=1,b=2\nm b=3,a=4,c=5\nm c=6", []string{
			"m/a float 1 @0", "m/b float 2 @0", "m/b float 3 @0", "m/a float 4 @0", "m/c float 5 @0", "m/c float 6 @0",
		}, nil},
	})
}

func TestManyFieldsAreToldApart(t *testing.T) {
	line := "m f00=0"
	want := []string{"m/f00 float 0 @0"}
	for i := 1; i < 40; i++ {
		n := string(rune('0'+i/10)) + string(rune('0'+i%10))
		line += ",f" + n + "=" + n
		want = append(want, "m/f"+n+" float "+strings.TrimPrefix(n, "0")+" @0")
	}
	got := parse(ingest.Line, line+"\nm f30=1,f02=2").lines()
	if diff := cmp.Diff(append(want, "m/f30 float 1 @0", "m/f02 float 2 @0"), got); diff != "" {
		t.Error(diff)
	}
}

func TestALayoutMakesPaths(t *testing.T) {
	const line = "cpu,host=s1,core=c/0,zone=z idle=1"
	tests := []struct{ name, layout, want string }{
		{"the default", ingest.DefaultLayout, "cpu/c%2F0/s1/z/idle"},
		{"a tag first and the others where they belong", "site/{tag:host}/{measurement}/{tags}/{field}", "site/s1/cpu/c%2F0/z/idle"},
		{"tags with their names", "{pairs}/{field}", "core=c%2F0/host=s1/zone=z/idle"},
		{"several in a segment", "{tag:zone}-{tag:host}/{measurement}_{field}", "z-s1/cpu_idle"},
		{"all tags named, and none left for a segment", "{tags}/{tag:zone}{tag:core}{tag:host}/{field}/{tags}", "zc%2F0s1/idle"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			layout, err := ingest.ParseLayout(tt.layout)
			if err != nil {
				t.Fatal(err)
			}
			got := parse(ingest.Line, line, func(o *ingest.Options) { o.Layout = layout }).lines()
			if diff := cmp.Diff([]string{tt.want + " float 1 @0"}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a tag that a line does not have", func(t *testing.T) {
		layout, err := ingest.ParseLayout("{tag:rack}/{field}")
		if err != nil {
			t.Fatal(err)
		}
		got := parse(ingest.Line, line, func(o *ingest.Options) { o.Layout = layout }).lines()
		if diff := cmp.Diff([]string{`! 1 cpu,host=s1,core=c/0,zone=z: the line has no tag "rack", which the layout wants`}, got); diff != "" {
			t.Error(diff)
		}
	})
	for _, wrong := range []string{"", "{measurement}", "{field}/", "/{field}", "{field", "field}", "{what}/{field}", "{tag:}/{field}", "x{tags}/{field}", "{field}\n", strings.Repeat("x", 600) + "{field}"} {
		if _, err := ingest.ParseLayout(wrong); err == nil {
			t.Errorf("the layout %.40q is taken", wrong)
		}
	}
}
