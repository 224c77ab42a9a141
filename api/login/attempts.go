package login

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"voltbus/api/exchange"
	"voltbus/internal/admission"
)

// How many attempts may fail at once, and how soon one more is allowed. Users who have logged in before have a
// budget of their own, so that guesses by strangers lock nobody out.
const (
	attemptBurst = 10              // wrong secrets from one address, and from one browser that has logged in by the name
	attemptEvery = 3 * time.Second // and then one per interval
	pairBurst    = 6               // wrong passwords per name and address
	pairEvery    = 15 * time.Second
	nameBurst    = 30 // wrong passwords per name, from all addresses that never logged in with it
	nameEvery    = 10 * time.Second

	// hashingStrangers is how many passwords from addresses that never logged in with the name are hashed or queued at a time. More
	// wait at identity.Logins, for those who have.
	hashingStrangers = 16
)

var (
	errAttempts = errors.New("too many wrong tokens or passwords from this address; wait a few seconds")
	errGuessed  = errors.New("too many wrong passwords for this name; wait a few seconds, or log in with a browser that has logged in before")
	errHashing  = errors.New("too many people log in at this moment; try again in a few seconds")
)

// addressOf returns the address without the port.
func addressOf(remote string) string {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		return host
	}
	return remote
}

// networkOf returns the network whose addresses count as one.
func networkOf(remote string) string {
	if p := admission.ParseNetwork(remote); p.IsValid() {
		return p.String()
	}
	return addressOf(remote)
}

// buckets is how many accounts a limiter keeps. Keys that collide share a budget, which costs less than accounts
// that an attacker could evict by trying other names.
const buckets = 1 << 13

// limiter counts attempts by key, in constant memory. It is safe for concurrent use.
type limiter struct {
	every time.Duration
	burst float64
	seed  maphash.Seed

	mu    sync.Mutex
	debts [buckets]debt
}

// debt is the number of attempts not yet forgiven at a time.
type debt struct {
	attempts float64
	at       time.Time
}

func newLimiter(every time.Duration, burst int) *limiter {
	return &limiter{every: every, burst: float64(burst), seed: maphash.MakeSeed()}
}

// debt returns the current account of a key. The caller holds mu.
func (l *limiter) debt(key string, now time.Time) *debt {
	d := &l.debts[maphash.String(l.seed, key)%buckets]
	passed := max(0, now.Sub(d.at))
	d.attempts, d.at = max(0, d.attempts-float64(passed)/float64(l.every)), now
	return d
}

// take counts an attempt before it is checked; wait is how long until the next one is allowed, 0 if it was counted.
func (l *limiter) take(key string, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.debt(key, now)
	if over := d.attempts + 1 - l.burst; over > 0 {
		return time.Duration(math.Ceil(over * float64(l.every)))
	}
	d.attempts++
	return 0
}

// refund takes back an attempt that was right or that was not checked.
func (l *limiter) refund(key string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.debt(key, now)
	d.attempts = max(0, d.attempts-1)
}

// attempts admits logins. It is safe for concurrent use.
type attempts struct {
	addresses *limiter // all wrong secrets, by address
	pairs     *limiter // wrong passwords, by name and address
	names     *limiter // wrong passwords from addresses that were never right, by name
	browsers  *limiter // wrong passwords, by browsers that were right before
	strangers chan struct{}
	key       []byte // of the cookies that identify browsers that were right before

	mu    sync.Mutex
	right map[string]time.Time // pairs of name and address that were right
}

func newAttempts(key []byte) *attempts {
	if key == nil {
		key = make([]byte, sha256.Size)
		_, _ = rand.Read(key) // never fails, see its documentation
	}
	return &attempts{
		addresses: newLimiter(attemptEvery, attemptBurst), pairs: newLimiter(pairEvery, pairBurst), names: newLimiter(nameEvery, nameBurst),
		browsers: newLimiter(attemptEvery, attemptBurst), strangers: make(chan struct{}, hashingStrangers), key: key, right: map[string]time.Time{},
	}
}

// attempt is a presented password, counted before it is checked.
type attempt struct {
	of      *attempts
	name    string
	pair    string
	taken   []taken
	held    bool // it holds a place for strangers
	browser string
}

type taken struct {
	from *limiter
	key  string
}

