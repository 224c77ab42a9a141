package node_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/alerts"
	"voltbus/operation/devices"
	"voltbus/testing/peers"
)

// reachable connects the device with an address of the namespace, or cuts it off: what is sent to it is dropped.
func reachable(t *testing.T, address string, there bool) {
	t.Helper()
	commands := []string{"addr del " + address + "/24 dev lo", "route add blackhole " + address + "/32 table local"}
	if there {
		commands = []string{"route del blackhole " + address + "/32 table local", "addr add " + address + "/24 brd + dev lo"}
	}
	for _, command := range commands {
		if out, err := exec.CommandContext(t.Context(), "ip", strings.Fields(command)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v\n%s", command, err, out)
		}
	}
}

// logging is a node with a device that counts up four times a second, and logs it. Its clock is in another zone.
const logging = listenAnywhere + `
devices:
  - path: site/ahu
    driver: bacnet
    interval: 1s
    config:
      local: 10.66.0.2/24
      address: 10.66.0.11
      device: 11
      timeout: 300ms
      retries: 0
      registry: [{name: count, object: "analog-input:1"}, {name: watched, object: "analog-input:2"}, {name: told, object: "characterstring-value:9"}]
`

// told returns what the device notes of what it was told.
func told(t *testing.T, r *running) string {
	t.Helper()
	got, err := r.Client.Latest(t.Context(), client.Span{Points: []string{"site/ahu/told"}})
	if err != nil || len(got.Samples) == 0 {
		return ""
	}
	return string(got.Samples[0].Value)
}

// course is what is recorded of a counter.
type course struct {
	values     map[string]int // how often each value is there
	backfilled int
	longest    time.Duration // between two samples with a value
	first      time.Time
}

func courseOf(t *testing.T, r *running, path string, from time.Time) course {
	t.Helper()
	span := client.Span{Points: []string{path}, From: from.Format(time.RFC3339Nano), To: time.Now().Add(time.Minute).Format(time.RFC3339Nano)}
	got, err := r.Client.Range(t.Context(), span, 100_000, false)
	if err != nil {
		t.Fatal(err)
	}
	c := course{values: map[string]int{}}
	var last time.Time
	for _, series := range got.Series {
		for _, s := range series.Samples {
			if len(s.Value) == 0 || string(s.Value) == "null" {
				continue
			}
			if s.Quality == "good(backfilled)" {
				c.backfilled++
				c.values[s.Time().String()]++
			}
			if last.IsZero() {
				c.first = s.Time()
			} else {
				c.longest = max(c.longest, s.Time().Sub(last))
			}
			last = s.Time()
		}
	}
	return c
}

// filledCourse waits until a course has so many records of the trend log, and no hole as long as an outage: on a busy machine the device
// itself pauses for a while.
func filledCourse(t *testing.T, r *running, begin time.Time, backfilled int) (c course) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("at last the longest hole has %v; backfilled are %d, waited for %d", c.longest, c.backfilled, backfilled)
		}
	})
	eventually(t, "the gap is filled from the trend log", func() bool {
		c = courseOf(t, r, "site/ahu/count", begin)
		return c.backfilled >= backfilled && c.longest < outage-time.Second
	})
	return c
}

// outage is how long a device, or the node, is away at least.
const outage = 4 * time.Second

