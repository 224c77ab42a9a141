package ingest_test

import (
	"testing"
	"time"

	"voltbus/ingest"
	"voltbus/point"
)

// holds checks what must hold of any body: what is handed over can be recorded, and reading the
// body twice gives the same.
func holds(t *testing.T, f ingest.Format, body []byte, o ingest.Options) {
	t.Helper()
	o.Now = noon()
	parser := ingest.NewParser()
	counts := [2]int{}
	for i := range counts {
		report, err := parser.Parse(f, body, o, func(b *ingest.Batch) error {
			if len(b.Samples) == 0 || len(b.Samples) != len(b.Lines) {
				t.Fatalf("%d samples with %d lines", len(b.Samples), len(b.Lines))
			}
			for j := range b.Samples {
				recordable(t, &b.Samples[j])
				counts[i]++
			}
			return nil
		})
		if len(report.Errors) > ingest.MaxErrors || (len(report.Errors) == 0) != (report.Refused == 0) {
			t.Fatalf("%d errors for %d refused", len(report.Errors), report.Refused)
		}
		for _, e := range report.Errors {
			if e.Line < 1 || e.Detail == "" || len(e.Detail) > 1000 || len(e.Point) > 1000 {
				t.Fatalf("%+v", e)
			}
		}
		_ = err
	}
	if counts[0] != counts[1] {
		t.Fatalf("%d samples, and then %d", counts[0], counts[1])
	}
}

func recordable(t *testing.T, s *point.Sample) {
	t.Helper()
	if err := s.Point.Validate(); err != nil {
		t.Fatalf("%q: %v", s.Point, err)
	}
	if y := s.Time.Year(); y < 1980 || y >= 2200 {
		t.Fatal(s.Time)
	}
	if len(s.Value.Text()) > ingest.MaxText || (s.Value.Kind() == point.None && !s.Quality.IsBad()) {
		t.Fatal(s.Value)
	}
	if f, ok := s.Value.Number(); ok && (f-f) != 0 {
		t.Fatal(f)
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte("cpu,host=b,core=a idle=0.5,n=3i,u=4u,ok=t,s=\"a \\\" b\" 1772366401500000000\n# c\nm v=1\r\n"), "{tag:host}/{pairs}/{field}")
	f.Add([]byte("m\\ x,t\\,1=x\\=y f=\"a\nb\",g=-1e3 1\nm s=\"open\nn v=NaN"), "")
	f.Fuzz(func(t *testing.T, body []byte, layout string) {
		o := ingest.Options{}
		if l, err := ingest.ParseLayout(layout); err == nil {
			o.Layout = l
		}
		holds(t, ingest.Line, body, o)
		o.Precision = time.Second
		holds(t, ingest.Line, body, o)
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"samples":[{"point":"a/b","time":"2026-03-01T12:00:00.5Z","value":21.5,"quality":"bad","kind":"int","unit":"x"},{"point":"b","value":null}]}`))
	f.Add([]byte(`{"series":[{"point":"\u0061","kind":"none","samples":[[1772366400000,1],[1.5,"x","bad(timeout)"]]}],"more":{"a":[]}}`))
	f.Fuzz(func(t *testing.T, body []byte) { holds(t, ingest.JSON, body, ingest.Options{Under: "x"}) })
}

func FuzzSenML(f *testing.F) {
	f.Add([]byte(`[{"bn":"dev/","bt":1772366400,"bu":"A","bver":5,"bv":1,"bs":2,"n":"v","u":"V","v":120.1,"s":1},{"n":"c","t":-5,"vs":"\n"},{"vb":true,"vd":"aGk"}]`))
	f.Fuzz(func(t *testing.T, body []byte) { holds(t, ingest.SenML, body, ingest.Options{}) })
}

func FuzzCBOR(f *testing.F) {
	f.Add([]byte(cb("9f bf 00 7f 61 61 61 62 ff 02 fb 405e066666666666 ff a3 21 61 78 00 61 63 02 c4 82 21 19 6ab3 a2 03 60 08 42 6869 ff")))
	f.Fuzz(func(t *testing.T, body []byte) { holds(t, ingest.SenMLCBOR, body, ingest.Options{}) })
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("point,time,value,kind,quality,unit\na,2026-03-01T12:00:00Z,7,int,good,kW\n\"a\"\"\",1772366400000,\"x\ny\",,bad\n"))
	f.Add([]byte("\xef\xbb\xbf# c\ntime;a;b\r\n2026-03-01;1;\r\n\r\n2026-03-01 12:00:00Z;TRUE;\"\"\r\n"))
	f.Fuzz(func(t *testing.T, body []byte) { holds(t, ingest.CSV, body, ingest.Options{}) })
}
