package escalation

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/mail"
	"net/smtp"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"voltbus/alarm"
)

// validate returns what is wrong with a contact.
func (c *Contact) validate(i int) error {
	field := func(name string) string { return fmt.Sprintf("contacts[%d].%s", i, name) }
	if c.Secret != "" && (filepath.Base(c.Secret) != c.Secret || strings.HasPrefix(c.Secret, ".")) {
		return wrong(field("secret"), "%.80q is not the name of a file in the folder alarm-secrets", c.Secret)
	}
	switch c.By {
	case ByEmail:
		for name, address := range map[string]string{"to": c.To, "from": c.From} {
			if _, err := mail.ParseAddress(address); err != nil || strings.ContainsAny(address, "\r\n") {
				return wrong(field(name), "%.80q is not an address; write one such as shift@example.org", address)
			}
		}
		if _, _, err := net.SplitHostPort(c.Server); err != nil {
			return wrong(field("server"), "%.80q is not host:port of an SMTP server, such as mail.example.org:587", c.Server)
		}
	case ByWebhook, ByNtfy:
		u, err := url.Parse(c.To)
		if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
			return wrong(field("to"), "write an http or https address without a password; put a token into secret")
		}
	default:
		return wrong(field("by"), "%.40q is not known; write %s, %s or %s", c.By, ByEmail, ByWebhook, ByNtfy)
	}
	return nil
}

// sendTime bounds one attempt.
const sendTime = 20 * time.Second

// mostLines bounds the alarms in one message; the others are counted.
const mostLines = 20

// send tells a contact of alarms in one message.
func (e *Escalation) send(ctx context.Context, c *Contact, list []alarm.Shown) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	secret := ""
	if c.Secret != "" {
		data, err := os.ReadFile(filepath.Join(e.o.Secrets, c.Secret))
		if err != nil {
			return err
		}
		secret = strings.TrimSpace(string(data))
	}
	subject, text := words(e.o.Node, list)
	switch c.By {
	case ByEmail:
		return sendMail(ctx, c, secret, subject, text)
	case ByNtfy:
		return post(ctx, c.To, secret, []byte(text), map[string]string{"Title": mime.QEncoding.Encode("utf-8", subject), "Priority": "high"})
	}
	body, err := json.Marshal(message(e.o.Node, list))
	if err != nil {
		return err
	}
	return post(ctx, c.To, secret, body, map[string]string{"Content-Type": "application/json"})
}

// plain makes text from devices one line.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

func words(node string, list []alarm.Shown) (subject, text string) {
	subject = plain(fmt.Sprintf("%s alarm at %s: %s", list[0].Priority, node, list[0].Text))
	if len(list) > 1 {
		subject = fmt.Sprintf("%d alarms at %s", len(list), plain(node))
	}
	var b strings.Builder
	for i := range list {
		if i == mostLines {
			fmt.Fprintf(&b, "and %d more\n", len(list)-i)
			break
		}
		a := &list[i]
		fmt.Fprintf(&b, "%s since %s: %s (%s)\n", a.Priority, a.Since.UTC().Format(time.DateTime+" UTC"), plain(a.Text), plain(string(a.ID)))
	}
	return subject, b.String()
}

// Message is what a webhook receives.
type Message struct {
	Node   string  `json:"node"`
	Alarms []Alarm `json:"alarms"`
}

// Alarm is an alarm in a message.
type Alarm struct {
	ID       string    `json:"id"`
	Priority string    `json:"priority"`
	Text     string    `json:"text"`
	Point    string    `json:"point"`
	Value    string    `json:"value"`
	Since    time.Time `json:"since"`
}

func message(node string, list []alarm.Shown) Message {
	m := Message{Node: node}
	for i := range list {
		a := &list[i]
		m.Alarms = append(m.Alarms, Alarm{string(a.ID), string(a.Priority), a.Text, string(a.Point), a.Value, a.Since.UTC()})
	}
	return m
}

func post(ctx context.Context, to, token string, body []byte, header map[string]string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range header {
		q.Header.Set(name, value)
	}
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r, err := client.Do(q)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<16))
	if err = errors.Join(err, r.Body.Close()); err == nil && r.StatusCode/100 != 2 {
		err = fmt.Errorf("%s answers %s", q.URL.Host, r.Status)
	}
	return err
}

// sendMail sends an e-mail (RFC 5321), encrypted if the server offers that. A password is sent only encrypted or to this machine.
func sendMail(ctx context.Context, c *Contact, password, subject, text string) (err error) {
	host, _, _ := net.SplitHostPort(c.Server)
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.Server)
	if err != nil {
		return err
	}
	if deadline, is := ctx.Deadline(); is {
		_ = conn.SetDeadline(deadline) // a connection that was just made takes it
	}
	s, err := smtp.NewClient(conn, host)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	defer func() { _ = s.Close() }()
	if is, _ := s.Extension("STARTTLS"); is {
		if err := s.StartTLS(&tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}); err != nil {
			return err
		}
	}
	if password != "" {
		if err := s.Auth(smtp.PlainAuth("", cmp.Or(c.User, c.From), password, host)); err != nil {
			return err
		}
	}
	from, _ := mail.ParseAddress(c.From) // the plan was validated
	to, _ := mail.ParseAddress(c.To)
	if err := errors.Join(s.Mail(from.Address), s.Rcpt(to.Address)); err != nil {
		return err
	}
	w, err := s.Data()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n%s",
		from, to, mime.QEncoding.Encode("utf-8", subject), time.Now().Format(time.RFC1123Z), strings.ReplaceAll(text, "\n", "\r\n"))
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	return s.Quit()
}
