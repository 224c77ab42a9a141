package node_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"voltbus/api/client"
)

// lines writes n readings of the points of one writer, of different seconds.
func lines(writer, request, n int) client.Body {
	var text []byte
	for i := range n {
		text = fmt.Appendf(text, "m,w=w%d v=%d %d000000000\n", writer, request*n+i, 1_772_366_400+request*n+i)
	}
	return client.Body{Media: "text/plain", Text: text, Key: fmt.Sprintf("%d-%d", writer, request)}
}

func TestReadingsOverHTTPAreInTheHistoryOnce(t *testing.T) {
	const writers, requests, size = 4, 5, 300
	dir := t.TempDir()
	cfg := load(t, dir, listenAnywhere+"devices: []\n")
	first := run(t, cfg)
	send := func(r *running) {
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				for i := range requests {
					in, err := r.SendSamples(context.Background(), lines(w, i, size))
					if err != nil || in.Accepted != size || in.Refused != 0 {
						t.Errorf("accepted %d, refused %d, %v", in.Accepted, in.Refused, err)
					}
				}
			})
		}
		group.Wait()
	}
	send(first)
	send(first) // the same keys: nothing is recorded
	if o := first.ledger().Origins[0]; o.Acknowledged != writers*requests*size {
		t.Errorf("acknowledged %d", o.Acknowledged)
	}
	first.halt()
	second := run(t, cfg)
	send(second) // also after a restart
	if o := second.ledger().Origins[0]; o.Acknowledged != writers*requests*size {
		t.Errorf("after a restart acknowledged %d", o.Acknowledged)
	}
	var stored uint64
	eventually(t, "everything is stored", func() bool {
		stored = second.ledger().Origins[0].Stored
		return stored == writers*requests*size
	})
	a, err := second.Range(context.Background(), client.Span{Pattern: "m", From: "2026-03-01", To: "2026-03-02"}, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range a.Series {
		n += len(s.Samples)
	}
	if n != writers*requests*size || len(a.Series) != writers {
		t.Errorf("the history has %d readings of %d points", n, len(a.Series))
	}
}
