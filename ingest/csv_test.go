package ingest_test

import (
	"strings"
	"testing"
	"time"

	"voltbus/ingest"
)

func TestCSVIsRead(t *testing.T) {
	check(t, ingest.CSV, []body{
		{"one reading a line", "point,time,value\na/b,2026-03-01T12:00:00Z,21.5\na/b,2026-03-01 12:00:01Z,-3\na/c,1772366402000,true\na/d,2026-03-01T12:00:00Z,some text\n", []string{
			"a/b float 21.5 @0", "a/b float -3 @1", "a/c bool true @2", "a/d text some text @0",
		}, nil},
		{"what export writes", "point,time,value,kind,quality\na,2026-03-01T12:00:00.000000Z,7,int,good\na,2026-03-01T12:00:00.000000Z,7,float,uncertain\na,2026-03-01T12:00:00.000000Z,,none,bad(timeout)\na,2026-03-01T12:00:00.000000Z,7,text,good\na,2026-03-01T12:00:00.000000Z,\"\",text,good\n", []string{
			"a int 7 @0", "a float 7 @0 uncertain", "a none  @0 bad(timeout)", "a text 7 @0", "a text  @0",
		}, nil},
		{"columns in another order, with another separator, from a spreadsheet", "\xef\xbb\xbf\"Time\";\"Value\";\"Point\"\r\n2026-03-01T12:00:00Z;TRUE;a;\r\n\"2026-03-01T12:00:00Z\";\"5\";\"a\"\r\n", []string{
			"a float 5 @0", "! 2 : has 4 cells, and the first line 3",
		}, nil},
		{"one column a point", "# comment\n\ntime,a/x,a/y\n2026-03-01T12:00:00Z,1,\n2026-03-01T12:00:01Z,,2\n\n2026-03-01T12:00:02Z,x,\"\"\n", []string{
			"a/x float 1 @0", "a/y float 2 @1", "a/x text x @2", "a/y text  @2",
		}, nil},
		{"quotes, commas and line feeds in cells", "point,time,value\n\"a,\"\"b\"\"\",2026-03-01T12:00:00Z,\"x\ny\"\nc,2026-03-01T12:00:00Z,\"12 kW\"\n", []string{
			"a,\"b\" text x\ny @0", "c text 12 kW @0",
		}, nil},
		{"tabs", "time\ta\n1772366400000\t5\n", []string{"a float 5 @0"}, nil},
		{"lines that are wrong", "point,time,value,quality\na,noon,1,\na,,1,\n,2026-03-01T12:00:00Z,1,\na,2026-03-01T12:00:00Z,,\na,2026-03-01T12:00:00Z,12 kW,\na,2026-03-01T12:00:00Z,NaN,\na,2026-03-01T12:00:00Z,1,great\na,b\n\"a\"x,1,2,3\n\"a,1,2,3\na,2026-03-01T12:00:00Z,1,\n", []string{
			"a float 1 @0", "! 2 a: \"noon\" is not a time…", "! 3 a: \"\" is not a time…", "! 4 : names no point", "! 5 a: null needs…", "! 6 a: \"12 kW\" is not a number…",
			"! 7 a: NaN…", "! 8 a: \"great\" is not…", "! 9 : has 2 cells…", "! 10 : a quote must…", "! 11 : a text is not closed…",
		}, nil},
		{"cells of a wide table that are wrong", "time,a,b\n2026-03-01T12:00:00Z,1.2.3,4\nx,1,2\n", []string{"b float 4 @0", "! 2 a: \"1.2.3\" is not a number…", "! 3 : \"x\" is not a time…"}, nil},
		{"kinds that do not fit", "point,time,value,kind\na,2026-03-01,1.5,int\na,2026-03-01,x,float\na,2026-03-01,1,bool\na,2026-03-01T12:00:00Z,1,what\n", []string{
			"a bool true @-43200", "! 2 a: \"1.5\" does not fit the kind int", "! 3 a: \"x\" does not fit the kind float", "! 5 a: \"what\" is not a kind…",
		}, nil},
		{"seconds", "time,a\n1772366401,5\n", []string{"a float 5 @1"}, precision(time.Second)},
		{"nothing", "", []string{"!! body: the first line must name…"}, nil},
		{"no header", "a,2026-03-01T12:00:00Z,5\n", []string{"!! body: the first line must name…"}, nil},
		{"no value", "point,time\na,2026-03-01T12:00:00Z\n", []string{"!! body: the first line must name…"}, nil},
		{"columns that are not known", "point,time,value,site\n", []string{"!! body: \"site\": unknown column…"}, nil},
		{"columns that stand twice", "time,a,a\n", []string{"!! body: \"a\" stands twice…"}, nil},
		{"a point that is no path", "time,a\x01\n", []string{"!! body: column 2: a path must not…"}, nil},
		{"a point without a name", "time,a,\n", []string{"!! body: column 3: names no point"}, nil},
		{"a line that is too long", "time,a\n2026-03-01T12:00:00Z," + strings.Repeat("x", ingest.MaxLine+2) + "\n2026-03-01T12:00:00Z,5\n", []string{"a float 5 @0", "! 2 : a line has at most…"}, nil},
		{"too many columns", "time" + strings.Repeat(",", 20_000) + "\n", []string{"!! body: the first line must name…"}, nil},
	})
}
