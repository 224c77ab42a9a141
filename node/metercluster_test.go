package node_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/metering"
	"voltbus/operation/tokens"
)

func TestAnyMemberOfAClusterTakesReadingsAndAnswersForAll(t *testing.T) {
	names := []string{"mds-1", "mds-2", "mds-3"}
	k := startCluster(t, 1, names)
	meters, start := meterNames(30), someDay(t)
	owners := meterOwners(t, names, meters)
	if got := k.members[0].register(meters); got.Added != 30 || len(got.Refused) != 0 || !got.Cluster.Complete {
		t.Fatalf("registered: %+v", got)
	}
	if got := k.members[1].register(meters); got.Known != 30 {
		t.Errorf("registered again: %+v", got)
	}
	for i, id := range meters {
		m := k.members[i%3]
		taken, err := client.Do(t.Context(), m.Client, metering.Record, metering.Bulk{Readings: meterReadings(id, start, 1, 2, 3, 4)})
		if err != nil || taken.Accepted != 4 {
			t.Fatalf("%s: %+v, %v", id, taken, err)
		}
	}
	got := k.settled(120)
	owned := map[string]uint64{}
	for _, name := range owners {
		owned[name] += 4
	}
	for i := range got.Members {
		m := &got.Members[i]
		if m.Accepted != 40 || m.Stored != owned[m.Name] || uint64(m.Meters)*4 != owned[m.Name] || m.Strays != 0 {
			t.Errorf("%s: %+v, owns %d", m.Name, m, owned[m.Name])
		}
	}
	for _, m := range k.members {
		missing, err := client.Do(t.Context(), m.Client, metering.Missing, metering.Lacking{Day: "2026-03-03", Limit: 7})
		if err != nil || missing.Expected != 30*96 || missing.Received != 120 || missing.Channels != 30 || !missing.More || !missing.Cluster.Complete {
			t.Errorf("missing: %+v, %v", missing, err)
		}
		for _, id := range meters {
			r, err := m.readingsOf(id, start, true)
			if err != nil || len(r.Readings) != 4 || !r.Cluster.Complete {
				t.Fatalf("%s asks for %s: %+v, %v", m.name, id, r, err)
			}
		}
	}
	checkPages(t, k.members[2], meters)
	checkSenders(t, k, owners, start)
}

// checkPages goes through lists page by page.
func checkPages(t *testing.T, m *clusterMember, meters []string) {
	t.Helper()
	listed, lacking := map[string]int{}, map[string]int{}
	for after := ""; ; {
		page, err := client.Do(t.Context(), m.Client, metering.List, metering.Page{After: after, Limit: 7})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range page.Meters {
			listed[one.ID]++
			after = one.ID
		}
		if len(page.Meters) < 7 {
			break
		}
	}
	for after := ""; ; {
		page, err := client.Do(t.Context(), m.Client, metering.Missing, metering.Lacking{Day: "2026-03-03", After: after, Limit: 7})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range page.List {
			lacking[one.Meter]++
			after = one.Meter
		}
		if !page.More {
			break
		}
	}
	for _, id := range meters {
		if listed[id] != 1 || lacking[id] != 1 {
			t.Errorf("%s stands %d times in the list of meters, and %d times in that of missing readings", id, listed[id], lacking[id])
		}
	}
}

// checkSenders compares who is said to have sent readings: the person, and the member that passed them on.
func checkSenders(t *testing.T, k *clusterOf, owners map[string]string, start time.Time) {
	t.Helper()
	for i, id := range meterNames(6) {
		r, err := k.members[0].readingsOf(id, start, true)
		if err != nil {
			t.Fatal(err)
		}
		by, who := k.members[i%3].name, r.Readings[0].Who
		if passed := strings.HasPrefix(who, "member:"+by+"/person:"); passed == (owners[id] == by) {
			t.Errorf("%s of %s, sent to %s, is of %q", id, owners[id], by, who)
		}
	}
}

