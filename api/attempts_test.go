package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/api"
	"voltbus/api/login"
	"voltbus/fault"
	"voltbus/identity"
)

// tried is how a login ended.
type tried struct {
	status  int
	header  http.Header
	cookies []*http.Cookie
}

// guess logs in by name from an address, with the cookies that a browser has.
func (n *node) guess(from, name, secret string, cookies ...*http.Cookie) tried {
	n.t.Helper()
	r := httptest.NewRequestWithContext(n.t.Context(), http.MethodPost, "http://localhost/api/v1/session", strings.NewReader(`{"name":"`+name+`","password":"`+secret+`"}`))
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = from
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	n.server.Config.Handler.ServeHTTP(w, r)
	resp := w.Result()
	defer resp.Body.Close()
	return tried{w.Code, w.Header(), resp.Cookies()}
}

type logins = login.People

// counted counts the passwords that are judged, and lets each wait until it is told.
type counted struct {
	logins
	judged atomic.Int64
	hold   chan struct{} // nil: nobody waits
}

func (c *counted) LoginByName(ctx context.Context, name, password string) (string, identity.Credential, error) {
	c.judged.Add(1)
	if c.hold != nil {
		<-c.hold
		return "", identity.Credential{}, fault.E("counted", fault.Refused, "", errors.New("wrong"))
	}
	return c.logins.LoginByName(ctx, name, password)
}

// storm sends guesses at once, and returns how many were judged.
func storm(t *testing.T, guesses int, from func(i int) (address, name string)) int64 {
	c := &counted{hold: make(chan struct{})}
	n := start(t, func(cfg *api.Config) { c.logins, cfg.People = cfg.People, c })
	var sent sync.WaitGroup
	answered := make(chan int, guesses)
	for i := range guesses {
		sent.Go(func() {
			address, name := from(i)
			answered <- n.guess(address, name, "wrong wrong wrong").status
		})
	}
	refused := 0
	for range guesses - 16 { // as many as may be judged at a time at most; these are held
		if status := <-answered; status != http.StatusTooManyRequests {
			t.Fatalf("a guess gives %d", status)
		}
		refused++
	}
	close(c.hold)
	sent.Wait()
	return c.judged.Load()
}

func TestAttackGuessesAtOnceAreCountedBeforeTheyAreJudged(t *testing.T) {
	if n := storm(t, 400, func(int) (string, string) { return "192.0.2.1:1", "ada" }); n > 6 {
		t.Errorf("of 400 guesses at once %d were judged", n)
	}
	if n := storm(t, 400, func(i int) (string, string) { return "192.0.2.1:1", fmt.Sprint("name", i) }); n > 10 {
		t.Errorf("of 400 guesses for as many names from one address %d were judged", n)
	}
	if n := storm(t, 400, func(i int) (string, string) { return fmt.Sprintf("192.0.%d.%d:1", i/200, i%200), fmt.Sprint("name", i) }); n > 16 {
		t.Errorf("of 400 guesses from as many addresses %d were judged at once", n)
	}
}

func TestAttackStrangersLockNobodyOut(t *testing.T) {
	n := start(t)
	n.put("people/ada", `{"role":"viewer","password":"`+password+`"}`)
	n.put("people/eve", `{"role":"viewer","password":"`+password+`"}`)
	home := n.guess("192.0.2.1:1", "Ada", password)
	other := n.guess("192.0.2.2:1", "eve", password)
	if home.status != 204 || len(home.cookies) != 2 {
		t.Fatalf("a login gives %d and %v", home.status, home.cookies)
	}
	for i := range 100 { // a crowd that tries one name
		n.guess(fmt.Sprintf("198.51.100.%d:1", i), "ada", "wrong wrong wrong")
	}
	late := n.guess("203.0.113.1:1", "ada", password)
	if late.status != 429 || late.header.Get("Retry-After") == "" {
		t.Errorf("from an address that nobody knows the right one gives %d: the name has no bound", late.status)
	}
	if got := n.guess("192.0.2.1:77", "ada", password); got.status != 204 {
		t.Errorf("from an address of hers it gives %d", got.status)
	}
	if got := n.guess("203.0.113.2:1", "ada", password, home.cookies...); got.status != 204 {
		t.Errorf("from a browser of hers at another address it gives %d", got.status)
	}
	if got := n.guess("203.0.113.3:1", "ada", password, other.cookies...); got.status != 429 {
		t.Errorf("with the browser of somebody else it gives %d", got.status)
	}
	for range 20 { // somebody behind the same proxy
		n.guess("192.0.2.1:1", "ada", "wrong wrong wrong")
	}
	if got := n.guess("192.0.2.1:1", "ada", password, home.cookies...); got.status != 204 {
		t.Errorf("while her address is used up her browser gives %d", got.status)
	}
}

