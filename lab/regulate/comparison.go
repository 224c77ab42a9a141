package regulate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"voltbus/operation/lab"
	"voltbus/regulation/score"
	"voltbus/regulation/signal"
)

// Comparison lets a fleet follow a signal in four ways side by side: with a master, with an elected leader,
// without one, and by trade. The buildings, the signal
// and the share of lost messages are the same. It is for one goroutine.
type Comparison struct {
	order   lab.WorldOrder
	central *world
	led     *campus
	crowd   *crowd
	trade   *marketplace
	i, end  int // ticks that have passed, and after which it is over
	kills   int
	ways    [4]tally
}

// tally is the account of one way.
type tally struct {
	w          *world
	errors     float64 // sum of the absolute errors
	composites float64 // sum of the hours' scores
	hours      int
}

// course is how many moments a state has.
const course = 360

// NewComparison returns a comparison at its first moment.
func NewComparison(o lab.WorldOrder) *Comparison {
	c := Campus{Nodes: o.Nodes, Config: Config{
		Units: o.Units, Seed: uint64(o.Seed), Length: time.Duration(o.Hours) * time.Hour, Period: time.Duration(o.Period * float64(time.Second)), Loss: o.Loss, //nolint:gosec // checked by the declaration
	}}
	c.Period = c.Period.Round(tick)
	d := &Comparison{order: o, central: newWorld(c.Config), led: newCampus(c), crowd: newCrowd(c), trade: newMarketplace(c), end: int(c.Length / tick)}
	d.ways = [4]tally{{w: d.central}, {w: d.led.world}, {w: d.crowd.world}, {w: d.trade.world}}
	return d
}

// Pass lets a tick pass. It reports false when the time of the comparison is over.
func (d *Comparison) Pass() bool {
	if d.i >= d.end {
		return false
	}
	d.central.tick(d.i)
	d.led.pass(d.i)
	d.crowd.pass(d.i)
	d.trade.pass(d.i)
	asked := d.central.signal.Values[d.i]
	d.i++
	for k := range d.ways {
		d.ways[k].add(d.i, asked)
	}
	return true
}

// add counts a tick, and judges each hour that has passed.
func (t *tally) add(i int, asked float64) {
	t.errors += math.Abs(t.w.answer[i-1] - asked)
	const hour = int(time.Hour / tick)
	if i%hour != 0 {
		return
	}
	report, err := score.Judge(&signal.Signal{Step: tick, Values: t.w.signal.Values[i-hour : i]}, &signal.Signal{Step: tick, Values: t.w.answer[i-hour : i]})
	if err == nil { // else the signal was near 0
		t.composites += report.Composite
		t.hours++
	}
}

// Kill ends the master, the leader, one of the nodes without a leader, and the auctioneer, for a minute.
func (d *Comparison) Kill() {
	d.central.kill(d.i)
	d.led.kill(d.i)
	d.crowd.kill(d.i)
	d.trade.kill(d.i)
	d.kills++
}

// Lose changes the share of the messages that are lost.
func (d *Comparison) Lose(share float64) {
	d.order.Loss = share
	for k := range d.ways {
		d.ways[k].w.c.Loss = share
	}
}

// Tick is the least time that passes.
const Tick = tick

// State describes the comparison.
func (d *Comparison) State() lab.WorldState {
	s := lab.WorldState{
		WorldOrder: d.order, There: true, Over: d.i >= d.end, Begin: d.central.begin, Time: d.at(d.i),
		Ways: []lab.WorldWay{d.masterWay(), d.leaderWay(), d.gossipWay(), d.marketWay()}, Market: d.market(), Waits: d.waits(), Course: d.course(), Stack: d.stack(),
	}
	if d.i > 0 {
		s.Signal = d.central.signal.Values[d.i-1]
	}
	return s
}

func (d *Comparison) at(i int) time.Time { return d.central.begin.Add(time.Duration(i) * tick) }

// way describes what all ways have.
func (d *Comparison) way(k int, name string) lab.WorldWay {
	t := &d.ways[k]
	out := lab.WorldWay{Way: name, Messages: t.w.out.Messages, Capacity: t.w.capacity, Kills: d.kills}
	if d.i > 0 {
		out.Response = t.w.answer[d.i-1]
	}
	if t.hours > 0 {
		out.Composite = new(t.composites / float64(t.hours))
	}
	signals := 0.0
	for _, v := range t.w.signal.Values[:d.i] {
		signals += math.Abs(v)
	}
	if signals > 0 {
		out.Precision = new(min(1, max(0, 1-t.errors/signals)))
	}
	for i := range t.w.places {
		p := &t.w.places[i]
		out.Power += p.Power()
		out.Comfort = max(out.Comfort, p.comfort.Violation)
		out.Switches += float64(p.switches.Count) / float64(len(t.w.places))
	}
	return out
}

func (d *Comparison) masterWay() lab.WorldWay {
	out := d.way(0, "central")
	if d.i >= d.central.down {
		out.Leader, out.Members = "master", 1
	}
	return out
}

