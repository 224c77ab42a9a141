package market_test

import (
	"testing"
	"time"

	"voltbus/regulation"
	"voltbus/regulation/market"
	"voltbus/regulation/share"
)

var begin = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// site is a site with a unit of 4 kW.
type site struct {
	*market.Site

	report regulation.Report
	orders []regulation.Order
}

func (s *site) Reports(time.Time) []regulation.Report { return []regulation.Report{s.report} }

func (s *site) Order(_ time.Time, o *regulation.Order) regulation.Answer {
	s.orders = append(s.orders, *o)
	return regulation.Answer{Number: o.Number, Report: s.report}
}

var names = []string{"a", "b", "c"}

// campus has a site for each of three units, by their positions; a positive one is off.
func campus(positions ...float64) map[string]*site {
	out := map[string]*site{}
	for i, p := range positions {
		r := regulation.Report{Unit: names[i] + "/ac", Low: 0, High: 1, Rated: 4, Hold: 2}
		if p < 0 {
			r.On, r.Power, p = true, 4, -p
		}
		r.Temperature = p
		s := &site{report: r}
		s.Site = market.New(market.Config{Address: names[i], Sites: names, Capacity: 2}, s)
		out[names[i]] = s
	}
	return out
}

// run lets rounds pass. Who is nil is silent.
func run(sites map[string]*site, signal float64, rounds int) {
	var way []market.Message
	for i := range 2*rounds + 1 {
		now := begin.Add(time.Duration(i) * 2 * time.Second)
		var next []market.Message
		for _, name := range names {
			if s := sites[name]; s != nil {
				next = append(next, s.Step(now, signal, way)...)
			}
		}
		way = next
	}
}

// Without a signal three sites are allotted 2 kW each; one unit runs with 4. The need is 2 kW more: half a unit.
func TestTheUnitThatWantsToRunMostBuysAndTheOneThatWantsToLeastSells(t *testing.T) {
	for name, c := range map[string]struct {
		positions []float64
		signal    float64
		on, off   string
	}{
		"more is allotted":               {[]float64{0.3, 0.8, -0.5}, -0.2, "b", ""},
		"less is allotted":               {[]float64{-0.3, -0.8, -0.5}, -0.3, "", "a"},
		"one wants to run by much more":  {[]float64{0.97, -0.05, -0.5}, -0.5, "a", "b"},
		"nobody wants to by much":        {[]float64{0.7, -0.3, 0.6}, 0.5, "", ""},
		"who runs is outside of a trade": {[]float64{-0.95, -0.95, -0.95}, 1, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			sites := campus(c.positions...)
			run(sites, c.signal, 1)
			for name, s := range sites {
				on, off := name == c.on, name == c.off
				if len(s.orders) > 0 != (on || off) || len(s.orders) > 0 && s.orders[0].On != on {
					t.Errorf("%s: %+v, %+v", name, s.orders, s.Status())
				}
			}
		})
	}
}

func TestWhatSitesPayIsWhatOthersEarn(t *testing.T) {
	sites := campus(0.3, 0.8, -0.5)
	run(sites, -1, 3)
	sum, traded := 0.0, 0.0
	for _, s := range sites {
		sum += s.Status().Paid
		traded += s.Status().Bought
	}
	if traded == 0 || sum > 1e-9 || sum < -1e-9 {
		t.Errorf("paid %v in all, traded %v kW", sum, traded)
	}
}

func TestTheNextAddressIsTheAuctioneerWhileTheFirstIsSilent(t *testing.T) {
	sites := campus(0.3, 0.8, -0.5)
	first := sites["a"]
	sites["a"] = nil
	run(sites, -1, 12)
	for _, name := range names[1:] {
		if s := sites[name]; s.Auctioneer() != "b" || s.Status().Auctioneer != "b" {
			t.Errorf("%s asks %s", name, s.Auctioneer())
		}
	}
	sites["a"] = first
	run(sites, -1, 3)
	if sites["c"].Auctioneer() != "a" {
		t.Errorf("c still asks %s", sites["c"].Auctioneer())
	}
}

func TestASiteCannotBidForTheUnitsOfAnotherOne(t *testing.T) {
	sites := campus(0.3, 0.8, -0.5)
	forged := market.Message{From: "c", To: "a", Book: &market.Book{Round: begin.UnixNano() / int64(4*time.Second)}}
	forged.Book.Buy = append(forged.Book.Buy, bid("b/ac", 9, 4), bid("b", 9, 1e9))
	sites["c"] = nil
	sites["a"].Step(begin, -1, nil)
	books := sites["b"].Step(begin, -1, nil)
	results := sites["a"].Step(begin.Add(2*time.Second), -1, append(books, forged))
	for _, m := range results {
		if m.To == "b" && m.Cleared.Awards["b/ac"] > 0 {
			t.Errorf("b was awarded what c asked for: %+v", m.Cleared)
		}
	}
}

func bid(who string, price, kw float64) share.Bid {
	return share.Bid{Who: who, Price: price, Power: kw}
}
