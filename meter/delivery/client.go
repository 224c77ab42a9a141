package delivery

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"voltbus/internal/xmlpull"
	"voltbus/meter/message"
	"voltbus/meter/message/soap"
	"voltbus/meter/setting"
)

// mostAnswer is how many bytes of an answer are read: a bulk of 100,000 readings that are all refused has fewer.
const mostAnswer = 32 << 20

// answerDepth is how deep an answer in XML may be.
const answerDepth = 16

// trouble is why a request came to nothing.
type trouble struct {
	why   string
	pause time.Duration // that the system asks for
	// whole says that the system refuses this message as it stands: it may take parts of it.
	whole bool
	// login says that it refuses the token.
	login bool
}

// Error implements error.
func (t *trouble) Error() string { return t.why }

// client is the way to one system. It is safe for concurrent use.
type client struct {
	url  string
	told string // for events
	file string // of the token
	form string
	http *http.Client
	// digest is that of the cluster whose member the system is; "" for none.
	digest string

	mu    sync.Mutex
	token string
}

// Passing is the form of readings that a member of a cluster passes on to another: a block, with their senders.
const Passing = "passing"

// ClusterHeader says in which cluster the sender of a message believes to be, see cluster.Members.Digest.
const ClusterHeader = "Voltbus-Cluster"

// pathOf returns the path of this program's web service, by form.
func pathOf(form string) string {
	const api = "/api/v1/metering/"
	switch form {
	case Passing:
		return api + "cluster/readings"
	case "json":
		return api + "readings"
	case "csv", "cim":
		return api + "messages"
	case "events":
		return api + "events"
	}
	return api + "soap"
}

func newClient(s *setting.System, c *setting.Concentrator) (*client, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	told := *u
	if u.Path == "" || u.Path == "/" {
		u.Path, told.Path = pathOf(c.Form), eventPathOf(c.Form)
	}
	transport := &http.Transport{
		DisableKeepAlives: !c.Kept, MaxIdleConnsPerHost: c.Parallel, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: c.Timeout,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, DisableCompression: true,
	}
	if s.CAFile != "" {
		pem, err := os.ReadFile(s.CAFile)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM", s.CAFile)
		}
	}
	return &client{url: u.String(), told: told.String(), file: s.TokenFile, form: c.Form, http: &http.Client{
		Transport: transport, Timeout: c.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is for this address alone
	}}, nil
}

// close lets go of connections.
func (c *client) close() { c.http.CloseIdleConnections() }

// secret returns the token; fresh reads its file anew.
func (c *client) secret(fresh bool) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == "" || c.token != "" && !fresh {
		return c.token, nil
	}
	data, err := os.ReadFile(c.file)
	if err != nil {
		return "", &trouble{why: "the token cannot be read: " + err.Error()}
	}
	c.token = strings.TrimSpace(string(data))
	return c.token, nil
}

// post sends a cargo and returns what the system says of it. An error is a *trouble, or that of ctx.
func (c *client) post(ctx context.Context, list cargo) (*message.Answer, error) {
	q, err := list.request(c)
	if err != nil {
		return nil, &trouble{why: err.Error(), whole: true}
	}
	token, err := c.secret(false)
	if err != nil {
		return nil, err
	}
	a, err := c.ask(ctx, token, q)
	t, is := errors.AsType[*trouble](err)
	if !is || !t.login {
		return c.checked(a, err, list.size())
	}
	fresh, unreadable := c.secret(true)
	if unreadable != nil || fresh == token {
		return nil, err
	}
	a, err = c.ask(ctx, fresh, q)
	return c.checked(a, err, list.size())
}

// checked refuses an answer that cannot be one to so many readings.
func (c *client) checked(a *message.Answer, err error, readings int) (*message.Answer, error) {
	if err != nil {
		return nil, err
	}
	if err := a.Check(readings); err != nil {
		return nil, &trouble{why: err.Error()}
	}
	return a, nil
}

func (c *client) ask(ctx context.Context, token string, r request) (*message.Answer, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(r.body))
	if err != nil {
		return nil, &trouble{why: err.Error()}
	}
	q.Header.Set("Content-Type", r.media)
	if c.form == "soap" {
		q.Header.Set("SOAPAction", `"`+r.action+`"`)
	}
	if c.digest != "" {
		q.Header.Set(ClusterHeader, c.digest)
	}
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	got, err := c.http.Do(q)
	if err != nil {
		return nil, &trouble{why: "it does not answer: " + reason(err)}
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(got.Body, mostAnswer+1))
	switch {
	case err != nil:
		return nil, &trouble{why: "its answer broke off: " + reason(err)}
	case len(text) > mostAnswer:
		return nil, &trouble{why: "its answer is too long"}
	}
	return c.read(got, text)
}

// reason leaves the address out of an error of HTTP, as the list of systems shows it.
func reason(err error) string {
	if u, is := errors.AsType[*url.Error](err); is {
		err = u.Err
	}
	return err.Error()
}

// read reads an answer.
func (c *client) read(got *http.Response, text []byte) (*message.Answer, error) {
	soaps := c.form == "soap" || c.form == "soap12"
	media := got.Header.Get("Content-Type")
	isXML := strings.HasPrefix(media, "text/xml") || strings.HasPrefix(media, "application/soap+xml")
	if soaps && isXML && (got.StatusCode < 300 || got.StatusCode == http.StatusBadRequest || got.StatusCode == http.StatusInternalServerError) {
		a, err := soap.ReadAnswer(text, xmlpull.Limits{Depth: answerDepth})
		if f, is := errors.AsType[*soap.Fault](err); is {
			return nil, &trouble{why: "it answers with a fault: " + clip(f.Reason), whole: f.Code == "Sender"}
		}
		return a, garbage(err)
	}
	switch s := got.StatusCode; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return nil, &trouble{why: "it refuses the token: " + status(got, text), login: true}
	case s == http.StatusBadRequest || s == http.StatusRequestEntityTooLarge || s == http.StatusUnprocessableEntity:
		return nil, &trouble{why: "it refuses the message: " + status(got, text), whole: true}
	case s != http.StatusOK:
		return nil, &trouble{why: "it answers " + status(got, text), pause: pauseOf(got)}
	case soaps:
		return nil, &trouble{why: fmt.Sprintf("its answer is of the type %q, where SOAP is expected", clip(media))}
	}
	a, err := message.ReadAnswer(text)
	return a, garbage(err)
}

func garbage(err error) error {
	if err == nil {
		return nil
	}
	return &trouble{why: "its answer cannot be read: " + clip(err.Error())}
}

// status says with which status a system answered, and in what words.
func status(got *http.Response, text []byte) string {
	words := strings.TrimSpace(string(text))
	if words == "" {
		return got.Status
	}
	return got.Status + ": " + clip(words)
}

// mostWords is how much of another's words is repeated.
const mostWords = 300

func clip(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) > mostWords {
		s = strings.ToValidUTF8(s[:mostWords], "") + "…"
	}
	return s
}

// pauseOf returns how long a system asks to wait.
func pauseOf(got *http.Response) time.Duration {
	seconds, err := strconv.Atoi(got.Header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > 24*3600 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
