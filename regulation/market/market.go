// Package market lets the sites of a campus regulate by trade: each site is allotted its part of the power that the signal leaves, and sites sell
// and buy what they do not need, or need more, in a double auction each round. Nobody but sites takes part. A site bids for each of its units that
// may change: one that is off buys for as much as it wants to run, one that runs sells for as much as it wants to go on. Then those run that want to most.
//
// One site, the auctioneer, collects the bids and finds the price. It is the smallest address that is heard, and sees prices and powers, not
// temperatures. Nobody orders anybody: each site carries out its own trades. A site sends a bid to one auctioneer only, so that two of them are two markets, each
// in balance, and no election is needed.
//
// It is a state machine: whoever runs it hands it messages and the time, and sends the messages that it returns.
package market

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"voltbus/regulation"
	"voltbus/regulation/share"
	"voltbus/regulation/stack"
)

// Message is what sites send each other. One part of it is there.
type Message struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Book    *Book    `json:"book,omitempty"`    // to the auctioneer
	Cleared *Cleared `json:"cleared,omitempty"` // by it
}

// Book has the bids of a site. Names are those of its units, and its address for the rest of its allotment.
type Book struct {
	Round int64       `json:"round"`
	Buy   []share.Bid `json:"buy,omitempty"`
	Sell  []share.Bid `json:"sell,omitempty"`
}

// Cleared is the result of a round, for one site.
type Cleared struct {
	Round  int64              `json:"round"`
	Price  float64            `json:"price"`            // per kWh
	Power  float64            `json:"power"`            // kW that all sites traded
	Awards map[string]float64 `json:"awards,omitempty"` // kW by the names of the site's bids; positive: bought
}

// Units are the units of a site.
type Units interface {
	// Reports returns their states.
	Reports(now time.Time) []regulation.Report
	// Order carries an order out, or says why not. Its token is zero.
	Order(now time.Time, o *regulation.Order) regulation.Answer
}

// Config of a site.
type Config struct {
	Address  string
	Sites    []string      // addresses of all sites
	Period   time.Duration // rounds begin at the multiples of it since 1970; 0: 4 seconds, at least twice Wait
	Wait     time.Duration // after the begin of a round the auctioneer closes the book; 0: 2 seconds
	Silence  time.Duration // after which another auctioneer is asked; 0: 3 periods
	Capacity float64       // kW that the signal 1 asks of this site
	// Friction is what a switch costs, in the unit of prices: an on/off unit is bought from another one only if it wants to run by twice as much more.
	// 0: 0.4.
	Friction float64
}

// The prices of a site's rest: it is bought and sold at any price.
const (
	most  = 10.0
	least = -10.0
)

// Status is what a site knows of the last round that it took part in. Powers are in kW.
type Status struct {
	Round      int64   `json:"round"`
	Auctioneer string  `json:"auctioneer"`
	Price      float64 `json:"price"`  // per kWh, of the scale of regulation.Report.Position
	Traded     float64 `json:"traded"` // by all sites
	Allotted   float64 `json:"allotted"`
	Power      float64 `json:"power"` // of the site, when it bid
	Bought     float64 `json:"bought"`
	Sold       float64 `json:"sold"`
	Paid       float64 `json:"paid"` // so far, price × kWh; negative: earned
}

// Site is the state. It is for one goroutine.
type Site struct {
	c      Config
	units  Units
	next   time.Time // round
	closes time.Time // zero: no book is open
	round  int64
	asked  string // who got the bids of the round; "" when the result is there
	since  time.Time
	silent map[string]bool
	books  map[string]*Book
	price  float64
	number uint64
	status Status
	out    []Message
}

// New returns a site that has traded nothing.
func New(c Config, units Units) *Site {
	c.Wait = cmp.Or(c.Wait, 2*time.Second)
	c.Period = max(cmp.Or(c.Period, 4*time.Second), 2*c.Wait)
	c.Silence, c.Friction = cmp.Or(c.Silence, 3*c.Period), cmp.Or(c.Friction, 0.4)
	c.Sites = slices.Sorted(slices.Values(c.Sites))
	return &Site{c: c, units: units, silent: map[string]bool{}, books: map[string]*Book{}}
}