func TestWhatIsChangedAboutAMeterIsChangedAtItsOwner(t *testing.T) {
	names := []string{"mds-1", "mds-2", "mds-3"}
	k := startCluster(t, 1, names)
	meters, start := meterNames(12), someDay(t)
	owners := meterOwners(t, names, meters)
	old, fresh := meters[0], ""
	for _, id := range meters {
		if owners[id] != owners[old] {
			fresh = id
		}
	}
	first := smartMeter(old)
	from := start.AddDate(0, 0, -10)
	first.ServicePoint, first.From = "sp-1", &from
	m := k.members[0]
	if _, err := client.Do(t.Context(), m.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{first}}); err != nil {
		t.Fatal(err)
	}
	m.register(meters[1:])
	at := start.Add(12 * time.Hour)
	for range 2 { // which may be repeated
		if err := client.Tell(t.Context(), k.members[1].Client, metering.Exchange, metering.Replacement{ServicePoint: "sp-1", Meter: fresh, At: at.Format(time.RFC3339)}); err != nil {
			t.Fatal(err)
		}
	}
	values := make([]float64, 48)
	for i := range values {
		values[i] = 1
	}
	for id, begin := range map[string]time.Time{old: start, fresh: at} {
		if taken, err := client.Do(t.Context(), k.members[2].Client, metering.Record, metering.Bulk{Readings: meterReadings(id, begin, values...)}); err != nil || taken.Accepted != 48 {
			t.Fatalf("%+v, %v", taken, err)
		}
	}
	k.settled(96)
	edited := 5.0
	for _, m := range k.members {
		err := client.Tell(t.Context(), m.Client, metering.EditReading, metering.Edit{ID: metering.ID{Meter: fresh}, Channel: 1, End: at.Add(15 * time.Minute).Format(time.RFC3339), Value: &edited, Reason: "by " + m.name})
		if err != nil {
			t.Fatal(err)
		}
		bill, err := client.Do(t.Context(), m.Client, metering.Bill, metering.Billing{ServicePoint: "sp-1", Channel: 1, From: "2026-03-03", To: "2026-03-04"})
		if err != nil || bill.Periods[0].Quantity != 100 || bill.Periods[0].Missing != 0 || bill.Periods[0].Edited != 1 || len(bill.Meters) != 2 {
			t.Errorf("the bill of %s: %+v, %v", m.name, bill, err)
		}
	}
	j, err := client.Do(t.Context(), m.Client, metering.Validate, metering.Validation{Day: "2026-03-03"})
	if err != nil || j.Validated < 95 || !j.Cluster.Complete {
		t.Errorf("validated: %+v, %v", j, err)
	}
	found, err := client.Do(t.Context(), m.Client, metering.Exceptions, metering.Waiting{Limit: 100})
	if err != nil || len(found.Exceptions) == 0 {
		t.Fatalf("exceptions: %+v, %v", found, err)
	}
	e := found.Exceptions[0]
	if e.Member != owners[e.Meter] {
		t.Errorf("the exception of %s is of %s", e.Meter, e.Member)
	}
	if err := client.Tell(t.Context(), m.Client, metering.Settle, metering.Settlement{Number: int(e.Number), Why: "seen"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an exception of no member: %v", err)
	}
	if err := client.Tell(t.Context(), m.Client, metering.Settle, metering.Settlement{Number: int(e.Number), Why: "seen", Member: e.Member}); err != nil {
		t.Error(err)
	}
	checkAudit(t, k, owners[fresh])
}

// checkAudit looks for the edits of others in the audit log of a member.
func checkAudit(t *testing.T, k *clusterOf, owner string) {
	t.Helper()
	for _, m := range k.members {
		if m.name != owner {
			continue
		}
		for _, other := range k.members {
			want := "person:"
			if other != m {
				want += other.name + "/"
			}
			got := strings.Join(m.told(client.AuditFilter{Action: "meter.edit", Limit: 10}), "\n")
			if !strings.Contains(got, want) {
				t.Errorf("the audit log of %s does not say that %s edited: %s", m.name, want, got)
			}
		}
	}
}

func TestReadingsOfAMeterThatIsRegisteredLaterWaitAtItsOwner(t *testing.T) {
	names := []string{"mds-1", "mds-2"}
	k := startCluster(t, 1, names)
	start, owners := someDay(t), meterOwners(t, names, meterNames(20))
	var there string
	for id, name := range owners {
		if name == "mds-2" {
			there = id
		}
	}
	one := k.members[0]
	taken, err := client.Do(t.Context(), one.Client, metering.Record, metering.Bulk{Readings: append(meterReadings(there, start, 1, 2), answer.MeterReadingIn{
		Meter: there, ReadingType: "0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0", End: start.Format(time.RFC3339), Value: new(float64),
	})})
	if err != nil || taken.Accepted != 3 {
		t.Fatalf("%+v, %v", taken, err)
	}
	eventually(t, "one is refused for its reading type", func() bool {
		f := one.account().Members[0].Forwards[0]
		return f.Refused == 1 && f.Sent == 2 && f.Waiting == 0
	})
	health := fmt.Sprint(one.Node.Health(t.Context()).Concerns)
	if !strings.Contains(health, "reading type") {
		t.Errorf("health does not say it: %s", health)
	}
	refused, err := client.Do(t.Context(), k.members[1].Client, metering.Record, metering.Bulk{Readings: meterReadings(there, start, 1)})
	if err != nil || refused.Accepted != 0 {
		t.Errorf("its owner takes it: %+v, %v", refused, err)
	}
	eventually(t, "two wait", func() bool { return one.account().Members[1].Strays == 2 })
	if got := one.register([]string{there}); got.Added != 1 || got.Adopted != 2 {
		t.Errorf("registered: %+v", got)
	}
	if r, err := one.readingsOf(there, start, true); err != nil || len(r.Readings) != 2 {
		t.Errorf("readings: %+v, %v", r, err)
	}
}

