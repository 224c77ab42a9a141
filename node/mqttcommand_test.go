package node_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

const mqttCommandEnv = "VOLTBUS_TEST_MQTT_COMMAND"

const settable = `
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0, mqtts: 127.0.0.1:0, mqtt: 127.0.0.1:0}
mqtt:
  anonymous: true
  kinds: [{name: thermostat, publish: ["t/{device}/#"], subscribe: ["t/{device}/set/#"]}]
  templates:
    - name: thermostat
      topic: t/{device}/state
      device: home/{device}
      format: json
      points:
        - {name: temperature, unit: degC}
        - name: setpoint
          from: room.setpoint
          unit: degC
          type: float
          set: {topic: "t/{device}/set/setpoint", to: room.setpoint, timeout: 2s, default: "19", min: 5, max: 30}
        - name: heating
          type: bool
          on: [heat]
          off: [idle]
          set: {topic: "t/{device}/set/heating", payload: "mode={value}", timeout: 2s}
`

// thermostat is a device that takes set points up to 25, and reports what it has.
type thermostat struct {
	*mqttClient
	name     string
	setpoint float64
	heating  string
	mute     atomic.Bool // it takes nothing and reports nothing
	took     chan string // topics and payloads of what it was sent
}

// dialTLS connects to the broker as a device does that trusts the authority of the node.
func dialTLS(t testing.TB, address, dir string) net.Conn {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(dir, "tls", "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: pool, ServerName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func newThermostat(t testing.TB, conn net.Conn, as *paho.Connect) *thermostat {
	t.Helper()
	th := &thermostat{name: as.ClientID, setpoint: 20, heating: "idle", took: make(chan string, 100)}
	th.mqttClient = &mqttClient{messages: make(chan *paho.Publish, 100), ended: make(chan byte, 1), conn: conn}
	th.Client = paho.NewClient(paho.ClientConfig{
		Conn: packets.NewThreadSafeConn(conn),
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){
			func(r paho.PublishReceived) (bool, error) { th.messages <- r.Packet; return true, nil },
		},
	})
	if _, err := th.Connect(t.Context(), as); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Cleanup(func() { cancel(); _ = th.Disconnect(&paho.Disconnect{}); <-ended })
	th.subscribe(t, "t/"+th.name+"/set/#", 1)
	th.report(t)
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case m := <-th.messages:
				th.take(t, m)
			}
		}
	}()
	return th
}

func (th *thermostat) take(t testing.TB, m *paho.Publish) {
	th.took <- strings.TrimPrefix(m.Topic, "t/"+th.name+"/set/") + " " + string(m.Payload)
	if th.mute.Load() {
		return
	}
	var wanted struct{ Room struct{ Setpoint *float64 } }
	if json.Unmarshal(m.Payload, &wanted) == nil && wanted.Room.Setpoint != nil {
		th.setpoint = min(*wanted.Room.Setpoint, 25)
	} else if mode, is := strings.CutPrefix(string(m.Payload), "mode="); is {
		th.heating = mode
	}
	th.report(t)
}

func (th *thermostat) report(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), mqttLimit)
	defer cancel()
	payload := fmt.Sprintf(`{"temperature":21,"room":{"setpoint":%g},"heating":%q}`, th.setpoint, th.heating)
	_, _ = th.Publish(ctx, &paho.Publish{Topic: "t/" + th.name + "/state", Payload: []byte(payload), QoS: 1})
}

// expect waits for what the thermostat is sent next.
func (th *thermostat) expect(t testing.TB, want string) {
	t.Helper()
	select {
	case got := <-th.took:
		if got != want {
			t.Errorf("the device is sent %q, want %q", got, want)
		}
	case <-time.After(mqttLimit):
		t.Errorf("the device is not sent %q", want)
	}
}

// commandable reports whether control knows a point.
func (r *running) commandable(path string) bool {
	_, err := r.Control().View(context.Background(), point.Path(path))
	return err == nil
}

// order commands a point of an MQTT device.
func (r *running) order(id, path string, v point.Value) (status control.Status, output control.Output, reported string, err error) {
	r.t.Helper()
	result, err := r.Control().Command(context.Background(), control.Command{
		ID: id, Point: point.Path(path), Requester: "user:eve", Level: 8, Value: v, Reason: "test",
	}, mqttLimit)
	if err != nil {
		r.t.Fatal(err)
	}
	err = result.Failed
	if result.Err != nil {
		err = result.Err
	}
	return result.Status, result.Output, result.Reported.String(), err
}