func TestAttackAKnownBrowserIsNoWayAround(t *testing.T) {
	n := start(t)
	n.put("people/ada", `{"role":"viewer","password":"`+password+`"}`)
	cookies := n.guess("192.0.2.1:1", "ada", password).cookies
	judged := 0
	for i := range 100 {
		if n.guess(fmt.Sprintf("198.51.100.%d:1", i), "ada", "wrong wrong wrong", cookies...).status == 401 {
			judged++
		}
	}
	if judged != 10 {
		t.Errorf("one browser tried %d passwords from as many addresses", judged)
	}
	n.clock.advance(31 * 24 * time.Hour)
	forged := *cookies[0]
	for _, c := range cookies {
		if c.Name == login.BrowserCookie {
			forged = *c
		}
	}
	forged.Value = strings.Repeat("A", len(forged.Value))
	for i := range 40 {
		n.guess(fmt.Sprintf("198.51.100.%d:1", i), "ada", "wrong wrong wrong", &forged)
	}
	for name, c := range map[string][]*http.Cookie{"a forged one": {&forged}, "one of a month ago": cookies} {
		if got := n.guess("203.0.113.1:1", "ada", password, c...); got.status != 429 {
			t.Errorf("%s gives %d", name, got.status)
		}
	}
}

func TestAttackOneAddressNeverUsesUpAName(t *testing.T) {
	n := start(t)
	n.put("people/ada", `{"role":"viewer","password":"`+password+`"}`)
	judged := 0
	for range 600 { // ten minutes
		n.clock.advance(time.Second)
		if n.guess("198.51.100.1:1", "ada", "wrong wrong wrong").status == 401 {
			judged++
		}
	}
	if judged < 6 || judged > 46 {
		t.Errorf("in ten minutes %d guesses were judged, want 6 and 4 a minute", judged)
	}
	if got := n.guess("192.0.2.1:1", "ada", password); got.status != 204 {
		t.Errorf("meanwhile the right password from elsewhere gives %d", got.status)
	}
}

func TestAttackANetworkOfIPv6IsOneAddress(t *testing.T) {
	n := start(t)
	judged := 0
	for i := range 100 {
		if n.guess(fmt.Sprintf("[2001:db8::%x]:1", i+1), "ada", "wrong wrong wrong").status == 401 {
			judged++
		}
	}
	if judged != 6 {
		t.Errorf("%d guesses from one network of 64 bits were judged", judged)
	}
}

// What was counted for one name must not be forgotten because many others are tried.
func TestAttackManyNamesDoNotResetTheCountOfOne(t *testing.T) {
	n := start(t)
	try := func(name string, i int) int {
		return n.guess(fmt.Sprintf("[2001:db8:%x:%x::1]:1", i>>16, i&0xffff), name, "wrong wrong wrong").status
	}
	c := &counted{hold: make(chan struct{})}
	close(c.hold)
	n = start(t, func(cfg *api.Config) { c.logins, cfg.People = cfg.People, c })
	for i := range 40 {
		try("ada", i)
	}
	for i := range 5000 {
		try(fmt.Sprint("name", i), 100+i)
	}
	if status := try("ada", 10_000); status != 429 {
		t.Errorf("after 5000 other names a guess gives %d", status)
	}
}

func TestAttackGuessesOfTheOldPasswordAreLimited(t *testing.T) {
	n := start(t)
	n.put("people/ada", `{"role":"viewer","password":"`+password+`"}`)
	_, ada := n.enter("ada", password)
	change := func(old string) int {
		return n.do("PUT", "/api/v1/session/password", `{"old":"`+old+`","new":"`+another+`"}`, ada).StatusCode
	}
	for range 10 {
		if got := change("wrong wrong wrong"); got != 403 {
			t.Fatalf("a wrong one gives %d", got)
		}
	}
	if got := change(password); got != 429 {
		t.Errorf("the eleventh gives %d", got)
	}
	n.clock.advance(4 * time.Second)
	if got := change(password); got != 204 {
		t.Errorf("a while later it gives %d", got)
	}
}