func TestMembersThatDisagreeTakeNothingOfEachOther(t *testing.T) {
	k := prepareCluster(t, 1, "mds-1", "mds-2", "mds-3")
	k.write(k.members[1], k.config(k.members[1], "mds-1", "mds-2"))
	for _, m := range k.members[:2] {
		k.start(m, false)
	}
	for _, m := range k.members[:2] {
		k.introduce(m)
	}
	one := k.members[0]
	meters := meterNames(30)
	if got := one.register(meters); len(got.Refused) == 0 || got.Cluster.Complete {
		t.Errorf("registered: %+v", got)
	}
	ids := meterOwners(t, []string{"mds-1", "mds-2", "mds-3"}, meters)
	sent := 0
	for id, owner := range ids {
		if owner == "mds-2" {
			sent++
			taken, err := client.Do(t.Context(), one.Client, metering.Record, metering.Bulk{Readings: meterReadings(id, someDay(t), 1)})
			if err != nil || taken.Accepted != 1 {
				t.Fatalf("%+v, %v", taken, err)
			}
		}
	}
	eventually(t, "the difference is told", func() bool {
		f := one.account().Members[0].Forwards[0]
		return f.Sent == 0 && f.Waiting == uint64(sent) && strings.Contains(f.Reason, "the configurations of the members differ")
	})
	k.members[1].halt()
	k.write(k.members[1], k.config(k.members[1], "mds-1", "mds-2", "mds-3"))
	k.start(k.members[1], false)
	eventually(t, "they go when both agree", func() bool { return one.account().Members[0].Forwards[0].Sent == uint64(sent) })
}

func TestAttackOnlyMembersPassReadingsOnAndAskAsMembers(t *testing.T) {
	k := startCluster(t, 1, []string{"mds-1", "mds-2"})
	one := k.members[0]
	issued, err := client.Do(t.Context(), one.Client, tokens.Issue, tokens.Recorder{Name: "mds-9", Member: true})
	if err != nil {
		t.Fatal(err)
	}
	recorder, err := client.Do(t.Context(), one.Client, tokens.Issue, tokens.Recorder{Name: "mds-2"})
	if err != nil {
		t.Fatal(err)
	}
	admin, err := identity.ReadToken(filepath.Join(one.dir, "data", identity.AdminTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	mine, err := os.ReadFile(filepath.Join(k.members[1].dir, "mds-1.token"))
	if err != nil {
		t.Fatal(err)
	}
	digest := one.account().Members[0].Digest
	ask := fmt.Sprintf(`{"operation":"meter.account","caller":"person:eve","role":"administrator","digest":%q}`, digest)
	status := func(token, method, path, body string) int {
		q, err := http.NewRequestWithContext(t.Context(), method, one.HTTPAddr()+"/api/v1/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+token)
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Voltbus-Cluster", digest)
		got, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		return got.StatusCode
	}
	for name, tt := range map[string]struct {
		token, method, path, body string
		want                      int
	}{
		"an administrator asks as a member":      {admin, "POST", "metering/cluster/ask", ask, 403},
		"an administrator passes readings on":    {admin, "POST", "metering/cluster/readings", "", 403},
		"a recorder passes readings on":          {recorder.Token, "POST", "metering/cluster/readings", "", 401},
		"a member asks":                          {string(mine), "POST", "metering/cluster/ask", ask, 200},
		"a member that is not listed asks":       {issued.Token, "POST", "metering/cluster/ask", ask, 403},
		"one that is not listed passes on":       {issued.Token, "POST", "metering/cluster/readings", "", 400},
		"a member asks what is not about meters": {string(mine), "POST", "metering/cluster/ask", strings.Replace(ask, "meter.account", "token.list", 1), 200},
		"a member reads points":                  {string(mine), "GET", "points", "", 401},
		"a member lists meters":                  {string(mine), "GET", "metering/meters", "", 401},
		"a member records by itself":             {string(mine), "POST", "metering/readings", `{"readings":[]}`, 401},
		"a member records samples":               {string(mine), "POST", "samples", `[]`, 401},
	} {
		if got := status(tt.token, tt.method, tt.path, tt.body); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
	// A sender that calls itself a member is still a token of this node.
	if _, err := client.Do(t.Context(), one.Client, tokens.Issue, tokens.Recorder{Name: "mds-2", Member: true, Under: "meters"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a member below a path: %v", err)
	}
}
