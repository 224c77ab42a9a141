package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/children"
	"voltbus/operation/metering"
	"voltbus/operation/metering/account"
	parentop "voltbus/operation/parent"
	"voltbus/operation/tokens"
)

// versionsOf returns all versions of a meter's day.
func versionsOf(t *testing.T, r *running, id string) int {
	t.Helper()
	start := someDay(t)
	got, err := client.Do(t.Context(), r.Client, metering.Readings, metering.Span{
		ID: metering.ID{Meter: id}, Channel: 1, From: start.Format(time.RFC3339), To: start.Add(24 * time.Hour).Format(time.RFC3339), Versions: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(got.Readings)
}

func TestReadingsThatWereRefusedAreRecoveredFromTheLogOfTheConcentrator(t *testing.T) {
	mds := run(t, nodeOf(t, t.TempDir(), "mds", listenAnywhere+meteringConfig))
	if _, err := client.Do(t.Context(), mds.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1")}}); err != nil {
		t.Fatal(err)
	}
	issued, err := client.Do(t.Context(), mds.Client, tokens.Issue, tokens.Recorder{Name: "concentrator", Under: "meters"})
	if err != nil {
		t.Fatal(err)
	}
	c := run(t, nodeOf(t, t.TempDir(), "plant", concentratorOf("bulk: 7\n    age: 20ms", fmt.Sprintf("url: %q, token_file: %q", mds.HTTPAddr(), tokenFile(t, issued.Token)))+
		"uplink: {allow: [\"call node:meter.recover\"]}\n"))
	start := someDay(t)
	for i := range 20 {
		c.single("m1", start.Add(time.Duration(i+1)*15*time.Minute), float64(i))
		c.single("m2", start.Add(time.Duration(i+1)*15*time.Minute), float64(i))
	}
	eventually(t, "all is answered", func() bool {
		got := concentration(t, c)
		return got.Waiting == 0 && got.Sent == 20 && got.Refused == 20
	})
	missingOf(t, mds.Client, "2026-03-03", 20)
	if _, err := client.Do(t.Context(), mds.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m2")}}); err != nil {
		t.Fatal(err)
	}
	invited, err := client.Do(wait(t), mds.Client, children.Invite, client.NewInvitation{Approved: true, Prefix: "campus/plant", Addresses: []string{mds.BusAddr()}, Grants: identity.Grants{}}.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), c.Client, parentop.Join, parentop.Code{Code: invited.Code}); err != nil {
		t.Fatal(err)
	}
	in := account.ToSend{From: start.Add(30 * time.Minute).Format(time.RFC3339), To: start.Add(5 * time.Hour).Format(time.RFC3339)}
	var got metering.SentAgain
	eventually(t, "the concentrator is asked from the system", func() bool {
		got, err = client.Do(t.Context(), mds.Client.At("plant"), metering.Recover, in)
		return err == nil
	})
	if got.Sent != 36 || got.Refused != 0 || got.More || got.Reason != "" || got.Oldest == nil || got.Place < 1 {
		t.Errorf("sent again: %+v", got)
	}
	missingOf(t, mds.Client, "2026-03-03", 38) // the first two of m2 were not asked for
	if n1, n2 := versionsOf(t, mds, "m1"), versionsOf(t, mds, "m2"); n1 != 20 || n2 != 18 {
		t.Errorf("%d versions of m1 and %d of m2", n1, n2)
	}
	if was := concentration(t, c); was.Sent != 20 || was.Refused != 20 || was.Waiting != 0 {
		t.Errorf("what was counted changed: %+v", was)
	}
	in.From, in.System = start.Format(time.RFC3339), concentration(t, c).Systems[0].URL
	if got, err = client.Do(t.Context(), c.Client, metering.Recover, in); err != nil || got.Sent != 40 {
		t.Errorf("at the concentrator: %+v, %v", got, err)
	}
	missingOf(t, mds.Client, "2026-03-03", 40)
	if n1, n2 := versionsOf(t, mds, "m1"), versionsOf(t, mds, "m2"); n1 != 20 || n2 != 20 {
		t.Errorf("in the end %d versions of m1 and %d of m2", n1, n2)
	}
	c.hears(t, "meter.recover", in.From, "")
	in.After = got.Place
	if got, err = client.Do(t.Context(), c.Client, metering.Recover, in); err != nil || got.Sent != 0 || got.More {
		t.Errorf("behind the end: %+v, %v", got, err)
	}
}

func TestAConcentratorThatCannotSendAgainSaysWhy(t *testing.T) {
	start := someDay(t)
	in := account.ToSend{From: start.Format(time.RFC3339), To: start.Add(time.Hour).Format(time.RFC3339)}
	away := run(t, load(t, t.TempDir(), concentratorOf("bulk: 1\n    age: 20ms", `url: "http://127.0.0.1:1"`)))
	away.single("m1", start.Add(15*time.Minute), 1)
	toParent := run(t, nodeOf(t, t.TempDir(), "plant", listenAnywhere+"metering: {role: concentrator}\ndevices: []\n"))
	for name, tt := range map[string]struct {
		at   *running
		in   account.ToSend
		kind fault.Kind
		want string
	}{
		"its parent has what it sent": {toParent, in, fault.Conflict, "to its parent"},
		"no such system":              {away, account.ToSend{From: in.From, To: in.To, System: "http://other.example"}, fault.Invalid, "is no system of this concentrator"},
		"an end before the beginning": {away, account.ToSend{From: in.To, To: in.From}, fault.Invalid, "write a later time"},
		"a beginning that is no time": {away, account.ToSend{From: "monday", To: in.To}, fault.Invalid, "write such as"},
	} {
		if _, err := client.Do(t.Context(), tt.at.Client, metering.Recover, tt.in); !fault.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := client.Do(t.Context(), away.Client, metering.Recover, in)
	if err != nil || got.Sent != 0 { // it waits, and was never sent
		t.Errorf("a reading that waits: %+v, %v", got, err)
	}
}