// Status returns what is known of the last round.
func (s *Site) Status() Status { return s.status }

// SetCapacity changes the power that the signal 1 asks of the site, kW.
func (s *Site) SetCapacity(kw float64) { s.c.Capacity = kw }

// Auctioneer returns the smallest address that is not silent.
func (s *Site) Auctioneer() string {
	for _, a := range s.c.Sites {
		if a == s.c.Address || !s.silent[a] {
			return a
		}
	}
	return s.c.Address
}

// Next returns when Step has to be called at the latest, if no message arrives.
func (s *Site) Next() time.Time {
	if !s.closes.IsZero() && s.closes.Before(s.next) {
		return s.closes
	}
	return s.next
}

// Step takes messages, and does what is due. The signal is the one that holds now; positive: consume less. It returns messages to send.
func (s *Site) Step(now time.Time, signal float64, in []Message) []Message {
	s.out = nil
	if s.since.IsZero() {
		s.since = now
	}
	for i := range in {
		m := &in[i]
		switch {
		case m.To != s.c.Address || m.From == s.c.Address:
		case m.Book != nil:
			s.collect(m.From, m.Book)
		case m.Cleared != nil:
			s.hear(now, m.From, m.Cleared)
		}
	}
	if !now.Before(s.next) {
		begin := now.Truncate(s.c.Period)
		s.next, s.closes, s.round = begin.Add(s.c.Period), begin.Add(s.c.Wait), begin.UnixNano()/int64(s.c.Period)
		s.bid(now, signal)
	}
	if !s.closes.IsZero() && !now.Before(s.closes) {
		s.closes = time.Time{}
		s.clear(now)
	}
	return s.out
}

// collect keeps the bids of another site, of this round or of one that begins here a little later. Those with what is no number are dropped.
func (s *Site) collect(from string, b *Book) {
	for _, bid := range slices.Concat(b.Buy, b.Sell) {
		if sum := bid.Price + bid.Power; math.IsNaN(sum) || math.IsInf(sum, 0) {
			return
		}
	}
	if old, ok := s.books[from]; !ok || b.Round >= old.Round {
		s.books[from] = b
	}
}

// hear takes the result of an auctioneer.
func (s *Site) hear(now time.Time, from string, c *Cleared) {
	if from <= s.Auctioneer() {
		s.since = now
	}
	delete(s.silent, from)
	if from == s.asked && c.Round == s.round {
		s.trade(now, c)
	}
}

// bid sends the bids of the site to the auctioneer.
func (s *Site) bid(now time.Time, signal float64) {
	to := s.Auctioneer()
	if to != s.c.Address && now.Sub(s.since) >= s.c.Silence {
		s.silent[to] = true
		s.since = now
		to = s.Auctioneer()
	}
	b := &Book{Round: s.round}
	s.status.Allotted, s.status.Power = -signal*s.c.Capacity, 0
	for _, r := range s.units.Reports(now) {
		s.status.Allotted += r.Hold
		s.status.Power += r.Power
		more, less := stack.Room(&r)
		want, cost := min(1, max(0, r.Position())), s.c.Friction
		if r.Variable {
			cost = 0.05
		}
		if more > 0 {
			b.Buy = append(b.Buy, share.Bid{Who: r.Unit, Price: want - cost, Power: more})
		}
		if less > 0 {
			b.Sell = append(b.Sell, share.Bid{Who: r.Unit, Price: want + cost, Power: less})
		}
	}
	if rest := s.status.Allotted - s.status.Power; rest > 0 {
		b.Sell = append(b.Sell, share.Bid{Who: s.c.Address, Price: least, Power: rest})
	} else {
		b.Buy = append(b.Buy, share.Bid{Who: s.c.Address, Price: most, Power: -rest})
	}
	s.asked = to
	if to == s.c.Address {
		s.books[to] = b
		return
	}
	s.out = append(s.out, Message{From: s.c.Address, To: to, Book: b})
}

