package openadr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
)

// Config says where a server is and who the client is.
type Config struct {
	URL    string       // of the API, such as https://vtn.example/openadr3/3.1.0
	Token  string       // URL of the token endpoint; "" for auth/token below URL
	ID     string       // of the client; "" for a server that answers everybody
	Secret string       // of the client
	HTTP   *http.Client // nil for one with a time limit of 30 s
	Now    func() time.Time
}

// Client asks a server. It is safe for concurrent use.
type Client struct {
	c    Config
	base *url.URL

	mu    sync.Mutex // of what follows
	token string
	until time.Time
}

// patience is how long a request may take.
const patience = 30 * time.Second

// New returns a client. It fails with fault.Invalid if the address is wrong, or would send the secret in clear to another machine.
func New(c Config) (*Client, error) {
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: patience}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	base, err := address(c.URL)
	if err != nil {
		return nil, err
	}
	if c.Token == "" {
		c.Token = base.JoinPath("auth", "token").String()
	}
	if _, err := address(c.Token); err != nil {
		return nil, err
	}
	return &Client{c: c, base: base}, nil
}

func address(text string) (*url.URL, error) {
	wrong := func(format string, args ...any) error {
		return fault.E("openadr.New", fault.Invalid, text, fmt.Errorf(format, args...))
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, wrong("write an address such as https://vtn.example/openadr3/3.1.0")
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, wrong("http would send the secret in clear; write https")
	}
	return u, nil
}

// page is how many objects are asked for at once, the most that servers give.
const page = 50

// mostPages bounds what a server can make a client fetch.
const mostPages = 1000

// Programs returns the programs of a name; "" for all that the client may see.
func (c *Client) Programs(ctx context.Context, name string) ([]Program, error) {
	all, err := list[Program](ctx, c, "programs", url.Values{})
	if err != nil || name == "" {
		return all, err
	}
	var found []Program
	for _, p := range all {
		if p.Name == name {
			found = append(found, p)
		}
	}
	return found, nil
}

// Events returns the events of a program; "" for those of all programs.
func (c *Client) Events(ctx context.Context, programID string) ([]Event, error) {
	q := url.Values{}
	if programID != "" {
		q.Set("programID", programID)
	}
	return list[Event](ctx, c, "events", q)
}

// list gets all pages of a collection.
func list[T any](ctx context.Context, c *Client, path string, q url.Values) ([]T, error) {
	var all []T
	for range mostPages {
		q.Set("skip", strconv.Itoa(len(all)))
		q.Set("limit", strconv.Itoa(page))
		var some []T
		if err := c.do(ctx, http.MethodGet, path+"?"+q.Encode(), nil, &some); err != nil {
			return nil, err
		}
		all = append(all, some...)
		if len(some) < page {
			return all, nil
		}
	}
	return nil, fault.E("openadr."+path, fault.Rejected, c.c.URL, fmt.Errorf("the server has more than %d; ask for one program", mostPages*page))
}

// Subscription has the server tell of events.
type Subscription struct {
	ID string `json:"id"`
}

// Subscribe asks the server to post to a callback, with a bearer token, when events of a program change. Version 3.1 of the API needs no program.
func (c *Client) Subscribe(ctx context.Context, client, programID, callback, bearer string) (*Subscription, error) {
	type operation struct {
		Objects    []string `json:"objects"`
		Operations []string `json:"operations"`
		Mechanism  string   `json:"mechanism,omitempty"`
		Callback   string   `json:"callbackUrl"`
		Bearer     string   `json:"bearerToken,omitempty"`
	}
	ask := struct {
		Client     string      `json:"clientName"`
		Program    string      `json:"programID,omitempty"`
		Operations []operation `json:"objectOperations"`
	}{client, programID, []operation{{[]string{"EVENT"}, []string{"CREATE", "UPDATE", "DELETE"}, "WEBHOOK", callback, bearer}}}
	if strings.Contains(c.base.Path, "/3.0") {
		ask.Operations[0].Mechanism = "" // which 3.0 does not know
	}
	s := &Subscription{}
	return s, c.do(ctx, http.MethodPost, "subscriptions", ask, s)
}

