package api_test

import (
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"voltbus/operation/history"
	"voltbus/point"
	"voltbus/query"
)

// endless exports until nobody wants more, and says why it ended.
type endless struct {
	history.Engine
	ended chan error
}

func (e endless) Export(ctx context.Context, _ query.Request, emit func([]point.Sample) error) error {
	run := make([]point.Sample, 4096)
	for i := range run {
		run[i] = point.Sample{Point: "site/temp", Time: noon(), Value: point.FloatOf(float64(i))}
	}
	for {
		if err := emit(run); err != nil {
			e.ended <- err
			return err
		}
		if err := ctx.Err(); err != nil {
			e.ended <- err
			return err
		}
	}
}

func TestAReaderWhoLeavesEndsTheExport(t *testing.T) {
	for _, format := range []string{"csv", "arrow"} {
		t.Run(format, func(t *testing.T) {
			e := endless{ended: make(chan error, 1)}
			n := start(t, withEngine(func(of history.Engine) history.Engine { e.Engine = of; return e }))
			ctx, leave := context.WithCancel(t.Context())
			resp, err := n.open(ctx, "GET", "/api/v1/export?point=site/temp&format="+format, "", n.bearer())
			must(t, err)
			defer resp.Body.Close()
			_, err = resp.Body.Read(make([]byte, 1000))
			must(t, err)
			leave()
			if err := <-e.ended; err == nil {
				t.Error("the export ended without a reason")
			}
		})
	}
}

func TestAnArrowStreamHoldsEverySample(t *testing.T) {
	n := start(t)
	got := n.get("/api/v1/export?pattern=**&from=now-2h&format=arrow")
	if m := got.Header.Get("Content-Type"); m != "application/vnd.apache.arrow.stream" {
		t.Fatalf("%d %s %.200s", got.StatusCode, m, got.body)
	}
	r, err := ipc.NewReader(strings.NewReader(got.body))
	must(t, err)
	defer r.Release()
	rows, texts, exact, bad := 0, 0, int64(0), 0
	for r.Next() {
		batch := r.RecordBatch()
		rows += int(batch.NumRows())
		for i := range int(batch.NumRows()) {
			if c, ok := batch.Column(4).(*array.String); ok && c.IsValid(i) && c.Value(i) == `</script>,"x"` {
				texts++
			}
			if c, ok := batch.Column(3).(*array.Int64); ok && c.IsValid(i) {
				exact = max(exact, c.Value(i))
			}
			if c, ok := batch.Column(6).(*array.Uint8); ok && c.Value(i) == uint8(point.BadTimeout) {
				bad++
			}
		}
	}
	must(t, r.Err())
	if rows != 240 || texts != 59 || exact != 1<<60+59 || bad != 4 {
		t.Errorf("%d rows, %d texts, greatest exact %d, %d bad", rows, texts, exact, bad)
	}
}

func TestAnArrowStreamWithoutSamplesIsWhole(t *testing.T) {
	got := start(t).get("/api/v1/export?point=site/silent&format=arrow")
	r, err := ipc.NewReader(strings.NewReader(got.body))
	must(t, err)
	defer r.Release()
	for r.Next() {
		if n := r.RecordBatch().NumRows(); n != 0 {
			t.Errorf("%d rows of a point that said nothing", n)
		}
	}
	must(t, r.Err())
}
