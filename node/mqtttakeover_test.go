package node_test

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/client"
	"voltbus/identity"
	controlop "voltbus/operation/control"
	"voltbus/operation/declared"
)

// thief has what the application was given, and tries everything that it can reach with it.
type thief struct {
	t    *testing.T
	at   *member // the node with the broker
	name string
	key  string
}

func (f *thief) connect(id string) *mqttClient {
	as := asDevice(f.name, f.key)
	as.ClientID = id
	return connectMQTT(f.t, f.at.MQTTAddr(false), as)
}

// outOfReach are topics that an application may not publish to.
func outOfReach() []string {
	return []string{
		"applications/forecast/set/hall", "applications/forecast/set/room/x", "applications/forecast/set", "applications/forecast/status/lab/room/temp",
		"applications/forecast/answers/room", "applications/other/set/room", "applications/FORECAST/set/room", "devices/forecast/x", "t/forecast/state",
		"t/one/set/setpoint", "plant/node/set", "site/hall/setpoint", "spBv1.0/g/NCMD/n", "homeassistant/sensor/x/config", "$SYS/broker/x", "$share/g/applications/forecast/set/room",
		"vb/call/node/set", "/", "x",
	}
}

// Whoever takes over the application outside has its account of the broker. Everything else of the campus, and of the nodes below, stays as it is.
func TestAttackATakenOverApplicationReachesNothingElse(t *testing.T) {
	c := forecastChain(t)
	as := c.region.addDevice("forecast", "application")
	panel := connectMQTT(t, c.region.MQTTAddr(false), c.region.addDevice("panel", "wide"))
	if code := panel.subscribe(t, "#", 1); code >= 0x80 {
		t.Fatalf("the panel subscribes: %x", code)
	}
	f := &thief{t, &c.region, "forecast", string(as.Password)}
	f.tryTheAPI()
	for _, at := range []*member{&c.region, &c.campus, &c.plant} {
		f.tryTheBus(at.BusAddr())
	}
	o := outside{f.connect("forecast")}
	f.trySubscribing(o)
	f.tryPublishing(o)
	f.tryWills()
	f.tryOtherNames(panel)
	f.tryBytes()
	code, r := o.ask(t, "room", `{"value": 22, "id": "last"}`)
	for r.ID != "last" && code == 0 { // the answers to what it tried come first
		r = o.answer(t)
	}
	if code != 0 || r.Status != "accepted" {
		t.Errorf("after all this its own command is not carried out: %x, %+v", code, r)
	}
	f.onlyItsOwn(c, o, panel)
}

// tryTheAPI asks for every declared operation, here and at the nodes below, in all ways to show a secret.
func (f *thief) tryTheAPI() {
	f.t.Helper()
	list := declared.All()
	placeholder := regexp.MustCompile(`\{[^}]*\}`)
	asked := 0
	for i := range list {
		method, path, found := strings.Cut(list[i].HTTP, " ")
		if !found || list[i].Role == identity.Nobody { // open to everybody
			continue
		}
		path = placeholder.ReplaceAllString(path, "x")
		if !list[i].Root {
			path = "/api/v1" + path
		}
		for _, node := range []string{"", "?node=plant"} {
			for way, as := range map[string]func(*http.Request){
				"password": func(r *http.Request) { r.SetBasicAuth(f.name, f.key) },
				"token":    func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+f.key) },
				"session":  func(r *http.Request) { r.Header.Set("Cookie", "voltbus="+f.key+"; session="+f.key) },
			} {
				status := f.request(method, path+node, `{"commands":[{"point":"site/hall/setpoint","value":22}]}`, as)
				guessed := way != "session" && status == http.StatusTooManyRequests // secrets are guessed too often by then
				if !guessed && status != http.StatusUnauthorized && status != http.StatusForbidden {
					f.t.Errorf("%s %s%s by %s answers %d", method, path, node, way, status)
				}
				asked++
			}
		}
	}
	if asked < 500 {
		f.t.Errorf("only %d requests were made", asked)
	}
	if status := f.request(http.MethodPost, "/api/v1/session", fmt.Sprintf(`{"user":%q,"password":%q}`, f.name, f.key), func(*http.Request) {}); status < 400 {
		f.t.Errorf("it logs in at the page: %d", status)
	}
	basic := func(r *http.Request) { r.SetBasicAuth(f.name, f.key) }
	for _, topic := range outOfReach() {
		if status := f.request(http.MethodPost, "/mqtt/publish/"+topic, `{"value": 22}`, basic); status < 400 {
			f.t.Errorf("a message over HTTP to %s answers %d", topic, status)
		}
	}
}

