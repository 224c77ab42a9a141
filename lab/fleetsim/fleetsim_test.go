package fleetsim_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/api/client"
	"voltbus/lab/fleetsim"
	"voltbus/lab/rig"
	"voltbus/operation/mqtt"
	"voltbus/store/duckdb/statement"
)

// partEnv makes the test binary play a part in a process of its own.
const partEnv = "VOLTBUS_TEST_PART"

func TestMain(m *testing.M) {
	if os.Getenv(partEnv) != "" || os.Getenv(statement.Env) != "" {
		serve := rig.Serve
		if fleetsim.Serves(os.Args[1]) {
			serve = fleetsim.Serve
		}
		if err := serve(context.Background(), os.Args[1], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	_ = os.Setenv(partEnv, "1") // for the children
	goleak.VerifyTestMain(m)
}

// within is a bound for what needs a moment.
const within = time.Minute

// open starts a node and a fleet for it, which is not connected.
func open(t *testing.T, f fleetsim.Fleet, secure bool, devices int) (*rig.Running, *fleetsim.Running) {
	t.Helper()
	program := []string{os.Args[0]}
	file, err := fleetsim.Site{Clients: 100}.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n, err := rig.Open(t.Context(), program, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	doors, err := fleetsim.DoorsOf(n)
	if err != nil {
		t.Fatal(err)
	}
	f.Brokers, f.Secret, f.Prefix, f.HTTP = []string{doors.Plain}, "secret-of-a-simulated-device", "device", n.URL
	if secure {
		f.Brokers, f.CA = []string{doors.Secure}, n.CA()
	}
	if err := fleetsim.Provision(t.Context(), n, &f, devices+f.Posters); err != nil {
		t.Fatal(err)
	}
	r, err := fleetsim.Open(program, f, devices)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	return n, r
}

// publishing is a fleet that publishes quickly.
func publishing(qos int) fleetsim.Fleet {
	return fleetsim.Fleet{
		Topic: "fleet/{n}/c{k}", Topics: 3, QoS: qos, Window: 4, Patience: 50, Keep: true,
		Profiles: []fleetsim.Profile{{Octets: 200, Every: 20 * time.Millisecond}, {Octets: 500, Every: 50 * time.Millisecond}},
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sum looks until a fleet had so many answers, and returns all that it did.
func sum(t *testing.T, r *fleetsim.Running, all *fleetsim.Look, enough func() bool) {
	t.Helper()
	for !enough() {
		l := must[*fleetsim.Look](t)(r.Look(t.Context()))
		all.Published, all.Answered, all.Received = all.Published+l.Published, all.Answered+l.Answered, all.Received+l.Received
		all.Refused, all.Skipped, all.Lost, all.Failed = all.Refused+l.Refused, all.Skipped+l.Skipped, all.Lost+l.Lost, all.Failed+l.Failed
		all.Connected = l.Connected
		if all.First == "" {
			all.First = l.First
		}
		all.Response, all.Posts, all.Delivery = append(all.Response, l.Response...), append(all.Posts, l.Posts...), append(all.Delivery, l.Delivery...)
	}
}

func TestAFleetPublishesWithEachQualityOfServiceOverTLSAndWithout(t *testing.T) {
	for qos := range 3 {
		n, r := open(t, publishing(qos), qos != 1, 5)
		must[time.Duration](t)(r.Connect(t.Context(), 5, 100, within))
		ok(t, r.Prime(t.Context(), within))
		ok(t, r.Begin(t.Context()))
		var all fleetsim.Look
		sum(t, r, &all, func() bool { return all.Answered >= 100 })
		ok(t, r.Hush(t.Context(), within))
		done := false
		sum(t, r, &all, func() bool { was := done; done = true; return was })
		if all.Published != all.Answered || all.Connected != 5 || fleetsim.Histogram(all.Response).Count() != all.Answered || all.Lost+all.Failed+all.Refused > 0 {
			t.Errorf("QoS %d: %+v", qos, all)
		}
		origin, err := n.Settled(t.Context())
		ok(t, err)
		for qos == 0 && origin.Stored < all.Published { // what is not acknowledged is recorded a little later
			origin, err = n.Settled(t.Context())
			ok(t, err)
		}
		if origin.Stored != all.Published {
			t.Errorf("QoS %d: %d messages were published, %d are stored", qos, all.Published, origin.Stored)
		}
	}
}

func TestAStormAndChurnLoseNothing(t *testing.T) {
	n, r := open(t, publishing(1), true, 8)
	must[time.Duration](t)(r.Connect(t.Context(), 8, 0, within))
	ok(t, r.Begin(t.Context()))
	var all fleetsim.Look
	sum(t, r, &all, func() bool { return all.Answered >= 20 })
	if took := must[time.Duration](t)(r.Storm(t.Context(), within)); took <= 0 {
		t.Error("a storm takes no time")
	}
	ok(t, r.Churn(t.Context(), 50))
	sum(t, r, &all, func() bool { return all.Answered >= 200 })
	ok(t, r.Churn(t.Context(), 0))
	ok(t, r.Hush(t.Context(), within))
	done := false
	sum(t, r, &all, func() bool { was := done; done = true; return was })
	status := must[uint64](t)(connects(t, n))
	if all.Published != all.Answered || status < 16 {
		t.Errorf("%d connections: %+v", status, all)
	}
	origin, err := n.Settled(t.Context())
	ok(t, err)
	if origin.Stored < all.Answered {
		t.Errorf("%d of %d messages are stored", origin.Stored, all.Answered)
	}
}

func connects(t *testing.T, n *rig.Running) (uint64, error) {
	t.Helper()
	s, err := client.Do(t.Context(), n.Client, mqtt.Status, struct{}{})
	return s.Connects, err
}

func TestDevicesOverHTTPPostBesideTheOthers(t *testing.T) {
	f := publishing(1)
	f.Posters = 2
	_, r := open(t, f, false, 1)
	must[time.Duration](t)(r.Connect(t.Context(), 1, 0, within))
	ok(t, r.Begin(t.Context()))
	var all fleetsim.Look
	sum(t, r, &all, func() bool {
		return fleetsim.Histogram(all.Posts).Count() >= 5 && fleetsim.Histogram(all.Response).Count() >= 5
	})
	ok(t, r.Hush(t.Context(), within))
	done := false
	sum(t, r, &all, func() bool { was := done; done = true; return was })
	if all.Failed > 0 || all.Published != all.Answered {
		t.Errorf("%+v", all)
	}
}

func TestSubscribersMeasureTheDelivery(t *testing.T) {
	f := publishing(1)
	f.Filter = "fleet/{n}/#"
	_, r := open(t, f, false, 2)
	must[time.Duration](t)(r.Connect(t.Context(), 2, 0, within))
	ok(t, r.Begin(t.Context()))
	var all fleetsim.Look
	sum(t, r, &all, func() bool { return all.Received >= 20 })
	if fleetsim.Histogram(all.Delivery).Most() <= 0 {
		t.Errorf("%+v", all)
	}
}

func TestAFleetThatIsNotLetInSaysWhy(t *testing.T) {
	f := publishing(1)
	f.Brokers, f.Prefix = []string{"127.0.0.1:1"}, "device"
	r := must[*fleetsim.Running](t)(fleetsim.Open([]string{os.Args[0]}, f, 1))
	defer func() { ok(t, r.Stop()) }()
	_, err := r.Connect(t.Context(), 1, 0, 100*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "0 of 1 are connected") || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}

func TestAFleetThatCannotBeIsRefused(t *testing.T) {
	for want, change := range map[string]func(*fleetsim.Fleet){
		"address of a broker": func(f *fleetsim.Fleet) { f.Brokers = nil },
		"quality of service":  func(f *fleetsim.Fleet) { f.QoS = 3 },
		"needs a topic":       func(f *fleetsim.Fleet) { f.Window = 0 },
		"needs a period and ": func(f *fleetsim.Fleet) { f.Profiles[0].Octets = 1 },
	} {
		f := publishing(1)
		f.Brokers = []string{"127.0.0.1:1"}
		change(&f)
		if _, err := fleetsim.Open([]string{os.Args[0]}, f, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestASimulatorAtItsLimitSaysSo(t *testing.T) {
	var l fleetsim.Look
	l.HeadRoom.Due, l.HeadRoom.Sent, l.Seconds = 100, 100, 1
	if s := l.Limit(1); s != "" {
		t.Error(s)
	}
	l.Processor = 1
	if s := l.Limit(1); !strings.Contains(s, "1.00 cores") {
		t.Error(s)
	}
	l.Processor, l.HeadRoom.Late = 0, 50
	if s := l.Limit(2); !strings.Contains(s, "50 of 100 messages late") {
		t.Error(s)
	}
}
