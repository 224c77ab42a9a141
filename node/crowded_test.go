package node_test

import (
	"fmt"
	"strings"
	"testing"

	"voltbus/api/client"
)

func TestAttackAChildDescribesMorePointsThanItsParentLists(t *testing.T) {
	const most = 100
	p := newPairOf(t, fmt.Sprintf("ingest: {child_points: %d}\n", most), "")
	p.connected()
	var text strings.Builder
	for i := range 10 * most {
		fmt.Fprintf(&text, `,{"point":"loot/%04d","value":1}`, i)
	}
	if _, err := p.child.SendSamples(wait(t), client.Body{Media: "application/json", Text: []byte(`{"samples":[` + text.String()[1:] + `]}`)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the parent says so", func() bool {
		for _, c := range p.parent.Node.Health(t.Context()).Concerns {
			if c.Subject == "plant" && strings.Contains(c.Sentence, "describes more points than ingest.child_points lets in") {
				return true
			}
		}
		return false
	})
	listed, err := p.parent.Client.Points(wait(t), client.Filter{Pattern: "campus/plant/**", Limit: 1000})
	if err != nil || len(listed.Points) > most {
		t.Errorf("the parent lists %d points of the child, %v, want at most %d", len(listed.Points), err, most)
	}
	told := 0
	for _, line := range p.parent.told(client.AuditFilter{}) {
		if strings.HasPrefix(line, "child:plant refused plant") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the audit log says it %d times at once, want 1", told)
	}
	eventually(t, "readings of points that are not listed are recorded", func() bool { return p.parent.stored("campus/plant/loot/0999") == 1 })
}
