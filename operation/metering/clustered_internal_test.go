package metering

import (
	"slices"
	"testing"

	"voltbus/api/answer"
	"voltbus/operation/metering/account"
)

// What one member answers alone would lack what the others keep, and not say so.
func TestEveryOperationIsDoneByAllMembersOrConcernsOne(t *testing.T) {
	one := []string{Record.Name, RecordEvents.Name, Concentrators.Name, Member.Name, ClusterStatus.Name, ReadMeters.Name, Recover.Name}
	r := &router{&Part{}}
	var together []string
	for _, b := range r.together() {
		together = append(together, b.Name)
	}
	list := (&Part{}).Operations()
	for i := range list {
		name := list[i].Name
		if slices.Contains(one, name) == slices.Contains(together, name) {
			t.Errorf("%s: say in together how a cluster does it, or here that it concerns one member", name)
		}
	}
}

func TestAnAccountBalancesIfEachForwardedReadingArrived(t *testing.T) {
	of := func(name, other string, sent, received uint64) account.MeterMember {
		return account.MeterMember{Name: name, Balanced: true, Accepted: 10, Stored: 5 + received, Forwards: []account.MeterForward{{To: other, Sent: sent, Received: received}}}
	}
	for name, tt := range map[string]struct {
		received, repeated, stored uint64
		balanced                   bool
	}{
		"each once": {5, 0, 20, true}, "one twice": {6, 1, 20, true}, "one not at all": {4, 0, 19, false},
	} {
		c := &account.MeterCluster{Cluster: &answer.MeterAnswered{Complete: true}, Members: []account.MeterMember{of("a", "b", 5, 5), of("b", "a", 5, tt.received)}}
		if sumUp(c); c.Balanced != tt.balanced || c.Sum.Repeated != tt.repeated || c.Sum.Stored != tt.stored || c.Sum.Accepted != 20 {
			t.Errorf("%s: %+v, balanced %v", name, c.Sum, c.Balanced)
		}
	}
}

func TestACallerOfAnotherMemberIsNobodyOfThisNode(t *testing.T) {
	for caller, want := range map[string]string{"person:ada": "person:mds-2/ada", "token:c1": "token:mds-2/c1", "person:campus/ada": "person:mds-2/campus/ada", "x": "member:mds-2/x"} {
		if got := callerAt("mds-2", caller); got != want {
			t.Errorf("%s is %s, want %s", caller, got, want)
		}
	}
}