func TestACommandGoesToTheSetTopicAndTheStateConfirmsIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, load(t, dir, settable))
	th := newThermostat(t, dialTLS(t, r.MQTTAddr(true), r.Config().Node.Data), r.addDevice("hall", "thermostat"))
	known := func() bool {
		return r.commandable("home/hall/setpoint") && r.commandable("home/hall/heating")
	}
	eventually(t, "the points can be commanded", known)

	status, output, reported, err := r.order("one", "home/hall/setpoint", point.FloatOf(22.5))
	if status != control.Accepted || output != control.Confirmed || reported != "22.5" {
		t.Errorf("a command: %s, %s, %s, %v", status, output, reported, err)
	}
	th.expect(t, `setpoint {"room":{"setpoint":22.5}}`)
	status, output, reported, err = r.order("two", "home/hall/setpoint", point.FloatOf(28))
	if status != control.Accepted || output != control.Differs || reported != "25" {
		t.Errorf("a value that the device limits: %s, %s, %s, %v", status, output, reported, err)
	}
	th.expect(t, `setpoint {"room":{"setpoint":28}}`)
	if status, _, _, err = r.order("three", "home/hall/setpoint", point.FloatOf(31)); status != control.Refused {
		t.Errorf("a value out of range: %s, %v", status, err)
	}
	status, output, reported, err = r.order("four", "home/hall/heating", point.BoolOf(true))
	if status != control.Accepted || output != control.Confirmed || reported != "true" {
		t.Errorf("a switch: %s, %s, %s, %v", status, output, reported, err)
	}
	th.expect(t, "heating mode=heat")
	if _, err := r.Control().Release(context.Background(), "user:eve", control.Selection{Point: "home/hall"}, ""); err != nil {
		t.Error(err)
	}
	for range 2 { // to the default, and to what it was before
		switch got := <-th.took; got {
		case `setpoint {"room":{"setpoint":19}}`, "heating mode=idle":
		default:
			t.Errorf("relinquished: %s", got)
		}
	}
	r.hears(t, "control.command", "home/hall/setpoint", "accepted")
}

func TestADeviceThatIsSilentOrAwayIsSaidToBe(t *testing.T) {
	r := run(t, load(t, t.TempDir(), settable))
	th := newThermostat(t, dialTLS(t, r.MQTTAddr(true), r.Config().Node.Data), r.addDevice("hall", "thermostat"))
	eventually(t, "the point can be commanded", func() bool {
		return r.commandable("home/hall/setpoint") && r.commandable("home/hall/heating")
	})
	th.mute.Store(true)
	status, output, _, err := r.order("one", "home/hall/setpoint", point.FloatOf(22))
	if status != control.Accepted || output == control.Confirmed || !fault.Is(err, fault.Timeout) {
		t.Errorf("a device that does not report: %s, %s, %v", status, output, err)
	}
	_ = th.Disconnect(&paho.Disconnect{})
	eventually(t, "the device is gone", func() bool { return r.brokerCounts().Connected == 0 })
	status, output, _, err = r.order("two", "home/hall/heating", point.BoolOf(true))
	if status != control.Accepted || output != control.Failed || !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "it is not connected") {
		t.Errorf("a device that is away: %s, %s, %v", status, output, err)
	}
}

// mqttCommandChild runs a node with a broker until it is killed, and prints where it listens.
func mqttCommandChild(dir string) {
	n, err := open(load(&testing.T{}, dir, settable))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println(n.MQTTAddr(false))
	go func() { fmt.Println("error", n.Run(context.Background())) }()
	for i := 0; ; i++ { // until the device has reported
		r, err := n.Control().Command(context.Background(), control.Command{
			ID: strconv.Itoa(i), Point: "home/hall/setpoint", Requester: "user:eve", Level: 8, Value: point.FloatOf(23), Reason: "test",
		}, mqttLimit)
		if err != nil || r.Output == control.Confirmed {
			fmt.Println("held", err)
			select {}
		}
	}
}

// A node is killed after a command. The device meanwhile goes back to a value of its own, and has the commanded one again
// when the node runs and the device is back.
func TestWhatWasCommandedOfAnMQTTDeviceOutlivesAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), mqttCommandEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	address, err := lines.ReadString('\n')
	if err != nil || strings.HasPrefix(address, "error") {
		t.Fatal(address, err)
	}
	conn, err := net.Dial("tcp", strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	as := &paho.Connect{ClientID: "hall", CleanStart: true, KeepAlive: 60}
	th := newThermostat(t, conn, as)
	th.expect(t, `setpoint {"room":{"setpoint":23}}`)
	if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "held <nil>") {
		t.Fatal(line, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()

	r := run(t, load(t, dir, settable))
	conn, err = net.Dial("tcp", r.MQTTAddr(false))
	if err != nil {
		t.Fatal(err)
	}
	th = newThermostat(t, conn, as) // reports 20
	th.expect(t, `setpoint {"room":{"setpoint":23}}`)
	eventually(t, "the point has what was commanded", func() bool {
		v, err := r.Control().View(context.Background(), "home/hall/setpoint")
		return err == nil && v.Output == control.Confirmed
	})
}
