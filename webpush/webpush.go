// Package webpush sends messages to browsers that are closed: Web Push (RFC 8030), encrypted for the browser (RFC 8291) and signed with a key of the node's
// own (RFC 8292), so that the push service of the browser's maker can read nothing and needs no account. It keeps which devices of which people asked for that.
package webpush

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
)

// Setting turns pushes on.
type Setting struct {
	// Contact is whom the push services may write to about the messages of this node: a mailto: or https: address.
	Contact string `json:"contact"`
	// Services are the hosts of push services, with their subdomains; those of the known browsers if left out.
	Services []string `json:"services,omitempty"`
}

// services are those of Chrome and its relatives, Firefox, Safari and Edge.
func services() []string {
	return []string{"fcm.googleapis.com", "push.services.mozilla.com", "web.push.apple.com", "notify.windows.com"}
}

const mostServices = 20

// Validate returns what is wrong with a setting.
func (s *Setting) Validate() error {
	u, err := url.Parse(s.Contact)
	if err != nil || (u.Scheme != "mailto" && u.Scheme != "https") || u.Opaque+u.Host == "" || len(s.Contact) > 200 {
		return fmt.Errorf("contact: %.80q is not an address; write one such as mailto:shift@example.org, to which a push service may write", s.Contact)
	}
	for _, host := range s.Services {
		if u, err := url.Parse("https://" + host); err != nil || u.Host != host || host == "" {
			return fmt.Errorf("services: %.80q is not a host; write one such as push.example.org", host)
		}
	}
	if len(s.Services) > mostServices {
		return fmt.Errorf("services: at most %d are possible", mostServices)
	}
	return nil
}

// allows returns why no message goes to an endpoint: everybody who may log in names one, so that it must not be any address that the node can reach.
func (s *Setting) allows(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(endpoint) > mostEndpoint {
		return nil, errors.New("the endpoint of the subscription is not an https address")
	}
	list := s.Services
	if len(list) == 0 {
		list = services()
	}
	if !slices.ContainsFunc(list, func(host string) bool { return u.Host == host || strings.HasSuffix(u.Host, "."+host) }) {
		return nil, fmt.Errorf("%.80q is not a push service that this node knows; an engineer can add it to push.services in the document escalation", u.Host)
	}
	return u, nil
}

// Note is what a device shows.
type Note struct {
	Title string    `json:"title"`
	Text  string    `json:"text"`
	Time  time.Time `json:"time"`
	// Topic names notes that replace each other on the device.
	Topic string `json:"topic"`
}

const (
	mostTitle = 200
	// keep is how long a push service keeps a message for a device that is off: somebody who turns the phone on learns of the night.
	keep = 12 * time.Hour
)

// errGone is the answer of a push service that does not know the subscription any more (RFC 8030, 7.3).
var errGone = errors.New("the device does not take pushes any more")

// Push sends a note to all devices of a person. It is an error if none takes it; devices that are gone are forgotten.
func (r *Registry) Push(ctx context.Context, s *Setting, person string, n *Note) error {
	list := r.Of(person)
	if len(list) == 0 {
		return fmt.Errorf("no device of %s takes pushes; %s turns that on at the device, on the screen Alarms", person, person)
	}
	text, err := body(n)
	if err != nil {
		return err
	}
	taken, problems, gone := 0, []error(nil), []string(nil)
	for i := range list {
		switch err := r.send(ctx, s, &list[i], text); {
		case err == nil:
			taken++
		case errors.Is(err, errGone):
			gone = append(gone, list[i].ID)
			problems = append(problems, fmt.Errorf("%s: %w", list[i].Name, err))
		default:
			problems = append(problems, fmt.Errorf("%s: %w", list[i].Name, err))
		}
	}
	if err := r.forget(gone); err != nil {
		problems = append(problems, err)
	}
	if taken > 0 {
		return nil
	}
	return errors.Join(problems...)
}

// body is a note as JSON that fits into a message.
func body(n *Note) ([]byte, error) {
	short := *n
	short.Title = cut(n.Title, mostTitle)
	for most := len(n.Text); ; most -= most/8 + 1 {
		short.Text = cut(n.Text, most)
		text, err := json.Marshal(&short)
		if err != nil || len(text) <= MostText || most == 0 {
			return text, err
		}
	}
}

// cut shortens a text to so many bytes, at a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:max(0, most-len("…"))], "") + "…"
}

// send sends a message to a device.
func (r *Registry) send(ctx context.Context, s *Setting, d *Device, text []byte) error {
	u, err := s.allows(d.Endpoint)
	if err != nil {
		return err
	}
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // it never fails
	sealed, err := encrypt(text, &d.Keys, own, salt)
	if err != nil {
		return err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, d.Endpoint, bytes.NewReader(sealed))
	if err != nil {
		return err
	}
	who, err := r.identity.authorization(u, s.Contact, r.o.Now())
	if err != nil {
		return err
	}
	q.Header = http.Header{
		"Authorization": {who}, "Content-Encoding": {"aes128gcm"}, "Content-Type": {"application/octet-stream"},
		"Ttl": {strconv.Itoa(int(keep / time.Second))}, "Urgency": {"high"},
	}
	answer, err := r.client().Do(q)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16))
	return errors.Join(verdict(u.Host, answer), err, answer.Body.Close())
}

// verdict is what an answer of a push service says (RFC 8030, 5 and 8.4).
func verdict(host string, a *http.Response) error {
	switch {
	case a.StatusCode/100 == 2:
		return nil
	case a.StatusCode == http.StatusNotFound || a.StatusCode == http.StatusGone:
		return errGone
	case a.StatusCode == http.StatusTooManyRequests && a.Header.Get("Retry-After") != "":
		return fmt.Errorf("the push service %s has had too many messages, and asks to wait for %.40s s", host, a.Header.Get("Retry-After"))
	}
	return fmt.Errorf("the push service %s answers %s", host, a.Status)
}

func (r *Registry) client() *http.Client {
	transport := &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	if r.o.TLS != nil {
		transport.TLSClientConfig = r.o.TLS.Clone()
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func wrong(format string, args ...any) error {
	return fault.E("webpush.Add", fault.Invalid, "subscription", fmt.Errorf(format, args...))
}