// clear finds the price of the bids that are there, and tells their sites. Who is the auctioneer tells all sites that there is one.
func (s *Site) clear(now time.Time) {
	var buy, sell []share.Bid
	for _, from := range s.c.Sites {
		if b := s.books[from]; b != nil && b.Round == s.round {
			buy, sell = named(buy, from, b.Buy), named(sell, from, b.Sell)
		}
	}
	all := share.Clear(buy, sell)
	s.price = price(buy, sell, &all, s.price)
	awards := map[string]map[string]float64{}
	divide(awards, all.Bought, 1)
	divide(awards, all.Sold, -1)
	leads := s.Auctioneer() == s.c.Address
	for _, to := range s.c.Sites {
		b := s.books[to]
		bids := b != nil && b.Round == s.round
		if bids {
			delete(s.books, to)
		} else if !leads {
			continue
		}
		c := &Cleared{Round: s.round, Price: s.price, Power: all.Power, Awards: awards[to]}
		if to == s.c.Address {
			s.trade(now, c)
			continue
		}
		s.out = append(s.out, Message{From: s.c.Address, To: to, Cleared: c})
	}
}

// between parts the address of a site and the name of its bid, so that no site bids in the name of another one.
const between = "\x00"

// named adds bids of a site.
func named(to []share.Bid, from string, bids []share.Bid) []share.Bid {
	for _, b := range bids {
		b.Who = from + between + b.Who
		to = append(to, b)
	}
	return to
}

// divide adds what was traded to the awards of the sites.
func divide(awards map[string]map[string]float64, traded map[string]float64, sign float64) {
	for who, kw := range traded {
		to, name, _ := strings.Cut(who, between)
		if awards[to] == nil {
			awards[to] = map[string]float64{}
		}
		awards[to][name] += sign * kw
	}
}

// price returns that of the unit that traded last: the dearest that sold, or the cheapest that bought. Without such a one it stays as it was.
func price(buy, sell []share.Bid, c *share.Cleared, before float64) float64 {
	high, low := math.Inf(-1), math.Inf(1)
	for _, b := range sell {
		if c.Sold[b.Who] > 0 && b.Price > least {
			high = max(high, b.Price)
		}
	}
	for _, b := range buy {
		if c.Bought[b.Who] > 0 && b.Price < most {
			low = min(low, b.Price)
		}
	}
	switch sold, bought := !math.IsInf(high, 0), !math.IsInf(low, 0); {
	case sold && bought:
		return (high + low) / 2
	case sold:
		return high
	case bought:
		return low
	}
	return before
}

// trade carries out what the site bought and sold.
func (s *Site) trade(now time.Time, c *Cleared) {
	s.status.Auctioneer, s.status.Round, s.status.Price, s.status.Traded = s.asked, c.Round, c.Price, c.Power
	s.status.Bought, s.status.Sold, s.asked = 0, 0, ""
	for _, kw := range c.Awards {
		s.status.Bought += max(0, kw)
		s.status.Sold += max(0, -kw)
	}
	s.status.Paid += c.Price * (s.status.Bought - s.status.Sold) * s.c.Period.Hours()
	for _, r := range s.units.Reports(now) {
		kw := c.Awards[r.Unit]
		o := regulation.Order{Unit: r.Unit, On: kw > 0}
		switch {
		case kw == 0, !r.Variable && math.Abs(kw) < r.Rated/2: // a part of a unit, the smaller one
			continue
		case r.Variable:
			o.On, o.Speed = true, math.Cbrt(min(1, max(0, (r.Power+kw)/r.Rated)))
		}
		s.number++
		o.Number = s.number
		s.units.Order(now, &o) // what is refused is left over, and part of the next bid
	}
}
