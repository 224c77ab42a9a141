package node_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/identity/pki"
	"voltbus/operation/auditlog"
)

// A device whose certificate has ended is not let in over TLS, nor one with a certificate of somebody else, and the audit log says why in
// one sentence.
func TestADeviceWithACertificateThatEndedIsToldApart(t *testing.T) {
	dir := t.TempDir()
	cfg := load(t, dir, fleetOfDevices)
	issue := func(dir string, then time.Time) pki.DeviceCertificate {
		made, err := pki.Open(filepath.Join(dir, "tls"), "another", nil, func() time.Time { return then })
		if err != nil {
			t.Fatal(err)
		}
		d, err := made.IssueDevice("pump")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	ended, foreign := issue(cfg.Node.Data, time.Now().AddDate(-3, 0, 0)), issue(t.TempDir(), time.Now()) // each for two years
	r := run(t, cfg)
	for _, c := range []struct {
		pki.DeviceCertificate
		want string
	}{
		{ended, "its certificate ended " + ended.Expires.Format(time.DateOnly) + ": make a new one with"},
		{foreign, "its certificate is not one that this node made for a device"},
	} {
		pair, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.Key))
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM([]byte(ended.Authority))
		conn, err := tls.Dial("tcp", r.MQTTAddr(true), &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, ServerName: "localhost"})
		if err == nil { // with TLS 1.3 the server judges afterwards
			_ = conn.SetDeadline(time.Now().Add(mqttLimit))
			if _, err = conn.Read(make([]byte, 1)); err == nil {
				t.Error("the device is let in")
			}
			_ = conn.Close()
		}
		if err != nil && !strings.Contains(err.Error(), "certificate") {
			t.Errorf("the device is told %v", err)
		}
		eventually(t, "the audit log says "+c.want, func() bool {
			log, err := client.Do(context.Background(), r.Client, auditlog.List, client.AuditFilter{Action: "mqtt.connect"}.Page())
			if err != nil {
				return false
			}
			for _, e := range log.Entries {
				if e.Subject == "pump" && strings.Contains(e.Outcome, c.want) {
					return true
				}
			}
			return false
		})
	}
}
