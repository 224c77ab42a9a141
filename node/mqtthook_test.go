package node_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// post sends a message of a device over HTTP and returns the status of the answer.
func (r *running) post(topic, name, secret, payload string) int {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.HTTPAddr()+"/mqtt/publish/"+topic, strings.NewReader(payload))
	if err != nil {
		r.t.Fatal(err)
	}
	if name != "" {
		req.SetBasicAuth(name, secret)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.StatusCode
}

func TestAMessageOverHTTPIsTakenLikeOneByMQTT(t *testing.T) {
	r := run(t, load(t, t.TempDir(), fleetOfDevices))
	one := r.addDevice("one", "thermostat")
	panel := connectMQTT(t, r.MQTTAddr(false), r.addDevice("panel", "panel"))
	panel.subscribe(t, "t/#", 1)
	secret := string(one.Password)
	before := r.ledger().Origins[0].Acknowledged
	if got := r.post("t/one/temp", "one", secret, "21.5"); got != http.StatusNoContent {
		t.Fatalf("the answer is %d", got)
	}
	if after := r.ledger().Origins[0].Acknowledged; after != before+1 {
		t.Errorf("%d samples more are on disk when the message is answered", after-before)
	}
	if m := panel.next(t); m.Topic != "t/one/temp" || string(m.Payload) != "21.5" {
		t.Errorf("a subscriber is sent %s %s", m.Topic, m.Payload)
	}
	if got := r.post("t/one/a/b", "one", secret, "1"); got != http.StatusAccepted {
		t.Errorf("a message without a template: %d", got)
	}
}

func TestAttackAMessageOverHTTPHasTheRightsOfItsDevice(t *testing.T) {
	r := run(t, load(t, t.TempDir(), fleetOfDevices))
	secret := string(r.addDevice("one", "thermostat").Password)
	for _, c := range []struct {
		what, topic, name, secret, payload string
		want                               int
	}{
		{"no secret", "t/one/temp", "", "", "1", http.StatusUnauthorized},
		{"a wrong secret", "t/one/temp", "one", secret + "x", "1", http.StatusUnauthorized},
		{"the topic of another device", "t/two/temp", "one", secret, "1", http.StatusForbidden},
		{"a wildcard", "t/one/+", "one", secret, "1", http.StatusBadRequest},
		{"no topic", "", "one", secret, "1", http.StatusBadRequest},
		{"a large payload", "t/one/temp", "one", secret, strings.Repeat("9", 101), http.StatusBadRequest},
		{"a huge payload", "t/one/temp", "one", secret, strings.Repeat("9", 1<<20), http.StatusRequestEntityTooLarge},
	} {
		if got := r.post(c.topic, c.name, c.secret, c.payload); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
	limited := 0
	for range 300 { // the kind lets 50 a second, and four times that at once
		if r.post("t/one/temp", "one", secret, "1") == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited == 0 {
		t.Error("a device sends as much as it likes")
	}
}