func TestTheCourseOfADeviceThatWasCutOffHasNoHole(t *testing.T) {
	t.Parallel()
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.11/24") {
		return
	}
	peers.BACnetSite(t, "10.66.0.11/24", "11", "-300")
	dir, begin := t.TempDir(), time.Now()
	r := run(t, load(t, dir, strings.ReplaceAll(logging, "retries: 0", "retries: 0\n      time_sync: utc")))
	state := func() string {
		d, err := client.Do(t.Context(), r.Client, devices.List, struct{}{})
		if err != nil || len(d.Devices) == 0 {
			return ""
		}
		return d.Devices[0].State
	}
	eventually(t, "the device is read", func() bool { return !courseOf(t, r, "site/ahu/count", begin).first.IsZero() })

	eventually(t, "its clock is set", func() bool { return strings.Contains(told(t, r), time.Now().UTC().Format("utc 2006-01-02T")) })

	before := courseOf(t, r, "site/ahu/count", begin).backfilled // what the device had logged before the node began
	reachable(t, "10.66.0.11", false)
	away := time.Now()
	eventually(t, "the device is away for some scans", func() bool { return state() == "offline" && time.Since(away) > outage })
	reachable(t, "10.66.0.11", true)
	c := filledCourse(t, r, begin, before+8)

	r.halt() // the node itself is away
	stopped := time.Now()
	eventually(t, "some records are logged meanwhile", func() bool { return time.Since(stopped) > outage })
	r = run(t, load(t, dir, logging))
	again := filledCourse(t, r, begin, c.backfilled+8)
	for at, n := range again.values {
		if n > 1 {
			t.Errorf("the record of %s is there %d times", at, n)
		}
	}
	if courseOf(t, r, "site/ahu/watched", begin).backfilled != 0 {
		t.Errorf("a point without a log was filled")
	}
}

func TestAlarmsOfADeviceAreAlertsUntilTheyAreOverAndAcknowledged(t *testing.T) {
	t.Parallel()
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.11/24") {
		return
	}
	site := peers.BACnetSite(t, "10.66.0.11/24", "11")
	dir := t.TempDir()
	text := strings.ReplaceAll(logging, "retries: 0", "retries: 0\n      alarms: enrol\n      backfill: 0s")
	r := run(t, load(t, dir, text))
	alert := func() answer.Alert {
		list, err := client.Do(t.Context(), r.Client, alerts.List, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list.Alerts {
			if a.Key == "site/ahu analog-input:2" {
				return a
			}
		}
		return answer.Alert{}
	}
	eventually(t, "the node is among the recipients", func() bool {
		site.Say(t, "recipients")
		return strings.Contains(told(t, r), "1 recipients")
	})
	site.Say(t, "value 35")
	eventually(t, "the alarm is an alert", func() bool { return alert().Key != "" })
	raised := alert()
	if raised.Agent != "node" || raised.Severity != "critical" || !raised.Unacknowledged || raised.Text != "watched (analog-input:2) is high-limit (35 is beyond 30); not acknowledged" {
		t.Errorf("the alert is %+v", raised)
	}
	if err := client.Tell(t.Context(), r.Client, alerts.Clear, alerts.Alert{Agent: "node", Key: raised.Key}); !fault.Is(err, fault.Conflict) {
		t.Errorf("an alarm that lasts is cleared: %v", err)
	}
	if err := client.Tell(t.Context(), r.Client, alerts.Acknowledge, alerts.Alert{Agent: "node", Key: raised.Key}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the device was told who acknowledged it", func() bool { return strings.Contains(told(t, r), "acknowledged by admin") })
	if a := alert(); a.Unacknowledged || a.Key == "" {
		t.Errorf("the acknowledged alert is %+v", a)
	}
	if err := client.Tell(t.Context(), r.Client, alerts.Acknowledge, alerts.Alert{Agent: "node", Key: raised.Key}); !fault.Is(err, fault.NotFound) {
		t.Errorf("what was acknowledged is acknowledged again: %v", err)
	}
	site.Say(t, "value 20")
	eventually(t, "the alert is over", func() bool { return alert().Key == "" })

	r.halt() // what happens while the node is away is found when it is back
	site.Say(t, "value 5")
	r = run(t, load(t, dir, text))
	eventually(t, "the alarm of the time without the node is an alert", func() bool { return strings.Contains(alert().Text, "is low-limit") })
	r.halt()
	site.Say(t, "acknowledge")
	site.Say(t, "value 20")
	r = run(t, load(t, dir, text))
	eventually(t, "the alert that ended without the node is over", func() bool { return alert().Key == "" })
}
