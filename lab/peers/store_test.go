package peers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/lab/peers"
)

func TestEveryStoreThatIsHereFindsWhatItAcknowledged(t *testing.T) {
	for _, s := range peers.Stores() {
		t.Run(s.Name, func(t *testing.T) {
			if err := s.Find(); err != nil {
				t.Skip(err)
			}
			in, err := s.Open(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := in.Close(); err != nil {
					t.Error(err)
				}
			}()
			var writers errgroup.Group
			for i := range 4 {
				writers.Go(func() error { return in.Write(t.Context(), batch(i, 250)) })
			}
			if err := writers.Wait(); err != nil {
				t.Fatal(err)
			}
			if n, err := in.Count(t.Context()); err != nil || n != 1000 {
				t.Errorf("%d readings, %v", n, err)
			}
		})
	}
}

// batch is n readings of one device.
func batch(device, n int) *peers.Batch {
	var lines, rows strings.Builder
	began := time.Now().Add(-time.Hour).UTC()
	for i := range n {
		at := began.Add(time.Duration(i) * time.Second)
		fmt.Fprintf(&lines, "ahu,device=d%d temperature=%d.5 %d\n", device, i, at.UnixNano())
		fmt.Fprintf(&rows, "ahu/d%d/temperature\t%s\t%d.5\n", device, at.Format(time.RFC3339Nano), i)
	}
	return &peers.Batch{Lines: []byte(lines.String()), Rows: []byte(rows.String())}
}
