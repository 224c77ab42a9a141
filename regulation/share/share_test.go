package share_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/regulation/share"
)

func TestANeedIsDividedInProportion(t *testing.T) {
	offers := []share.Offer{{More: 100, Less: 10}, {More: 50, Less: 0}, {More: 50, Less: 30}}
	for need, want := range map[float64]struct {
		parts   []float64
		missing float64
	}{
		100:  {[]float64{50, 25, 25}, 0},
		-20:  {[]float64{-5, 0, -15}, 0},
		300:  {[]float64{100, 50, 50}, 100},
		-100: {[]float64{-10, 0, -30}, -60},
		0:    {[]float64{0, 0, 0}, 0},
	} {
		parts, missing := share.Proportional(need, offers)
		for i := range parts {
			parts[i] += 0 // -0 is 0
		}
		if d := cmp.Diff(want.parts, parts); d != "" || missing != want.missing {
			t.Errorf("%v: missing %v\n%s", need, missing, d)
		}
	}
	if _, missing := share.Proportional(5, nil); missing != 5 {
		t.Error(missing)
	}
}

func TestAnOfferEndsWithItsTimeAndItsTerm(t *testing.T) {
	now := time.Unix(1000, 0)
	e := share.NewExchange(10 * time.Second)
	e.Hear(&share.Offer{Campus: "east", Term: 2, At: now, More: 30})
	e.Hear(&share.Offer{Campus: "west", Term: 1, At: now.Add(-9 * time.Second), More: 10})
	e.Hear(&share.Offer{Campus: "east", Term: 1, At: now.Add(time.Second), More: 900}) // an old leader
	if part, missing := e.Part(now, "east", 20); part != 15 || missing != 0 {
		t.Error(part, missing)
	}
	if part, missing := e.Part(now.Add(5*time.Second), "east", 20); part != 20 || missing != 0 {
		t.Error(part, missing)
	}
}

// Buyers at 9 and 7 meet sellers at 3 and 6; the buyer at 5 does not. The last that trade are 7 and 6: the price is 6.5.
func TestAnAuctionFindsThePriceAtWhichMostIsTraded(t *testing.T) {
	c := share.Clear(
		[]share.Bid{{"a", 9, 10}, {"b", 7, 10}, {"c", 5, 10}, {"d", 100, -1}},
		[]share.Bid{{"x", 3, 12}, {"y", 6, 3}, {"z", 6, 9}, {"w", 20, 50}})
	want := share.Cleared{Price: 6.5, Power: 20, Bought: map[string]float64{"a": 10, "b": 10}, Sold: map[string]float64{"x": 12, "y": 2, "z": 6}}
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
}

func TestAnAuctionKeepsItsAccount(t *testing.T) {
	bids := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) share.Bid {
		return share.Bid{Who: rapid.StringN(4, 8, -1).Draw(t, "who"), Price: float64(rapid.IntRange(0, 9).Draw(t, "price")), Power: float64(rapid.IntRange(0, 50).Draw(t, "kW"))}
	}), 0, 20)
	rapid.Check(t, func(t *rapid.T) {
		buy, sell := bids.Draw(t, "buy"), bids.Draw(t, "sell")
		c := share.Clear(buy, sell)
		bought, sold := 0.0, 0.0
		for _, p := range c.Bought {
			bought += p
		}
		for _, p := range c.Sold {
			sold += p
		}
		if math.Abs(bought-c.Power) > 1e-9 || math.Abs(sold-c.Power) > 1e-9 {
			t.Fatalf("%+v", c)
		}
		for _, b := range buy {
			if c.Bought[b.Who] == 0 && c.Power > 0 && b.Power > 0 && b.Price > c.Price+1 && sold < total(sell, c.Price) {
				t.Fatalf("%+v would pay more than %v", b, c.Price)
			}
		}
	})
}

func total(bids []share.Bid, price float64) (sum float64) {
	for _, b := range bids {
		if b.Price <= price {
			sum += b.Power
		}
	}
	return sum
}
