package node_test

import (
	"fmt"
	"strings"
	"testing"

	"voltbus/api/client"
)

func TestAttackAChildFillsItsParentWithPoints(t *testing.T) {
	t.Parallel()
	const most = 100
	p := newPairOf(t, fmt.Sprintf("ingest: {child_points: %d}\n", most), "")
	p.connected()
	p.record(1)
	p.equal()
	var text strings.Builder
	for i := range 10 * most {
		fmt.Fprintf(&text, `,{"point":"loot/%04d","value":1}`, i)
	}
	if _, err := p.child.SendSamples(wait(t), client.Body{Media: "application/json", Text: []byte(`{"samples":[` + text.String()[1:] + `]}`)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the parent says so", func() bool {
		for _, c := range p.parent.Node.Health(t.Context()).Concerns {
			if c.Subject == "plant" && strings.Contains(c.Sentence, "sends readings of more points than are known below one child: ingest.child_points") {
				return true
			}
		}
		return false
	})
	eventually(t, "as many points are listed as there is room for", func() bool {
		listed, err := p.parent.Client.Points(wait(t), client.Filter{Pattern: "campus/plant/**", Limit: 1000})
		return err == nil && len(listed.Points) == most
	})
	told := 0
	for _, line := range p.parent.told(client.AuditFilter{}) {
		if strings.HasPrefix(line, "child:plant refused plant") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the audit log says it %d times at once, want 1", told)
	}
	if n := p.parent.stored("campus/plant/loot/0999"); n != 0 {
		t.Errorf("%d readings of a point that there was no room for are stored", n)
	}
	p.parent.halt()
	p.parent.Config().Ingest.ChildPoints = 20 * most
	p.again(p.parent)
	eventually(t, "what waited comes when there is room", func() bool { return p.parent.stored("campus/plant/loot/0999") == 1 })
}
