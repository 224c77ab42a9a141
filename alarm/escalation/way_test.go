package escalation_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/alarm"
	"voltbus/alarm/escalation"
	"voltbus/fault"
	"voltbus/protocol/mqtt/client"
	"voltbus/testing/peers"
	"voltbus/webpush"
)

// subscribed returns what a client of a broker hears.
func subscribed(t *testing.T, address, filter string) <-chan string {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 10)
	c, err := client.New(t.Context(), conn, client.Config{ClientID: "desk", Message: func(topic string, payload []byte) { heard <- topic + " " + string(payload) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Subscribe(t.Context(), 1, filter); err != nil {
		t.Fatal(err)
	}
	return heard
}

func TestPeopleAreToldByABroker(t *testing.T) {
	broker := peers.StartMosquitto(t, nil, nil)
	heard := subscribed(t, broker.Addr, "plant/#")
	s := newStand(t, escalation.Plan{
		Contacts: []escalation.Contact{
			{Name: "panel", By: escalation.ByMQTT, To: "plant/alarms", Server: broker.Addr}, {Name: "horn", By: escalation.ByMQTT, To: "horn"},
		},
		Steps: []escalation.Step{{Tell: []string{"panel", "horn"}}},
	})
	s.set(func() { s.alarms = []alarm.Shown{hot(alarm.Critical)} })
	var m escalation.Message
	if body, is := strings.CutPrefix(next(t, heard), "plant/alarms "); !is || json.Unmarshal([]byte(body), &m) != nil || m.Alarms[0].ID != "hot@b/x" {
		t.Errorf("the subscriber heard %s", body)
	}
	said := func() string { return strings.Join(s.Troubles(), "\n") }
	until(t, func() bool {
		return strings.Contains(said(), "horn cannot be told") && strings.Contains(said(), "no MQTT broker of its own")
	})
	s.set(func() { s.own = func(string, []byte) (int, bool) { return 0, true }; s.now = noon.Add(time.Minute) })
	until(t, func() bool {
		return strings.Contains(said(), `no client of the node's MQTT broker subscribes to "horn"`)
	})
	told := make(chan string, 1)
	s.set(func() {
		s.own = func(topic string, _ []byte) (int, bool) { told <- topic; return 1, true }
		s.now = noon.Add(time.Hour)
	})
	next(t, told)
	until(t, func() bool { return said() == "" })
}

// A broker with a certificate of its own authority, a password that would go in the clear, and one that is away.
func TestABrokerIsTrustedByItsAuthority(t *testing.T) {
	s := newStand(t, escalation.Plan{Contacts: []escalation.Contact{
		{Name: "far", By: escalation.ByMQTT, To: "a", Server: "192.0.2.1:1883", Secret: "token"},
		{Name: "away", By: escalation.ByMQTT, To: "a", Server: "127.0.0.1:" + peers.FreePort(t)},
		{Name: "mail", By: escalation.ByMQTT, To: "a", Server: "mqtts://127.0.0.1:1", CA: "token"},
	}})
	if err := os.WriteFile(filepath.Join(s.dir, "token"), []byte("let-me-in\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"far": "write mqtts:// before its address", "away": "refused", "mail": "has no certificate in PEM", "nobody": "is not a contact of the plan",
	} {
		if err := s.Test(t.Context(), name, "ben"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPeopleAreToldByPushes(t *testing.T) {
	service := peers.Push(t)
	pem, err := os.ReadFile(service.CA)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	devices, err := webpush.Open(webpush.Options{Dir: t.TempDir(), Now: time.Now, TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}})
	if err != nil {
		t.Fatal(err)
	}
	plan := escalation.Plan{
		Contacts: []escalation.Contact{{Name: "ada", By: escalation.ByPush, To: "ada"}, {Name: "eve", By: escalation.ByPush, To: "eve"}},
		Steps:    []escalation.Step{{Tell: []string{"ada"}}}, Push: &webpush.Setting{Contact: "mailto:plant@example.org", Services: []string{service.Host}},
	}
	s := newStand(t, plan)
	s.stop()
	s.devices = devices
	s.start()
	s.set(func() { s.alarms = []alarm.Shown{hot(alarm.Critical)} })
	until(t, func() bool { return strings.Contains(strings.Join(s.Troubles(), ""), "no device of ada takes pushes") })
	if _, err := devices.Add(plan.Push, webpush.Device{Person: "ada", Name: "phone", Endpoint: "https://" + service.Host + "/1", Keys: webpush.Keys(service.Key)}); err != nil {
		t.Fatal(err)
	}
	s.set(func() { s.now = noon.Add(time.Minute) })
	if got := service.Await(t, "push"); !strings.Contains(got, "critical alarm at plant: too hot") {
		t.Errorf("the device shows %s", got)
	}
	until(t, func() bool { return len(s.Troubles()) == 0 })
	if err := s.Test(t.Context(), "ada", "ben"); err != nil {
		t.Error(err)
	}
	if got := service.Await(t, "push"); !strings.Contains(got, "This is a test by ben") {
		t.Errorf("the test is %s", got)
	}
	if err := s.Test(t.Context(), "eve", "ben"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), `no account "eve"`) {
		t.Errorf("somebody without an account: %v", err)
	}
}

func TestWhoIsOnCallFollowsTheCalendar(t *testing.T) {
	p := escalation.Plan{Calendar: []escalation.Turn{
		{Who: "ben", From: noon, To: noon.Add(time.Hour)}, {Who: "ada", From: noon, To: noon.Add(2 * time.Hour)}, {Who: "ada", From: noon, To: noon.Add(time.Hour)},
	}}
	for after, want := range map[time.Duration]string{-1: "", 0: "ada ben", time.Hour: "ada", 2 * time.Hour: ""} {
		if got := strings.Join(p.OnCall(noon.Add(after)), " "); got != want {
			t.Errorf("after %v: %q", after, got)
		}
	}
}
