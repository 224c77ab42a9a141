package node_test

import (
	"strings"
	"testing"

	"voltbus/identity"
)

func TestTheHealthOfANodeWithoutDevicesCountsThoseBelow(t *testing.T) {
	n := newTwoNodes(t, "", "devices:\n  hall: {driver: sim, interval: 1s, config: {model: zone}}\n", identity.Grants{})
	want := "No devices here; 1 of 1 descendant is connected, 1 of 1 device answers there; "
	said := ""
	defer func() { t.Logf("it said %q last", said) }()
	awaitTrue(t, "the parent says "+want, func() bool {
		said = n.parent.Node.Health(wait(t)).Summary
		return strings.HasPrefix(said, want)
	})
	if said := n.child.Node.Health(wait(t)).Summary; !strings.HasPrefix(said, "The only device answers; ") || strings.Contains(said, "descendant") {
		t.Errorf("the child, which has none below it, says %q", said)
	}
}
