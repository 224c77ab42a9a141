package node_test

import (
	"strings"
	"testing"

	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/client"
)

// A stranger who connects by names that it makes up writes nothing in the name of others.
func TestAttackAStrangerForgesNoDeviceInTheAuditLog(t *testing.T) {
	r := run(t, load(t, t.TempDir(), thermostats))
	for _, name := range []string{"boiler", "meter-1", strings.Repeat("x", 900)} {
		if _, err := dialMQTT(t, r.MQTTAddr(false), &paho.Connect{
			ClientID: "c", CleanStart: true, Username: name, UsernameFlag: true, Password: []byte("guess"), PasswordFlag: true,
		}); err == nil {
			t.Fatalf("%.20s is let in", name)
		}
	}
	eventually(t, "the refusals are told", func() bool { return len(r.told(client.AuditFilter{Action: "mqtt.connect", Actor: "unknown"})) == 3 })
	if told := r.told(client.AuditFilter{Action: "mqtt.connect", Actor: "device:*"}); len(told) != 0 {
		t.Errorf("the audit log says %q", told)
	}
}
