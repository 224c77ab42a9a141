package node_test

import (
	"strings"
	"testing"

	"voltbus/api/client"
)

// The parent would take ten minutes to notice by itself.
func TestAChildThatVanishedWithoutAWordIsLetInWhenItReturns(t *testing.T) {
	t.Parallel()
	p := newPairOf(t, "uplink: {silence: 10m}\n", "")
	for range 2 {
		p.record(100)
		p.equal()
		p.way.Strand()
		p.record(100)
		p.equal()
	}
	if o := of(p.parent, "plant"); o.Missing != 0 || !o.Balanced {
		t.Errorf("the ledger: %+v", o)
	}
	for _, line := range p.parent.told(client.AuditFilter{}) {
		if strings.Contains(line, "kept aside") {
			t.Errorf("the audit log takes it for two nodes: %s", line)
		}
	}
}
