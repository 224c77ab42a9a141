package escalation_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/alarm"
	"voltbus/alarm/escalation"
	"voltbus/alarm/storage"
	"voltbus/fault"
	"voltbus/webpush"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mailbox is an SMTP server (RFC 5321) on loopback, which takes every message.
func mailbox(t *testing.T) (address string, got <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	messages := make(chan string, 10)
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() { talk(c, messages) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); group.Wait() })
	return l.Addr().String(), messages
}

func talk(c net.Conn, messages chan<- string) {
	defer c.Close()
	in := bufio.NewReader(c)
	say := func(text string) { _, _ = io.WriteString(c, text+"\r\n") }
	say("220 mail")
	var text strings.Builder
	for body := false; ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if text.WriteString(line); body {
			if line == ".\r\n" {
				body = false
				messages <- text.String()
				say("250 taken")
			}
			continue
		}
		switch strings.ToUpper(strings.TrimSpace(line)) {
		case "DATA":
			body = true
			say("354 go on")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// stand is an escalation with alarms and a clock that the test sets.
type stand struct {
	t    *testing.T
	dir  string
	file *storage.Storage

	mu     sync.Mutex
	plan   escalation.Plan
	alarms []alarm.Shown
	now    time.Time

	devices *webpush.Registry
	own     func(topic string, payload []byte) (int, bool)

	*escalation.Escalation
	stop func()
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newStand(t *testing.T, plan escalation.Plan) *stand {
	t.Helper()
	if err := plan.Validate(); err != nil {
		t.Fatal(err)
	}
	s := &stand{t: t, dir: t.TempDir(), plan: plan, now: noon, own: func(string, []byte) (int, bool) { return 0, false }}
	s.start()
	t.Cleanup(func() { s.stop() })
	return s
}

func (s *stand) start() {
	s.t.Helper()
	var err error
	if s.file, err = storage.Open(context.Background(), s.dir, noon); err != nil {
		s.t.Fatal(err)
	}
	s.Escalation, err = escalation.Open(context.Background(), escalation.Options{
		Secrets: s.dir, Node: "plant", Storage: s.file, Log: slog.New(slog.DiscardHandler), Devices: s.devices,
		Known: func(_ context.Context, person string) (bool, error) { return person != "eve", nil },
		Publish: func(topic string, payload []byte) (int, bool) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.own(topic, payload)
		},
		Plan:   func() escalation.Plan { s.mu.Lock(); defer s.mu.Unlock(); return s.plan },
		Alarms: func() []alarm.Shown { s.mu.Lock(); defer s.mu.Unlock(); return s.alarms },
		Now:    func() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { _ = s.Run(ctx) })
	s.stop = func() {
		cancel()
		group.Wait()
		_ = s.file.Close()
	}
}

func (s *stand) set(do func()) { s.mu.Lock(); defer s.mu.Unlock(); do() }

func hot(priority alarm.Priority) alarm.Shown {
	return alarm.Shown{State: alarm.Unacknowledged, Alarm: alarm.Alarm{
		ID: "hot@b/x", Rule: "hot", Point: "b/x", Priority: priority, Text: "too hot\r\nBcc: eve@example.org", Value: "85", Active: true, Count: 1, Since: noon,
	}}
}

// next waits for what a target receives.
func next(t *testing.T, got <-chan string) string {
	t.Helper()
	select {
	case text := <-got:
		return text
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
		return ""
	}
}

func target(t *testing.T, status func() int) (address string, got <-chan string) {
	t.Helper()
	messages := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(status())
		messages <- r.Header.Get("Authorization") + "|" + r.Header.Get("Title") + "|" + string(body)
	}))
	t.Cleanup(s.Close)
	return s.URL, messages
}

func well() int { return http.StatusOK }

