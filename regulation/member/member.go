// Package member lets the nodes of a campus regulate without a master: they elect a leader, the smallest address of those that are there or
// the choice of an Elector, and the leader decides for all. It is a state machine: whoever runs it hands it messages and the time, and sends the messages that it returns.
//
// Every node says each Beat that it is there, and how its units are. A node that has been silent for Silence is taken for absent. A node that
// sees no smaller address leads, in a term that is later than any it has seen, and says so with each of its orders. A network that is divided has
// a leader on each side; when it is joined again, units refuse the one of the earlier term, by which it learns of the later one, and the smaller
// address takes over in a new term. If both are of one term, it is void, and a later one begins.
//
// Hearing need not be mutual. Each node says whom it hears, and a node that somebody it hears can hear is there: so the node that does not
// hear the smallest address follows it all the same, and terms do not follow each other. Who is not heard back by a node does not order its units.
package member

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"voltbus/regulation"
	"voltbus/regulation/master"
)

// Everybody is the receiver of a message to all members of the campus.
const Everybody = ""

// Message is what members send each other. One part of it is there.
type Message struct {
	From    string              `json:"from"`
	To      string              `json:"to,omitempty"`
	Hello   *Hello              `json:"hello,omitempty"`
	Orders  []regulation.Order  `json:"orders,omitempty"`  // by a leader, to the member that has the units
	Answers []regulation.Answer `json:"answers,omitempty"` // to the one who ordered
	State   *State              `json:"state,omitempty"`   // by who has led, to who leads now
	Ballot  *regulation.Ballot  `json:"ballot,omitempty"`  // between electors
}

// Elector elects otherwise than by the smallest address.
type Elector interface {
	// Step takes ballots, and does what is due. It returns ballots to send.
	Step(now time.Time, in []regulation.Ballot) []regulation.Ballot
	// Leader returns who leads, and in which term; its address is "" while nobody does.
	Leader() regulation.Token
}

// Hello says that a member is there.
type Hello struct {
	At      time.Time           `json:"at"`
	Token   regulation.Token    `json:"token"`             // the newest that the member knows
	Leads   bool                `json:"leads,omitempty"`   // the sender leads, in that term
	Hears   []string            `json:"hears,omitempty"`   // addresses that the sender has heard of late
	Reports []regulation.Report `json:"reports,omitempty"` // of its units
}

// State is what a leader hands over to the next one.
type State struct {
	Token    regulation.Token    `json:"token"` // of who hands over
	Capacity float64             `json:"capacity"`
	Reports  []regulation.Report `json:"reports"`
	Owners   map[string]string   `json:"owners"` // unit → address of its member
}

// Units are the units of a member.
type Units interface {
	// Reports returns their states.
	Reports(now time.Time) []regulation.Report
	// Order carries an order out, or says why not. It refuses a token that the one before does not admit, see regulation.Token.
	Order(now time.Time, o *regulation.Order) regulation.Answer
	// Token returns the newest that an order to any of them had. It outlives the process of the member.
	Token() regulation.Token
}

// Config of a member. Addresses are compared as texts: write them with equal length, or as netip.Addr.StringExpanded does.
type Config struct {
	Address string
	Beat    time.Duration // 0: 2 seconds
	Silence time.Duration // 0: 5 beats
	Period  time.Duration // between two decisions of a leader; 0: each beat
	Master  master.Config
	Elector Elector // nil: the smallest address leads
}

// Member is the state. It is for one goroutine.
type Member struct {
	c     Config
	units Units
	began time.Time
	beat  time.Time // the next one
	next  time.Time // decision
	heard map[string]time.Time
	hears map[string][]string // whom those hear that are heard
	token regulation.Token    // the newest that is known
	leads bool
	led   bool // and has not handed over since
	// master hears all reports, so that a new leader knows the units at once. Only a leader lets it decide.
	master *master.Master
	owners map[string]string
	status master.Status
	out    []Message
}