// Unsubscribe ends a subscription.
func (c *Client) Unsubscribe(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, "subscriptions/"+url.PathEscape(id), nil, nil)
}

// do asks once, and once more with a new token if the server does not take the one that the client had.
func (c *Client) do(ctx context.Context, method, path string, body, into any) error {
	for again := true; ; again = false {
		err := c.once(ctx, method, path, body, into)
		if !again || c.c.ID == "" || !errors.Is(err, errToken) {
			return err
		}
		c.mu.Lock()
		c.token = ""
		c.mu.Unlock()
	}
}

func (c *Client) once(ctx context.Context, method, path string, body, into any) error {
	var in io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(data)
	}
	path, query, _ := strings.Cut(path, "?")
	u := c.base.JoinPath(path)
	u.RawQuery = query
	req, err := http.NewRequestWithContext(ctx, method, u.String(), in)
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	token, err := c.bearer(ctx)
	if err != nil {
		return err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return c.answer(req, into)
}

// bearer returns a token that holds, or gets one (RFC 6749, 4.4).
func (c *Client) bearer(ctx context.Context) (string, error) {
	if c.c.ID == "" {
		return "", nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token != "" && c.c.Now().Before(c.until) {
		return c.token, nil
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.c.ID}, "client_secret": {c.c.Secret}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.c.Token, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var got struct {
		Token   string  `json:"access_token"`
		Kind    string  `json:"token_type"`
		Expires float64 `json:"expires_in"` // s
	}
	if err := c.answer(req, &got); err != nil {
		return "", err
	}
	if got.Token == "" || !strings.EqualFold(got.Kind, "bearer") {
		return "", fault.E("openadr.Token", fault.Corrupt, c.c.Token, fmt.Errorf("the answer has no bearer token, but one of kind %q", got.Kind))
	}
	const early, unknown = 0.9, 300 // a new one is there before the old one ends
	if got.Expires <= 0 {
		got.Expires = unknown
	}
	c.token, c.until = got.Token, c.c.Now().Add(time.Duration(early*got.Expires*float64(time.Second)))
	return c.token, nil
}

// largest is how many bytes of an answer are read.
const largest = 32 << 20

// answer sends a request and decodes what comes.
func (c *Client) answer(req *http.Request, into any) error {
	req.Header.Set("Accept", "application/json")
	op, where := "openadr."+req.Method, req.URL.Redacted()
	res, err := c.c.HTTP.Do(req)
	if err != nil {
		return fault.E(op, fault.Unreachable, where, err)
	}
	defer func() { _ = res.Body.Close() }() // it was read
	data, err := io.ReadAll(io.LimitReader(res.Body, largest))
	if err != nil {
		return fault.E(op, fault.Unreachable, where, err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		why := fmt.Errorf("%s%s", res.Status, reason(data))
		if res.StatusCode == http.StatusUnauthorized {
			why = fmt.Errorf("%w: %w", errToken, why)
		}
		return fault.E(op, kindOf(res.StatusCode), where, why)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fault.E(op, fault.Corrupt, where, fmt.Errorf("the answer is not what OpenADR 3 says: %w", err))
	}
	return nil
}

func kindOf(status int) fault.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Refused
	case http.StatusNotFound:
		return fault.NotFound
	case http.StatusConflict:
		return fault.Conflict
	}
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		return fault.Unavailable
	}
	return fault.Rejected
}

// reason returns what a problem (RFC 7807) or an error of OAuth says.
func reason(data []byte) string {
	var p struct {
		Title, Detail string
		Error         string `json:"error"`
		Description   string `json:"error_description"`
	}
	if json.Unmarshal(data, &p) != nil {
		return ""
	}
	for _, text := range []string{p.Detail, p.Description, p.Title, p.Error} {
		if text != "" {
			return ": " + text
		}
	}
	return ""
}

// What is wrong with a request.
var (
	errToken     = errors.New("the server does not take the token, or the id and secret of the client")
	errNoProgram = errors.New("the server has no program of this name, or the client may not see it")
)