func TestPeopleAreToldOncePerAlarmByMailWebhookAndNtfy(t *testing.T) {
	server, mails := mailbox(t)
	hook, hooks := target(t, well)
	topic, topics := target(t, well)
	s := newStand(t, escalation.Plan{
		Contacts: []escalation.Contact{
			{Name: "ada", By: escalation.ByEmail, To: "ada@example.org", From: "plant@example.org", Server: server},
			{Name: "desk", By: escalation.ByWebhook, To: hook, Secret: "token"},
			{Name: "phone", By: escalation.ByNtfy, To: topic},
		},
		Steps:    []escalation.Step{{Tell: []string{escalation.OnCall, "desk"}}, {After: 600, Tell: []string{"phone"}}},
		Calendar: []escalation.Turn{{Who: "ada", From: noon.Add(-time.Hour), To: noon.Add(time.Hour)}},
	})
	if err := os.WriteFile(filepath.Join(s.dir, "token"), []byte("let-me-in\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.set(func() { s.alarms = []alarm.Shown{hot(alarm.Critical)} })
	letter := next(t, mails)
	if !strings.Contains(letter, "RCPT TO:<ada@example.org>") || !strings.Contains(letter, "critical alarm at plant: too hot") || strings.Contains(letter, "\nBcc:") {
		t.Errorf("the letter is %q", letter)
	}
	auth, body, _ := strings.Cut(next(t, hooks), "||")
	var m escalation.Message
	if err := json.Unmarshal([]byte(body), &m); err != nil || auth != "Bearer let-me-in" || m.Node != "plant" || len(m.Alarms) != 1 || m.Alarms[0].ID != "hot@b/x" {
		t.Errorf("the webhook got %q %q, %v", auth, body, err)
	}
	until(t, func() bool { list, err := s.file.Told(t.Context()); return err == nil && len(list) == 2 })
	s.stop()
	s.start()
	s.set(func() { s.now = noon.Add(11 * time.Minute) })
	if got := next(t, topics); !strings.Contains(got, "too hot") {
		t.Errorf("the second step says %q", got)
	}
	if len(mails)+len(hooks)+len(topics) != 0 {
		t.Error("somebody was told twice")
	}
}

func TestNobodyIsToldOfWhatIsAcknowledgedOrLessUrgent(t *testing.T) {
	hook, hooks := target(t, well)
	s := newStand(t, escalation.Plan{
		Contacts: []escalation.Contact{{Name: "desk", By: escalation.ByWebhook, To: hook}}, Steps: []escalation.Step{{Tell: []string{"desk"}}},
	})
	seen, medium, last := hot(alarm.Critical), hot(alarm.PriorityMedium), hot(alarm.PriorityHigh)
	seen.State, medium.ID, last.ID = alarm.Acknowledged, "warm@b/x", "last@b/x"
	s.set(func() { s.alarms = []alarm.Shown{seen, medium, last} })
	if got := next(t, hooks); strings.Contains(got, "hot@") || strings.Contains(got, "warm@") || !strings.Contains(got, "last@") {
		t.Errorf("told %s", got)
	}
}

func TestATargetThatIsAwayIsTriedAgainAndSaid(t *testing.T) {
	var mu sync.Mutex
	status := http.StatusBadGateway
	hook, hooks := target(t, func() int { mu.Lock(); defer mu.Unlock(); return status })
	s := newStand(t, escalation.Plan{
		Contacts: []escalation.Contact{{Name: "desk", By: escalation.ByWebhook, To: hook}}, Steps: []escalation.Step{{Tell: []string{"desk"}}},
	})
	s.set(func() { s.alarms = []alarm.Shown{hot(alarm.Critical)} })
	next(t, hooks)
	said := func() string { return fmt.Sprint(s.Troubles()) }
	until(t, func() bool { return strings.Contains(said(), "desk cannot be told") && strings.Contains(said(), "502") })
	mu.Lock()
	status = http.StatusOK
	mu.Unlock()
	s.set(func() { s.now = noon.Add(time.Minute) })
	next(t, hooks)
	until(t, func() bool { return len(s.Troubles()) == 0 })
}

// until waits for a claim to hold.
func until(t *testing.T, is func() bool) {
	t.Helper()
	clock, end := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer clock.Stop()
	for !is() {
		select {
		case <-clock.C:
		case <-end:
			t.Fatal("never")
		}
	}
}

func TestAPlanThatIsWrongSaysWhatToWrite(t *testing.T) {
	desk := escalation.Contact{Name: "desk", By: escalation.ByWebhook, To: "https://example.org/hook"}
	for want, p := range map[string]escalation.Plan{
		"contacts[0].by":     {Contacts: []escalation.Contact{{Name: "a", By: "pigeon"}}},
		"contacts[0].to":     {Contacts: []escalation.Contact{{Name: "a", By: escalation.ByWebhook, To: "file:///etc/passwd"}}},
		"contacts[0].secret": {Contacts: []escalation.Contact{{Name: "a", By: escalation.ByNtfy, To: desk.To, Secret: "../node.nk"}}},
		"contacts[0].server": {Contacts: []escalation.Contact{{Name: "a", By: escalation.ByEmail, To: "a@b", From: "a@b", Server: "mail"}}},
		"contacts[1].name":   {Contacts: []escalation.Contact{desk, desk}},
		"steps[0].tell":      {Contacts: []escalation.Contact{desk}, Steps: []escalation.Step{{Tell: []string{"ben"}}}},
		"calendar[0]":        {Contacts: []escalation.Contact{desk}, Calendar: []escalation.Turn{{Who: "desk"}}},
		"contacts[0].ca":     {Contacts: []escalation.Contact{{Name: "a", By: escalation.ByMQTT, To: "a", CA: "../ca.pem"}}},
		"is not a topic":     {Contacts: []escalation.Contact{{Name: "a", By: escalation.ByMQTT, To: "plant/#"}}},
		"mqtts://host:port":  {Contacts: []escalation.Contact{{Name: "a", By: escalation.ByMQTT, To: "a", Server: "mqtts://mail"}}},
		"pushes are off":     {Contacts: []escalation.Contact{{Name: "a", By: escalation.ByPush, To: "ada"}}},
		"name of the acc":    {Contacts: []escalation.Contact{{Name: "a", By: escalation.ByPush}}, Push: &webpush.Setting{Contact: "mailto:a@b"}},
		"push":               {Push: &webpush.Setting{}},
		"least":              {Least: "urgent"},
	} {
		if err := p.Validate(); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
