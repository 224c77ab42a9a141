package node_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/mqtt"
)

func TestManyDevicesGetCertificatesTogetherOrNone(t *testing.T) {
	r := run(t, load(t, t.TempDir(), fleetOfDevices))
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprint("d", i))
	}
	list := "name,kind\n" + strings.Join(names, ",thermostat\n") + ",thermostat\n"
	if _, err := client.Do(t.Context(), r.Client, mqtt.Provision, mqtt.List{List: &list}); err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string][]string{"one that is not there": {"d1", "none"}, "one twice": {"d1", "d1"}, "none": {}, "too many": make([]string, mqtt.MostCertificates+1)} {
		if _, err := client.Do(t.Context(), r.Client, mqtt.CertifyAll, mqtt.Names{Devices: wrong}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	made, err := client.Do(t.Context(), r.Client, mqtt.CertifyAll, mqtt.Names{Devices: names})
	if err != nil || len(made.Devices) != len(names) {
		t.Fatalf("%d certificates, %v", len(made.Devices), err)
	}
	for _, d := range []answer.MQTTCertificate{made.Devices[0], made.Devices[19]} {
		p := connectCertified(t, r, &d)
		if code := p.publish(t, "t/"+d.Name+"/temp", "21", 1); code != 0 {
			t.Errorf("%s is answered with %#x", d.Name, code)
		}
		if _, err := client.Do(t.Context(), r.Client, mqtt.Certify, mqtt.Device{Device: d.Name}); err != nil {
			t.Fatal(err)
		}
		p.gone(t) // another certificate ends what the one before let in
	}
}

// connectCertified connects a device that shows its certificate.
func connectCertified(t *testing.T, r *running, d *answer.MQTTCertificate) *mqttClient {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(d.Certificate), []byte(d.Key))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(d.Authority))
	conn, err := tls.Dial("tcp", r.MQTTAddr(true), &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, ServerName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	p := &mqttClient{messages: make(chan *paho.Publish, 10), ended: make(chan byte, 1), conn: conn}
	p.Client = paho.NewClient(paho.ClientConfig{Conn: packets.NewThreadSafeConn(conn)})
	t.Cleanup(func() { _ = p.Disconnect(&paho.Disconnect{}) })
	if _, err := p.Connect(t.Context(), &paho.Connect{ClientID: d.Name, CleanStart: true, KeepAlive: 60}); err != nil {
		t.Fatal(err)
	}
	return p
}
