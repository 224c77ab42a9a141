// Package share divides a need for regulation among campuses: in proportion to what each can contribute, as leaders that tell each other, or
// by a double auction.
package share

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Offer is the flexibility of a campus, told by its leader.
type Offer struct {
	Campus string    `json:"campus"`
	Term   uint64    `json:"term"` // of the leader: an earlier one's offer is void
	At     time.Time `json:"at"`
	More   float64   `json:"more"` // kW by which consumption can rise
	Less   float64   `json:"less"` // and fall
}

// flexibility in the direction of a need.
func (o *Offer) flexibility(need float64) float64 {
	if need > 0 {
		return max(0, o.More)
	}
	return max(0, o.Less)
}

// Proportional divides a need in kW, positive for more consumption, in proportion to the offers, and returns what nobody can contribute. No
// campus gets more than it offers.
func Proportional(need float64, offers []Offer) (parts []float64, missing float64) {
	parts = make([]float64, len(offers))
	total := 0.0
	for i := range offers {
		total += offers[i].flexibility(need)
	}
	if total == 0 || need == 0 {
		return parts, need
	}
	ratio := min(1, max(-1, need/total))
	for i := range offers {
		parts[i] = ratio * offers[i].flexibility(need)
		need -= parts[i]
	}
	if total >= 0 && ratio > -1 && ratio < 1 {
		need = 0 // what is left is rounding
	}
	return parts, need
}

// Exchange is what the leader of a campus knows of the others. It is a state machine, for one goroutine.
type Exchange struct {
	stale  time.Duration
	offers map[string]Offer
}

// NewExchange returns one that forgets an offer after a time.
func NewExchange(stale time.Duration) *Exchange {
	return &Exchange{stale: stale, offers: map[string]Offer{}}
}

// Hear takes an offer, an own one, too. One of an earlier term or time is dropped.
func (e *Exchange) Hear(o *Offer) {
	if old, ok := e.offers[o.Campus]; ok && (o.Term < old.Term || o.Term == old.Term && o.At.Before(old.At)) {
		return
	}
	e.offers[o.Campus] = *o
}

// Part returns the part of a campus in a need of all, kW, and what nobody can contribute.
func (e *Exchange) Part(now time.Time, campus string, need float64) (part, missing float64) {
	var offers []Offer
	for _, name := range slices.Sorted(maps.Keys(e.offers)) {
		if o := e.offers[name]; now.Sub(o.At) < e.stale {
			offers = append(offers, o)
		}
	}
	parts, missing := Proportional(need, offers)
	for i := range offers {
		if offers[i].Campus == campus {
			part = parts[i]
		}
	}
	return part, missing
}

// Bid is a bid to buy, or an offer to sell, power in a double auction.
type Bid struct {
	Who   string  `json:"who"`
	Price float64 `json:"price"` // per kWh: at most for a buyer, at least for a seller
	Power float64 `json:"power"` // kW, above 0
}

// Cleared is the result of an auction.
type Cleared struct {
	Price  float64            `json:"price"`
	Power  float64            `json:"power"` // kW that is traded
	Bought map[string]float64 `json:"bought"`
	Sold   map[string]float64 `json:"sold"`
}

// Clear finds the price at which most is traded: the middle between the last buyer and the last seller that trade. The highest bid and the
// cheapest offer come first; of equal prices each gets the share of its power. Bids without a positive power are left out.
func Clear(buy, sell []Bid) Cleared {
	buyers, sellers := steps(buy, -1), steps(sell, 1)
	c := Cleared{Bought: map[string]float64{}, Sold: map[string]float64{}}
	i, j := 0, 0
	var bought, sold float64 // of the steps i and j
	for i < len(buyers) && j < len(sellers) && buyers[i].price >= sellers[j].price {
		p := min(buyers[i].power-bought, sellers[j].power-sold)
		c.Power, bought, sold = c.Power+p, bought+p, sold+p
		c.Price = (buyers[i].price + sellers[j].price) / 2
		if full := bought >= buyers[i].power; full {
			buyers[i].award(c.Bought, bought)
			i, bought = i+1, 0
		}
		if full := sold >= sellers[j].power; full {
			sellers[j].award(c.Sold, sold)
			j, sold = j+1, 0
		}
	}
	if bought > 0 {
		buyers[i].award(c.Bought, bought)
	}
	if sold > 0 {
		sellers[j].award(c.Sold, sold)
	}
	return c
}

// step is all bids of one price.
type step struct {
	price, power float64
	bids         []Bid
}

func steps(bids []Bid, sign float64) (out []step) {
	list := slices.DeleteFunc(slices.Clone(bids), func(b Bid) bool { return !(b.Power > 0) })
	slices.SortStableFunc(list, func(a, b Bid) int { return cmp.Or(cmp.Compare(sign*a.Price, sign*b.Price), cmp.Compare(a.Who, b.Who)) })
	for _, b := range list {
		if n := len(out); n == 0 || out[n-1].price != b.Price {
			out = append(out, step{price: b.Price})
		}
		last := &out[len(out)-1]
		last.power += b.Power
		last.bids = append(last.bids, b)
	}
	return out
}

// award divides what a step trades among its bids.
func (s *step) award(to map[string]float64, power float64) {
	for _, b := range s.bids {
		to[b.Who] += b.Power * power / s.power
	}
}