// New returns a member that knows nobody.
func New(c Config, units Units) *Member {
	c.Beat = cmp.Or(c.Beat, 2*time.Second)
	c.Silence = cmp.Or(c.Silence, 5*c.Beat)
	c.Period = cmp.Or(c.Period, c.Beat)
	return &Member{c: c, units: units, heard: map[string]time.Time{}, hears: map[string][]string{}, owners: map[string]string{}, master: master.New(c.Master)}
}

// Leader returns who leads, as far as the member knows, and in which term.
func (m *Member) Leader() regulation.Token { return m.token }

// Leads reports whether the member itself leads.
func (m *Member) Leads() bool { return m.leads }

// Members returns the addresses of those that are there, with its own, sorted.
func (m *Member) Members() []string {
	return slices.Sorted(maps.Keys(m.withSelf()))
}

func (m *Member) withSelf() map[string]time.Time {
	all := maps.Clone(m.heard)
	all[m.c.Address] = time.Time{}
	return all
}

// Status returns what the last decision of the member as a leader knew.
func (m *Member) Status() master.Status { return m.status }

// SetCapacity changes the power that the signal 1 asks of the campus, kW.
func (m *Member) SetCapacity(kw float64) {
	m.c.Master.Capacity = kw
	m.master.SetCapacity(kw)
}

// Next returns when Step has to be called at the latest, if no message arrives.
func (m *Member) Next() time.Time {
	if m.leads && m.next.Before(m.beat) {
		return m.next
	}
	return m.beat
}

// Step takes messages, and does what is due. The signal is the one that holds now; positive: consume less. It returns messages to send.
func (m *Member) Step(now time.Time, signal float64, in []Message) []Message {
	m.out = nil
	if m.began.IsZero() {
		m.began, m.beat = now, now
		m.see(m.units.Token())
	}
	for i := range in {
		m.take(now, &in[i])
	}
	for address, at := range m.heard {
		if now.Sub(at) >= m.c.Silence {
			delete(m.heard, address)
			delete(m.hears, address)
		}
	}
	if m.c.Elector != nil {
		m.follow(now, in)
	} else {
		m.elect(now)
	}
	if m.leads && !now.Before(m.next) {
		m.next = now.Add(m.c.Period)
		m.decide(now, signal)
	}
	if !now.Before(m.beat) {
		m.beat = now.Add(m.c.Beat)
		m.sayHello(now)
	}
	return m.out
}

func (m *Member) send(msg Message) {
	msg.From = m.c.Address
	m.out = append(m.out, msg)
}

func (m *Member) sayHello(now time.Time) {
	m.send(Message{Hello: &Hello{At: now, Token: m.token, Leads: m.leads, Hears: slices.Sorted(maps.Keys(m.heard)), Reports: m.units.Reports(now)}})
}

// take handles one message. Own ones, which a network may return, are ignored.
func (m *Member) take(now time.Time, msg *Message) {
	if msg.From == m.c.Address || msg.From == "" || msg.To != Everybody && msg.To != m.c.Address {
		return
	}
	m.heard[msg.From] = now
	if h := msg.Hello; h != nil {
		m.hello(msg.From, h)
	}
	if len(msg.Orders) > 0 {
		m.obey(now, msg)
	}
	for i := range msg.Answers {
		m.answered(now, &msg.Answers[i])
	}
	if s := msg.State; s != nil && m.leads {
		m.inherit(s)
	}
}

func (m *Member) hello(from string, h *Hello) {
	m.see(h.Token)
	m.hears[from] = h.Hears
	reports := h.Reports
	if !slices.Contains(h.Hears, m.c.Address) {
		reports = nil // orders would not arrive
	}
	for i := range reports {
		if u := reports[i].Unit; m.owners[u] != from {
			m.owners[u] = from
		}
		_, _ = m.master.Hear(&reports[i]) // a wrong report leaves the unit as it was
	}
	if h.Leads && h.Token == m.token && !m.leads && m.led {
		m.handOver(from)
	}
}

// see learns of a token. A leader that learns of a later term does not lead any more: elect decides anew. Two leaders of one term make it void,
// so that the next term is later for the units of both.
func (m *Member) see(t regulation.Token) {
	switch {
	case t.Term > m.token.Term:
		m.token = t
	case t.Term == m.token.Term && t != m.token && m.c.Elector == nil:
		m.token = regulation.Token{Term: t.Term + 1}
	default:
		return
	}
	m.leads = false
}