func (f *thief) request(method, path, body string, as func(*http.Request)) int {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.at.HTTPAddr()+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	as(req)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode
}

// tryTheBus shows what it has to the bus of a node.
func (f *thief) tryTheBus(address string) {
	f.t.Helper()
	for _, login := range []map[string]any{
		{"user": f.name, "pass": f.key}, {"auth_token": f.key}, {"jwt": f.key, "sig": f.key}, {"user": "admin", "pass": f.key}, {},
	} {
		conn, err := net.DialTimeout("tcp", strings.TrimPrefix(address, "tls://"), mqttLimit)
		if err != nil {
			f.t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(mqttLimit))
		in := bufio.NewReader(conn)
		info, err := in.ReadString('\n')
		if err != nil {
			f.t.Fatal(err)
		}
		if strings.Contains(info, `"tls_required":true`) {
			secured := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // who attacks does not verify
			conn, in = secured, bufio.NewReader(secured)
		}
		text, err := json.Marshal(login)
		if err != nil {
			f.t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "CONNECT %s\r\nSUB > 1\r\nPING\r\n", text)
		said, _ := io.ReadAll(in) // until the node ends it
		if strings.Contains(string(said), "PONG") || strings.Contains(string(said), "MSG ") {
			f.t.Errorf("the bus at %s lets %s in: %.200s", address, text, said)
		}
		_ = conn.Close()
	}
}

func (f *thief) trySubscribing(o outside) {
	f.t.Helper()
	for _, filter := range []string{
		"#", "+/#", "+/+/+/#", "$SYS/#", "$share/g/#", "$share/g/applications/+/status/#", "applications/#", "applications/+/status/#", "applications/forecast/#", "applications/forecast/+/#",
		"applications/forecast/set/#", "applications/other/status/#", "applications/other/answers/#", "devices/#", "devices/forecast/#", "t/#", "spBv1.0/#", "$share/g/$SYS/#", "/#", "+",
	} {
		if code := o.subscribe(f.t, filter, 1); code < 0x80 {
			f.t.Errorf("it subscribes to %s", filter)
		}
	}
	for _, filter := range []string{"applications/forecast/status/#", "applications/forecast/answers/#", "$share/g/applications/forecast/status/#"} {
		if code := o.subscribe(f.t, filter, 1); code >= 0x80 {
			f.t.Errorf("it may not subscribe to %s", filter)
		}
	}
}

func (f *thief) tryPublishing(o outside) {
	f.t.Helper()
	for _, topic := range outOfReach() {
		for _, payload := range []string{`{"value": 22}`, "22", strings.Repeat("x", 1<<10), ""} {
			if code := o.publish(f.t, topic, payload, 1); code < 0x80 {
				f.t.Errorf("%s takes %.20q: %x", topic, payload, code)
			}
		}
	}
	for _, payload := range []string{
		`{"value": 25}`, `{"value": -22}`, `{"value": 1e308}`, `{"value": 22, "level": 1}`, `{"value": 22, "point": "site/hall/setpoint"}`, `{"value": 22, "node": "campus"}`,
		`{"value": 22, "lease": 1e12}`, `{"value": [22]}`, `{"value": 22, "value": 30}`, strings.Repeat("[", 1000), "\xff\xfe", strings.Repeat("9", 1<<10), strings.Repeat("x", 40<<10),
	} {
		if code := o.publish(f.t, "applications/forecast/set/room", payload, 1); code < 0x80 {
			f.t.Errorf("a command takes %.40q: %x", payload, code)
		}
	}
	for _, retained := range []string{"applications/forecast/set/room", "applications/forecast/status/lab/room/temp"} {
		r, err := o.Publish(f.t.Context(), &paho.Publish{Topic: retained, Payload: []byte(`{"value": 22}`), QoS: 1, Retain: true})
		if err == nil || r == nil || r.ReasonCode < 0x80 {
			f.t.Errorf("%s is retained: %+v, %v", retained, r, err)
		}
	}
}

// tryWills leaves messages for after its end. What may be asked for may be a will, too, which is refused when it is due.
func (f *thief) tryWills() {
	f.t.Helper()
	leave := func(topic string) (*mqttClient, error) {
		as := asDevice(f.name, f.key)
		as.ClientID = "will"
		as.WillMessage = &paho.WillMessage{Topic: topic, Payload: []byte(`{"value": 23.9}`), QoS: 1, Retain: true}
		return dialMQTT(f.t, f.at.MQTTAddr(false), as)
	}
	for _, topic := range outOfReach() {
		if conn, err := leave(topic); err == nil && topic != "applications/forecast/set/hall" {
			_ = conn.Disconnect(&paho.Disconnect{})
			f.t.Errorf("a will for %s is let in", topic)
		} else if err == nil {
			f.dies(conn)
		}
	}
	conn, err := leave("applications/forecast/set/room")
	if err != nil {
		f.t.Fatal(err)
	}
	f.dies(conn)
}

