package service_test

import (
	"bytes"
	"testing"

	"voltbus/service"
)

// BenchmarkLatest is what the newest values of three points cost an agent, without the bus.
func BenchmarkLatest(b *testing.B) {
	d := open(b, grants())
	call := service.Call{From: "admin", Method: "latest", Body: []byte(`{"kwargs":{"points":["site/ahu/temp","site/ahu/fan","calc/sum"]}}`)}
	b.ReportAllocs()
	for b.Loop() {
		if out := d.Answer(b.Context(), call); !bytes.HasPrefix(out, []byte(`{"result":{"samples":[{`)) {
			b.Fatalf("answers %s", out)
		}
	}
}