// elect begins a term, if no smaller address is there and another one leads. Who has just started listens for a while before that.
func (m *Member) elect(now time.Time) {
	if now.Sub(m.began) < m.c.Silence {
		return
	}
	if m.leads || m.smallerThere() { // who leads goes on until the other one claims a later term, so that there is no gap
		return
	}
	m.lead(now, regulation.Token{Term: m.token.Term + 1, Leader: m.c.Address})
}

// lead begins a term of the member.
func (m *Member) lead(now time.Time, token regulation.Token) {
	m.token = token
	m.leads, m.led = true, true
	m.next = now
	m.beat = now // all shall know at once
	m.master.SetToken(m.token)
}

// follow hands ballots to the elector, and does what it says.
func (m *Member) follow(now time.Time, in []Message) {
	var ballots []regulation.Ballot
	for i := range in {
		if b := in[i].Ballot; b != nil && b.From == in[i].From && in[i].To == m.c.Address {
			ballots = append(ballots, *b)
		}
	}
	for _, b := range m.c.Elector.Step(now, ballots) {
		m.send(Message{To: b.To, Ballot: &b})
	}
	t := m.c.Elector.Leader()
	switch {
	case t.Leader != m.c.Address || t.Term < m.token.Term:
		m.leads = false
		if t.Leader != "" {
			m.see(t)
		}
	case !m.leads:
		m.lead(now, t)
	}
}

// smallerThere reports whether a smaller address is heard, by the member itself or by one that it hears.
func (m *Member) smallerThere() bool {
	for address := range m.heard {
		if address < m.c.Address || slices.ContainsFunc(m.hears[address], func(other string) bool { return other < m.c.Address }) {
			return true
		}
	}
	return false
}

// handOver gives a new leader what this one knew.
func (m *Member) handOver(to string) {
	m.send(Message{To: to, State: &State{Token: m.token, Capacity: m.c.Master.Capacity, Reports: m.master.Reports(), Owners: maps.Clone(m.owners)}})
	m.led = false
}

// inherit takes what an earlier leader knew, as far as nothing newer is known.
func (m *Member) inherit(s *State) {
	if s.Token.Term > m.token.Term {
		return
	}
	for i := range s.Reports {
		_, _ = m.master.Hear(&s.Reports[i])
	}
	for unit, owner := range s.Owners {
		if _, ok := m.owners[unit]; !ok {
			m.owners[unit] = owner
		}
	}
	if m.c.Master.Capacity == 0 {
		m.SetCapacity(s.Capacity)
	}
}

// obey hands orders to the own units. They judge the token, and their answers say which one they know.
func (m *Member) obey(now time.Time, msg *Message) {
	answers := make([]regulation.Answer, 0, len(msg.Orders))
	for i := range msg.Orders {
		answers = append(answers, m.units.Order(now, &msg.Orders[i]))
		m.see(msg.Orders[i].Token)
	}
	m.send(Message{To: msg.From, Answers: answers})
}

// answered takes an answer. A unit that knows a later term says so.
func (m *Member) answered(now time.Time, a *regulation.Answer) {
	if a.Code == regulation.OldTerm {
		m.see(a.Token)
	}
	m.master.Answered(now, a)
}

// decide is what a leader does each period.
func (m *Member) decide(now time.Time, signal float64) {
	own := m.units.Reports(now)
	for i := range own {
		m.owners[own[i].Unit] = m.c.Address
		_, _ = m.master.Hear(&own[i])
	}
	orders, status := m.master.Decide(now, signal)
	m.status = status
	to := map[string][]regulation.Order{}
	for _, o := range orders {
		to[m.owners[o.Unit]] = append(to[m.owners[o.Unit]], o)
	}
	for _, address := range slices.Sorted(maps.Keys(to)) {
		if address != m.c.Address {
			m.send(Message{To: address, Orders: to[address]})
			continue
		}
		for i := range to[address] {
			a := m.units.Order(now, &to[address][i])
			m.answered(now, &a)
		}
	}
}