// dies cuts a connection, and waits until its will is refused.
func (f *thief) dies(conn *mqttClient) {
	f.t.Helper()
	before := f.at.application(f.t).Refused
	_ = conn.conn.Close()
	awaitTrue(f.t, "the will is refused", func() bool { return f.at.application(f.t).Refused > before })
}

// tryOtherNames uses client identifiers of others, and names with its own secret.
func (f *thief) tryOtherNames(panel *mqttClient) {
	f.t.Helper()
	own := f.connect("panel") // the client identifier of another device
	_ = own.Disconnect(&paho.Disconnect{})
	select {
	case <-panel.Done():
		f.t.Error("it ends the connection of another device")
	default:
	}
	for _, name := range []string{"panel", "admin", "person:admin", "application:forecast", "node", ""} {
		if conn, err := dialMQTT(f.t, f.at.MQTTAddr(false), asDevice(name, f.key)); err == nil || conn.ack.ReasonCode < 0x80 {
			f.t.Errorf("it is let in as %q", name)
		}
	}
}

// tryBytes sends what no client of MQTT sends.
func (f *thief) tryBytes() {
	f.t.Helper()
	for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", "\x10\xff\xff\xff\xff", strings.Repeat("\x00", 1000), "\x30\xff\xff\xff\x7f", "CONNECT {}\r\n"} {
		conn, err := net.Dial("tcp", f.at.MQTTAddr(false))
		if err != nil {
			f.t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(mqttLimit))
		_, _ = io.WriteString(conn, text)
		if said, _ := io.ReadAll(conn); len(said) > 100 {
			f.t.Errorf("%.20q is answered by %d bytes", text, len(said))
		}
		_ = conn.Close()
	}
}

// onlyItsOwn verifies that nothing but its one point was commanded, that it read nothing else, and that others got nothing of it.
func (f *thief) onlyItsOwn(c *chain, o outside, panel *mqttClient) {
	f.t.Helper()
	for at, want := range map[*member][]string{&c.region: nil, &c.campus: nil, &c.plant: {"site/room/setpoint application:region/forecast 22"}} {
		held, err := client.Do(wait(f.t), at.Client, controlop.Held, controlop.Requester{})
		var got []string
		for i := range held.Commands {
			s := &held.Commands[i]
			got = append(got, fmt.Sprintf("%s %s %s", s.Path, s.Requester, s.Value))
		}
		if err != nil || !slices.Equal(got, want) {
			f.t.Errorf("%s: these commands are held: %q, %v, want %q", at.cfg.Node.Name, got, err, want)
		}
		if told := at.told(client.AuditFilter{Action: "control.command"}); len(told) != len(want) {
			f.t.Errorf("%s: these commands were tried at control: %q", at.cfg.Node.Name, told)
		}
	}
	hall, err := client.Do(wait(f.t), c.plant.Client, controlop.Get, controlop.Points{Points: []string{"site/hall/setpoint"}})
	if err != nil || string(hall.Readings[0].Value) != "21" {
		f.t.Errorf("the set point of the hall: %+v, %v", hall, err)
	}
	for len(o.messages) > 0 {
		m := <-o.messages
		if !strings.HasPrefix(m.Topic, "applications/forecast/answers/") && (!strings.HasPrefix(m.Topic, "applications/forecast/status/") || !strings.HasSuffix(m.Topic, "/room/temp")) {
			f.t.Errorf("it got %s: %s", m.Topic, m.Payload)
		}
	}
	for len(panel.messages) > 0 {
		if m := <-panel.messages; !strings.HasPrefix(m.Topic, "applications/forecast/status/") && !strings.HasPrefix(m.Topic, "applications/forecast/answers/") {
			f.t.Errorf("a message of it went to others: %s: %.100s", m.Topic, m.Payload)
		}
	}
	a := c.region.application(f.t)
	if a.Accepted != 1 || a.Failed != 0 || a.Refused < 100 {
		f.t.Errorf("the account of it: %d accepted, %d failed, %d refused", a.Accepted, a.Failed, a.Refused)
	}
	if len(c.region.told(client.AuditFilter{Actor: "application:forecast", Action: "mqtt.command"})) == 0 {
		f.t.Error("the audit log has none of its refused commands")
	}
}