func (d *Comparison) leaderWay() lab.WorldWay {
	out := d.way(1, "leader")
	out.Refused = d.led.old()
	for _, b := range d.led.nodes {
		if b.process == nil {
			continue
		}
		out.Members++
		if b.process.Leads() {
			out.Leader = b.address
		}
		out.Term = max(out.Term, b.process.Leader().Term)
	}
	return out
}

func (d *Comparison) gossipWay() lab.WorldWay {
	out := d.way(2, "gossip")
	for _, b := range d.crowd.nodes {
		if b.process != nil {
			out.Members++
		}
	}
	return out
}

func (d *Comparison) marketWay() lab.WorldWay {
	out := d.way(3, "market")
	for _, b := range d.trade.nodes {
		if b.process != nil {
			out.Members++
		}
	}
	if b := d.trade.auctioneer(); b != nil {
		out.Leader = b.address
	}
	return out
}

// market describes the last round of the auction, with the sites that traded most.
func (d *Comparison) market() lab.WorldMarket {
	out := lab.WorldMarket{Sites: []lab.WorldSite{}}
	if d.i > 0 {
		out.Price, out.Traded = d.trade.prices[d.i-1], d.trade.traded[d.i-1]
	}
	for _, b := range d.trade.nodes {
		site := lab.WorldSite{Site: b.address, Paid: b.paid}
		if b.process != nil {
			s := b.process.Status()
			site.Runs, site.Allotted, site.Power, site.Bought, site.Sold = true, s.Allotted, s.Power, s.Bought, s.Sold
			site.Paid += s.Paid
		}
		out.Sites = append(out.Sites, site)
	}
	slices.SortStableFunc(out.Sites, func(a, b lab.WorldSite) int {
		return cmp.Or(cmp.Compare(b.Bought+b.Sold, a.Bought+a.Sold), cmp.Compare(a.Site, b.Site))
	})
	out.Sites = out.Sites[:min(shownSites, len(out.Sites))]
	return out
}

// waits lists what happens next: decisions, messages, the return of who was killed, and the offer of the next hour.
func (d *Comparison) waits() []lab.WorldWait {
	out := []lab.WorldWait{}
	if d.i >= d.end {
		return out
	}
	add := func(at time.Time, what string) {
		out = append(out, lab.WorldWait{At: at, What: what})
	}
	period := max(1, int(d.central.c.Period/tick))
	if d.i >= d.central.down {
		add(d.at((d.i+period-1)/period*period), "the master decides")
	} else {
		add(d.at(d.central.down), "another master begins")
	}
	for _, b := range d.led.nodes {
		switch {
		case b.process == nil:
			add(d.at(b.back), b.address+" begins again")
		case b.process.Leads():
			add(b.process.Next(), b.address+", the leader, decides or speaks")
		}
	}
	for _, b := range d.trade.nodes {
		if b.process == nil {
			add(d.at(b.back), b.address+" trades again")
		}
	}
	if b := d.trade.auctioneer(); b != nil {
		add(b.process.Next(), b.address+", the auctioneer, bids or finds the price")
	}
	const hour = int(time.Hour / tick)
	add(d.at((d.i+hour-1)/hour*hour), "the capacity of the next hour is offered")
	add(d.at(d.end), "the world ends")
	slices.SortStableFunc(out, func(a, b lab.WorldWait) int { return a.At.Compare(b.At) })
	return out[:min(7, len(out))]
}

// course is the last hour in steps of ten seconds.
func (d *Comparison) course() []lab.WorldMoment {
	const step = 5
	out := []lab.WorldMoment{}
	for i := max(0, d.i/step-course) * step; i+step <= d.i; i += step {
		m := lab.WorldMoment{At: d.at(i)}
		for k := i; k < i+step; k++ {
			m.Signal += d.central.signal.Values[k] / step
			m.Central += d.central.answer[k] / step
			m.Leader += d.led.answer[k] / step
			m.Gossip += d.crowd.answer[k] / step
			m.Market += d.trade.answer[k] / step
			m.Price += d.trade.prices[k] / step
			m.Traded += d.trade.traded[k] / step
		}
		out = append(out, m)
	}
	return out
}

// shown bounds the units of a state, and shownSites the sites.
const (
	shown      = 100
	shownSites = 12
)

// stack lists units of the elected leader's campus in the order in which they would switch.
func (d *Comparison) stack() []lab.WorldUnit {
	now, out := d.at(d.i), []lab.WorldUnit{}
	every := max(1, (len(d.led.places)+shown-1)/shown)
	for i := 0; i < len(d.led.places); i += every {
		r := d.led.places[i].Unit.Report(now, outside(time.Duration(d.i)*tick))
		out = append(out, lab.WorldUnit{Unit: r.Unit, Temperature: r.Temperature, Position: r.Position(), Runs: r.On, Locked: r.Free > 0})
	}
	slices.SortFunc(out, func(a, b lab.WorldUnit) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Unit, b.Unit))
	})
	return out
}
