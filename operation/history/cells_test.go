package history

import (
	"testing"
	"time"

	"voltbus/point"
)

func TestAttackACellOfAnExportIsNoFormula(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		path  point.Path
		value point.Value
		want  string
	}{
		{`=cmd|' /C calc'!A0`, point.TextOf("@SUM(1)"), `'=cmd|' /C calc'!A0,2026-03-01T12:00:00.000000Z,'@SUM(1),text,good`},
		{"+a", point.TextOf("-1+1"), "'+a,2026-03-01T12:00:00.000000Z,'-1+1,text,good"},
		{"a=b", point.FloatOf(-7.5), "a=b,2026-03-01T12:00:00.000000Z,-7.5,float,good"},
		{"＝a", point.TextOf("\n=1"), "'＝a,2026-03-01T12:00:00.000000Z,\"'\n=1\",text,good"},
		{"a;=1", point.TextOf("b\t=1"), "\"a;=1\",2026-03-01T12:00:00.000000Z,\"b\t=1\",text,good"},
		{"a", point.TextOf(""), `a,2026-03-01T12:00:00.000000Z,"",text,good`},
	} {
		s := point.Sample{Point: tt.path, Time: at, Value: tt.value}
		if got := string(appendCSV(nil, &s, true)); got != tt.want+"\n" {
			t.Errorf("the row is %q, want %q", got, tt.want)
		}
	}
	s := point.Sample{Point: "=a", Time: at, Value: point.TextOf("=b")}
	if got := string(appendCSV(nil, &s, false)); got != "=a,2026-03-01T12:00:00.000000Z,=b,text,good\n" {
		t.Errorf("without the option the row is %q", got)
	}
}