// begin counts a password that a request presents for a name. An attempt must be ended. A caller who has to
// wait gets an error that tells how long.
func (a *attempts) begin(r *http.Request, name string, now time.Time) (*attempt, error) {
	network := networkOf(r.RemoteAddr)
	t := &attempt{of: a, name: name, pair: name + "\x00" + network, browser: a.browser(r, name, now)}
	list := []taken{{a.browsers, t.browser}}
	switch {
	case t.browser != "":
	case a.wasRight(t.pair, now): // others behind the same proxy do not use up this name's budget
		list = []taken{{a.pairs, t.pair}}
	default:
		list = []taken{{a.addresses, network}, {a.pairs, t.pair}, {a.names, name}}
	}
	for _, k := range list {
		if wait := k.from.take(k.key, now); wait > 0 {
			t.refund(now)
			if k.from == a.addresses {
				return nil, exchange.Later(wait, errAttempts)
			}
			return nil, exchange.Later(wait, errGuessed)
		}
		t.taken = append(t.taken, k)
	}
	if t.browser != "" {
		return t, nil
	}
	select {
	case a.strangers <- struct{}{}:
		t.held = true
		return t, nil
	default:
		t.refund(now)
		return nil, exchange.Later(time.Second, errHashing)
	}
}

// end releases what an attempt holds, and refunds it unless it was wrong.
func (t *attempt) end(wrong bool, now time.Time) {
	if t.held {
		<-t.of.strangers
	}
	if !wrong {
		t.refund(now)
	}
}

func (t *attempt) refund(now time.Time) {
	for _, k := range t.taken {
		k.from.refund(k.key, now)
	}
	t.taken = nil
}

const (
	maxRight  = 4096                // pairs of name and address remembered
	rightLife = 30 * 24 * time.Hour // how long they are remembered
)

// remember records an address from which a name has logged in.
func (a *attempts) remember(pair string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.right[pair]; !known && len(a.right) >= maxRight {
		oldest := pair
		for p, at := range a.right {
			if at.Before(a.right[oldest]) || oldest == pair {
				oldest = p
			}
		}
		delete(a.right, oldest)
	}
	a.right[pair] = now
}

func (a *attempts) wasRight(pair string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, known := a.right[pair]
	return known && now.Sub(at) < rightLife
}

// BrowserCookie is the name of the cookie that identifies a browser that has logged in.
const BrowserCookie = "voltbus_browser"

const (
	browserID  = 16 // bytes of the random number of a browser
	browserLen = 8 + browserID + sha256.Size
)

// browser returns the number of a browser that has logged in with the name before, "" for others.
func (a *attempts) browser(r *http.Request, name string, now time.Time) string {
	c, err := r.Cookie(BrowserCookie)
	if err != nil {
		return ""
	}
	b, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil || len(b) != browserLen {
		return ""
	}
	said, sum := b[:8+browserID], b[8+browserID:]
	if !hmac.Equal(sum, a.sign(name, said)) || now.Unix() >= int64(binary.BigEndian.Uint64(said)) {
		return ""
	}
	return string(said[8:])
}

func (a *attempts) sign(name string, said []byte) []byte {
	h := hmac.New(sha256.New, a.key)
	h.Write(said)
	h.Write([]byte(name))
	return h.Sum(nil)
}

// greet remembers where a name has logged in, and gives the browser a cookie that identifies it.
func (t *attempt) greet(w http.ResponseWriter, r *http.Request, now time.Time) {
	t.of.remember(t.pair, now)
	if t.browser != "" {
		return
	}
	expires := now.Add(rightLife)
	said := binary.BigEndian.AppendUint64(nil, uint64(expires.Unix()))
	said = append(said, make([]byte, browserID)...)
	_, _ = rand.Read(said[8:]) // never fails, see its documentation
	http.SetCookie(w, &http.Cookie{
		Name: BrowserCookie, Value: base64.RawURLEncoding.EncodeToString(append(said, t.of.sign(t.name, said)...)),
		Path: exchange.Prefix + "/session", Expires: expires, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}

// nameKey is the key under which wrong passwords for a name are counted.
func nameKey(name string) string { return strings.ToLower(strings.TrimSpace(exchange.Clip(name))) }
