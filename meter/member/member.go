// Package member asks other members of a cluster of metering data systems, over their API and with the token that each issued to this
// node, and notices which of them are away.
package member

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/meter/setting"
	"voltbus/operation/metering"
	"voltbus/operation/metering/account"
)

// Member is another member. It is safe for concurrent use.
type Member struct {
	setting   setting.Member
	transport *http.Transport
	now       func() time.Time

	mu    sync.Mutex
	token string
	since time.Time // of the first failure in a row; zero while it answers
	why   string
}

// New returns a member. It dials nobody.
func New(s setting.Member, timeout time.Duration, now func() time.Time) (*Member, error) { //nolint:gocritic // once a start
	m := &Member{setting: s, now: now, transport: &http.Transport{
		MaxIdleConnsPerHost: mostIdle, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: timeout, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}}
	if s.CAFile != "" {
		pem, err := os.ReadFile(s.CAFile)
		if err != nil {
			return nil, fault.E("member.New", fault.Invalid, s.Name, err)
		}
		m.transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !m.transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fault.E("member.New", fault.Invalid, s.Name, fmt.Errorf("%s holds no certificate in PEM", s.CAFile))
		}
	}
	return m, nil
}

// mostIdle is how many connections stay open between requests.
const mostIdle = 4

// Close lets go of connections.
func (m *Member) Close() { m.transport.CloseIdleConnections() }

// Away returns since when the member did not answer, and why; zero while it does.
func (m *Member) Away() (since time.Time, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.since, m.why
}

// Ask has the member do an operation. The error says that it did not answer; what it says of the operation is in the answer.
func (m *Member) Ask(ctx context.Context, r metering.MemberRequest) (account.MeterMemberAnswer, error) { //nolint:gocritic // the arguments of an operation
	token, err := m.secret(false)
	var got account.MeterMemberAnswer
	if err == nil {
		got, err = m.ask(ctx, token, r)
	}
	if fault.Is(err, fault.Refused) {
		if fresh, unreadable := m.secret(true); unreadable == nil && fresh != token {
			got, err = m.ask(ctx, fresh, r)
		}
	}
	m.note(ctx, err)
	return got, err
}

func (m *Member) ask(ctx context.Context, token string, r metering.MemberRequest) (account.MeterMemberAnswer, error) { //nolint:gocritic // as Ask
	c, err := client.New(m.setting.URL, token, m.transport)
	if err != nil {
		return account.MeterMemberAnswer{}, err
	}
	return client.Do(ctx, c, metering.Member, r)
}

// note remembers whether the member answered. That a caller gave up says nothing.
func (m *Member) note(ctx context.Context, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err == nil:
		m.since, m.why = time.Time{}, ""
	case errors.Is(ctx.Err(), context.Canceled):
	default:
		if m.why = reason(err); m.since.IsZero() {
			m.since = m.now()
		}
	}
}

// reason is an error without the operation in which it came up.
func reason(err error) string {
	if e, is := errors.AsType[*fault.Error](err); is && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

// secret returns the token; fresh reads its file anew.
func (m *Member) secret(fresh bool) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.token != "" && !fresh {
		return m.token, nil
	}
	data, err := os.ReadFile(m.setting.TokenFile)
	if err != nil {
		return "", fault.E("member.Ask", fault.Unavailable, m.setting.Name, fmt.Errorf("the token cannot be read: %w", err))
	}
	m.token = strings.TrimSpace(string(data))
	return m.token, nil
}
