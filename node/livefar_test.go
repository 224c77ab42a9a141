package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/wire"
)

func TestLiveMessagesOfANodeBelowAreStreamedWithoutBeingRecorded(t *testing.T) {
	t.Parallel()
	c := plantChain(t, map[string]string{
		"campus": "uplink: {allow: [\"call plant/node\"]}\n",
		"plant": "devices:\n  site/room: {driver: sim, interval: 1s, config: {model: zone}}\n" +
			"uplink: {select: [nothing/**], allow: [\"subscribe site\"]}\n",
	}, nil)
	heard := make(chan *wire.Scan, 1000)
	ended := make(chan error, 2)
	for range 2 { // who read the same share one way there
		go func() {
			ended <- c.region.Follow(context.Background(), client.Live{Pattern: "site/**", Node: "plant"}, func(message json.RawMessage) error {
				scan, err := wire.ParseScan(message)
				heard <- scan
				return err
			})
		}()
	}
	for range 4 {
		select {
		case scan := <-heard:
			if scan.Device != "site/room" || scan.Points["setpoint"] == nil {
				t.Errorf("the region hears %+v", scan)
			}
		case err := <-ended:
			t.Fatal(err)
		}
	}
	if stored, err := c.region.Latest(wait(t), client.Span{Pattern: "campus/plant/**", Local: true}); err != nil || len(stored.Samples) != 0 {
		t.Errorf("the region recorded %d points of the plant: %v", len(stored.Samples), err)
	}
	err := c.region.Follow(wait(t), client.Live{Pattern: "site/\x01", Node: "plant"}, nil)
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("a pattern that is none: %v", err)
	}
	c.toCampus.Lead("")
	c.toCampus.Cut()
	for range 2 {
		if err := <-ended; !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "plant") {
			t.Errorf("over a cut link the stream ends with %v", err)
		}
	}
	if err := c.region.Follow(wait(t), client.Live{Pattern: "site/**", Node: "plant"}, nil); !fault.Is(err, fault.Unreachable) {
		t.Errorf("a stream of a node that is away: %v", err)
	}
	c.toCampus.Lead(c.campus.BusAddr())
	enough := errors.New("enough")
	awaitTrue(t, "the region hears the plant again", func() bool {
		return errors.Is(c.region.Follow(wait(t), client.Live{Node: "plant"}, func(json.RawMessage) error { return enough }), enough)
	})
}
