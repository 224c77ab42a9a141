package intake

import (
	"strings"
	"testing"

	"voltbus/fault"
)

func TestAttackBodiesOfOnePersonLeaveMemoryForOthers(t *testing.T) {
	p := New(Config{}).bodies.shares
	if err := p.Add("eve", eachIngestion); err != nil {
		t.Fatal(err)
	}
	if err := p.Add("eve", 1); err == nil || !strings.Contains(err.Error(), "eve has") {
		t.Errorf("one person takes more than a share: %v", err)
	}
	if err := p.Add("ada", eachIngestion); err != nil {
		t.Errorf("another finds no room: %v", err)
	}
	if err := p.Add("kim", 1); !fault.Is(err, fault.Unavailable) {
		t.Errorf("all together have more than there is: %v", err)
	}
	p.Release("eve", eachIngestion)
	p.Release("ada", eachIngestion)
	if p.Count() != 0 {
		t.Errorf("afterwards %d are held", p.Count())
	}
}
