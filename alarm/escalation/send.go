package escalation

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"voltbus/alarm"
	"voltbus/mail"
	"voltbus/webpush"
)

// validate returns what is wrong with a contact.
func (c *Contact) validate(i int) error {
	field := func(name string) string { return fmt.Sprintf("contacts[%d].%s", i, name) }
	for name, file := range map[string]string{"secret": c.Secret, "ca": c.CA} {
		if file != "" && (filepath.Base(file) != file || strings.HasPrefix(file, ".")) {
			return wrong(field(name), "%.80q is not the name of a file in the folder alarm-secrets", file)
		}
	}
	checks := map[string]func(func(string) string) error{
		ByEmail: c.checkMail, ByWebhook: c.checkURL, ByNtfy: c.checkURL, ByMQTT: c.checkTopic, ByPush: c.checkAccount,
	}
	check, is := checks[c.By]
	if !is {
		return wrong(field("by"), "%.40q is not known; write %s, %s, %s, %s or %s", c.By, ByEmail, ByWebhook, ByNtfy, ByMQTT, ByPush)
	}
	return check(field)
}

func (c *Contact) checkMail(field func(string) string) error {
	for name, address := range map[string]string{"to": c.To, "from": c.From} {
		if err := mail.Validate(address); err != nil {
			return wrong(field(name), "%w", err)
		}
	}
	if _, _, err := net.SplitHostPort(c.Server); err != nil {
		return wrong(field("server"), "%.80q is not host:port of an SMTP server, such as mail.example.org:587", c.Server)
	}
	return nil
}

func (c *Contact) checkURL(field func(string) string) error {
	u, err := url.Parse(c.To)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return wrong(field("to"), "write an http or https address without a password; put a token into secret")
	}
	return nil
}

func (c *Contact) checkTopic(field func(string) string) error {
	if c.To == "" || len(c.To) > mostTopic || strings.ContainsAny(c.To, "#+\x00") || strings.HasPrefix(c.To, "$") {
		return wrong(field("to"), "%.80q is not a topic; write one without # and +, such as plant/alarms", c.To)
	}
	if _, _, err := net.SplitHostPort(strings.TrimPrefix(c.Server, secureScheme)); c.Server != "" && err != nil {
		return wrong(field("server"), "%.80q is not host:port or mqtts://host:port of a broker; leave it out for the node's own", c.Server)
	}
	return nil
}

func (c *Contact) checkAccount(field func(string) string) error {
	if c.To == "" || len(c.To) > mostAccount {
		return wrong(field("to"), "write the name of the account whose browsers are told")
	}
	return nil
}

const (
	mostTopic   = 1024
	mostAccount = 200
)

// sendTime bounds one attempt.
const sendTime = 20 * time.Second

// mostLines bounds the alarms in one message; the others are counted.
const mostLines = 20

// letter is a message in the forms that contacts take.
type letter struct {
	subject, text string
	message       Message
}

func letterOf(node string, list []alarm.Shown) letter {
	subject, text := words(node, list)
	return letter{subject, text, message(node, list)}
}

// send tells a contact of a letter.
func (e *Escalation) send(ctx context.Context, plan *Plan, c *Contact, l *letter) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	secret, err := e.secret(c.Secret)
	if err != nil {
		return err
	}
	body, err := json.Marshal(l.message)
	if err != nil {
		return err
	}
	switch c.By {
	case ByEmail:
		return e.sendMail(ctx, c, secret, l)
	case ByNtfy:
		return post(ctx, c.To, secret, []byte(l.text), map[string]string{"Title": mime.QEncoding.Encode("utf-8", l.subject), "Priority": "high"})
	case ByMQTT:
		return e.publish(ctx, c, secret, body)
	case ByPush:
		return e.push(ctx, plan, c, l)
	}
	return post(ctx, c.To, secret, body, map[string]string{"Content-Type": "application/json"})
}

// push tells the browsers of a person. Whoever has no account any more is told of nothing.
func (e *Escalation) push(ctx context.Context, plan *Plan, c *Contact, l *letter) error {
	if e.o.Known != nil {
		if is, err := e.o.Known(ctx, c.To); err != nil || !is {
			return cmp.Or(err, fmt.Errorf("there is no account %.80q", c.To))
		}
	}
	return e.o.Devices.Push(ctx, plan.Push, c.To, &webpush.Note{Title: l.subject, Text: l.text, Time: e.o.Now().UTC(), Topic: "alarms"})
}

// secret is the content of a file in the folder of secrets; empty for none.
func (e *Escalation) secret(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	data, err := os.ReadFile(filepath.Join(e.o.Secrets, file))
	return strings.TrimSpace(string(data)), err
}

// authorities are those of a contact's server; nil for those of the system.
func (e *Escalation) authorities(c *Contact) (*x509.CertPool, error) {
	pem, err := e.secret(c.CA)
	if err != nil || c.CA == "" {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(pem)) {
		return nil, fmt.Errorf("the file %s in alarm-secrets has no certificate in PEM", c.CA)
	}
	return pool, nil
}

// Mail sends a letter to a contact of the plan that has an address of e-mail; To of the letter is filled in.
func (e *Escalation) Mail(ctx context.Context, contact string, l mail.Letter) error {
	plan := e.o.Plan()
	i := slices.IndexFunc(plan.Contacts, func(c Contact) bool { return c.Name == contact && c.By == ByEmail })
	if i < 0 {
		return wrong("contacts", "%.40q is no contact with by: email in the document escalation", contact)
	}
	c := &plan.Contacts[i]
	ctx, cancel := context.WithTimeout(ctx, mailTime)
	defer cancel()
	password, err := e.secret(c.Secret)
	if err != nil {
		return err
	}
	return e.post(ctx, c, password, &l)
}

// mailTime bounds one letter with files.
const mailTime = 2 * time.Minute

func (e *Escalation) sendMail(ctx context.Context, c *Contact, password string, l *letter) error {
	return e.post(ctx, c, password, &mail.Letter{Subject: l.subject, Text: l.text})
}

// post sends a letter to a contact by its server.
func (e *Escalation) post(ctx context.Context, c *Contact, password string, l *mail.Letter) error {
	pool, err := e.authorities(c)
	if err != nil {
		return err
	}
	s := mail.Server{Address: c.Server, From: c.From, User: c.User, Password: password, Authorities: pool}
	l.To = c.To
	return s.Send(ctx, l)
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

// Message is what a webhook receives, and the subscribers of a topic.
type Message struct {
	Node   string  `json:"node"`
	Alarms []Alarm `json:"alarms"`
	Test   bool    `json:"test,omitempty"` // somebody tries whether messages arrive
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
