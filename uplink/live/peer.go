// Package live carries live messages between a node and its parent on demand: each end announces the subjects that it subscribes to, and
// receives each of their messages once, however many subscribers it has. Nothing is kept and nothing is sent twice: what a link cannot
// carry now is dropped, oldest first, and counted. It has its own connection, so that no backlog of blocks delays it.
// docs/formats/uplink.md describes the protocol.
package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/uplink/window"
)

// Tap is a connection to this node's bus. Take does not deliver its own messages.
type Tap interface {
	Publish(m *Message) error
	// Take calls deliver with each live and free message of the bus until stop is called. lost counts those
	// that came too fast.
	Take(deliver func(Message)) (stop func(), lost func() int, err error)
	Close()
}

// Timing of a link.
const (
	answerWithin = 250 * time.Millisecond // for the other end to acknowledge a frame; if later, less is sent ahead
	mostAhead    = 4 << 20                // bytes in flight
	gather       = 5 * time.Millisecond   // between two frames, so that small messages are sent together
	sayAgain     = 2 * time.Second        // until an unanswered control frame is repeated
	forgetAfter  = 10 * time.Second       // until an unanswered frame is given up
	maxInbox     = 1024                   // frames waiting to be processed
	maxWords     = 1024
	maxSubject   = 4096
)

// peerConfig is what an end of a link needs.
type peerConfig struct {
	send    func([]byte) error  // sends a frame, in order
	tap     func() (Tap, error) // opens the peer's own tap
	shared  Tap                 // publishes as long as the peer has no tap of its own; nil: it opens one
	rules   func() Rules
	judge   Judge
	refused func(error) // is called when something is refused
	turned  func()      // is called when the other end's wants have changed
	// withheld returns the other end's wants that are not sent to it; nil at the upper end, which learns it through told.
	withheld func(wants []string) []Withheld
	told     func() // is called when what the other end withholds has changed; may be nil
	greets   bool   // sends the first control frame
	rate     int64  // bytes of messages per second; 0 for no limit
	counts   *Counts
}

// peer is one end of a link, for one connection.
type peer struct {
	cfg    peerConfig
	inbox  chan []byte
	news   chan struct{} // holds one entry when there is something to do
	outlet outlet
	queue  queue

	mu      sync.Mutex
	words   [][]byte // control frames to send next
	asked   want     // what this end wants
	heard   bool     // the other end has answered the last want
	greeted bool
	theirs  []string   // what the other end wants
	lacks   []Withheld // of theirs, as last told to the other end
	flight  []flying
	under   int64
	window  window.Window
	lost    uint64 // messages that the other end lost on this connection, as last reported

	tap Tap // its own; nil: none. Only the goroutine of receive uses it
}

// flying is a frame in flight.
type flying struct {
	number uint64
	octets int64
	sent   time.Time
}

func newPeer(cfg peerConfig) *peer { //nolint:gocritic // once a connection
	p := &peer{
		cfg: cfg, inbox: make(chan []byte, maxInbox), news: make(chan struct{}, 1),
		window: window.New(mostAhead, 0, answerWithin), heard: true, greeted: !cfg.greets,
	}
	rules := cfg.rules()
	p.outlet.set(nil, &rules)
	if cfg.greets {
		p.say(&word{Hello: true})
	}
	return p
}

// offer accepts a received frame. It never blocks: excess frames are dropped.
func (p *peer) offer(data []byte) {
	select {
	case p.inbox <- data:
	default:
		p.cfg.counts.overrun()
	}
}

// tell changes what this end wants.
func (p *peer) tell(subjects []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Equal(subjects, p.asked.Subjects) {
		return
	}
	p.asked = want{p.asked.Version + 1, slices.Clone(subjects)}
	p.heard = false
	p.cfg.counts.asked(subjects)
	p.say(&word{Want: &p.asked})
}

// wanted returns what the other end wants, under its names.
func (p *peer) wanted() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.theirs
}

// review applies new rules.
func (p *peer) review() {
	rules := p.cfg.rules()
	p.outlet.set(p.wanted(), &rules)
	p.withhold(0)
}

// withhold tells the other end what it does not get: as the answer to a version of its want, or with 0 after a change.
func (p *peer) withhold(version uint64) {
	w := word{Wanted: version}
	var lacks []Withheld
	if p.cfg.withheld != nil {
		lacks = append([]Withheld{}, p.cfg.withheld(p.wanted())...) // never null: an empty list is sent, too
		p.cfg.counts.withheld(lacks)
		w.Withheld = &lacks
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if version != 0 || !slices.Equal(lacks, p.lacks) {
		p.say(&w)
	}
	p.lacks = lacks
}

// say queues a control frame to send next. The caller holds mu.
func (p *peer) say(w *word) {
	if len(p.words) < maxWords {
		p.words = append(p.words, w.encode())
	}
	p.wake()
}

func (p *peer) wake() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// run communicates until ctx ends, or the connection fails.
func (p *peer) run(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	failed := make(chan error, 1)
	var done sync.WaitGroup
	done.Go(func() {
		failed <- p.receive(ctx)
		end()
	})
	err := p.sendAll(ctx)
	end()
	done.Wait()
	p.cfg.counts.ended()
	return errors.Join(err, <-failed)
}

// sendAll sends control frames and messages.
func (p *peer) sendAll(ctx context.Context) error {
	packer := &packer{}
	again := time.NewTicker(sayAgain)
	defer again.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	frame, free := []byte(nil), true
	number := uint64(0)
	for {
		if err := p.sendWords(); err != nil {
			return err
		}
		if free && p.mayGo() {
			f := packed{number: number + 1, messages: p.gather()}
			if len(f.messages) > 0 {
				number++
				f.lost = p.queue.dropped()
				var err error
				if frame, err = packer.pack(frame[:0], &f); err == nil {
					err = p.sendFrame(&f, frame)
				}
				if err != nil {
					return err
				}
				free = false
				pause.Reset(p.pauseAfter(len(frame)))
			}
			p.cfg.counts.dropped(p, p.queue.dropped())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.news:
		case <-pause.C:
			free = true
		case <-again.C:
			p.repeat()
		}
	}
}

// repeat repeats unanswered control frames, and gives up unanswered frames.
func (p *peer) repeat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.greeted {
		p.say(&word{Hello: true})
	}
	if !p.heard {
		p.say(&word{Want: &p.asked})
	}
	for len(p.flight) > 0 && time.Since(p.flight[0].sent) > forgetAfter {
		p.window.Lost(time.Since(p.flight[0].sent))
		p.under -= p.flight[0].octets
		p.flight = p.flight[1:]
	}
}

func (p *peer) sendWords() error {
	p.mu.Lock()
	words := p.words
	p.words = nil
	p.mu.Unlock()
	for _, w := range words {
		if err := p.cfg.send(w); err != nil {
			return err
		}
	}
	return nil
}

// mayGo reports whether a frame may be sent: not too much is in flight, and the other end is not late.
func (p *peer) mayGo() bool {
	if p.queue.empty() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.under < p.window.Open && (len(p.flight) == 0 || !p.window.Overdue(p.flight[0].sent, time.Now()))
}

// pauseAfter returns how long to send nothing after a frame of so many bytes.
func (p *peer) pauseAfter(octets int) time.Duration {
	if p.cfg.rate <= 0 {
		return gather
	}
	return max(gather, time.Duration(float64(octets)/float64(p.cfg.rate)*float64(time.Second)))
}

// gather returns messages for a frame: with a rate, at most as many as may be sent in a second.
func (p *peer) gather() (out []Message) {
	full := fullFrame
	if p.cfg.rate > 0 {
		full = int(min(fullFrame, p.cfg.rate))
	}
	for octets, now := 0, time.Now(); octets < full; {
		m, has := p.queue.take(now)
		if !has {
			break
		}
		list, err := p.outlet.apply(&m)
		if err != nil {
			p.cfg.counts.unreadable()
			continue
		}
		for i := range list {
			if n := list[i].octets(); n <= maxMessage {
				octets += n
				out = append(out, list[i])
			} else {
				p.cfg.counts.unreadable()
			}
		}
	}
	return out
}

func (p *peer) sendFrame(f *packed, frame []byte) error {
	p.mu.Lock()
	p.flight = append(p.flight, flying{f.number, int64(len(frame)), time.Now()})
	p.under += int64(len(frame))
	p.mu.Unlock()
	if err := p.cfg.send(frame); err != nil {
		return err
	}
	p.cfg.counts.sent(len(f.messages), len(frame))
	return nil
}

// receive processes incoming frames.
func (p *peer) receive(ctx context.Context) error {
	u := &unpacker{}
	defer u.close()
	taking := &taking{}
	defer func() {
		taking.end()
		if p.tap != nil {
			p.tap.Close()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case data := <-p.inbox:
			var err error
			if len(data) > 0 && data[0] == dataFrame {
				err = p.takeFrame(u, data)
			} else {
				err = p.takeWord(taking, data)
			}
			if err != nil {
				p.refuse(err)
			}
		}
	}
}

func (p *peer) refuse(err error) {
	p.cfg.counts.refuse(err)
	p.cfg.refused(err)
}

// takeFrame publishes the messages of a frame.
func (p *peer) takeFrame(u *unpacker, data []byte) error {
	f, err := u.unpack(data)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.say(&word{Taken: f.number})
	lost := f.lost - min(f.lost, p.lost)
	p.lost = f.lost
	wanted := p.asked.Subjects
	p.mu.Unlock()
	to, err := p.publisher()
	if err != nil {
		return err
	}
	taken := 0
	for i := range f.messages {
		m := &f.messages[i]
		if err := p.cfg.judge.judge(m); err != nil {
			p.refuse(err)
			continue
		}
		if !matches(wanted, m.Subject) {
			continue // it was wanted until a moment ago
		}
		if err := to.Publish(m); err != nil {
			return err
		}
		taken++
	}
	p.cfg.counts.received(taken, len(data), lost)
	return nil
}

// publisher returns the tap that publishes messages.
func (p *peer) publisher() (Tap, error) {
	if p.tap != nil {
		return p.tap, nil
	}
	if p.cfg.shared != nil {
		return p.cfg.shared, nil
	}
	return p.ownTap()
}

func (p *peer) ownTap() (tap Tap, err error) {
	if p.tap == nil {
		p.tap, err = p.cfg.tap()
	}
	return p.tap, err
}

var (
	errWord = errors.New("a word about live messages cannot be read")
	errWant = fmt.Errorf("wants live messages of more than %d subjects, or of what is no subject", MaxSubjects)
)

// takeWord processes a control frame.
func (p *peer) takeWord(t *taking, data []byte) error {
	const op = "live.Receive"
	var w word
	if len(data) > 2*MaxSubjects*maxSubject || json.Unmarshal(data, &w) != nil {
		return fault.E(op, fault.Corrupt, "", errWord)
	}
	if w.Want != nil {
		return p.takeWant(t, w.Want)
	}
	if w.Withheld != nil && p.cfg.told != nil {
		lacks := slices.DeleteFunc(*w.Withheld, func(l Withheld) bool { return len(l.Subject)+len(l.Node)+len(l.Allow) > maxSubject })
		p.cfg.counts.withheld(lacks[:min(len(lacks), mostWithheld)])
		p.cfg.told()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case w.Hello:
		p.say(&word{Greeted: true})
	case w.Greeted:
		if p.greeted = true; !p.heard {
			p.say(&word{Want: &p.asked})
		}
	case w.Wanted != 0:
		p.heard = p.heard || w.Wanted == p.asked.Version
	case w.Taken != 0:
		p.answered(w.Taken)
	}
	return nil
}

// answered records that the other end has processed a frame, and all before it. The caller holds mu.
func (p *peer) answered(number uint64) {
	now := time.Now()
	for len(p.flight) > 0 && p.flight[0].number <= number {
		f := p.flight[0]
		p.window.Answered(f.sent, f.octets, p.under, now)
		p.under -= f.octets
		p.flight = p.flight[1:]
	}
	p.wake()
}

// takeWant starts sending what the other end now wants.
func (p *peer) takeWant(t *taking, w *want) error {
	bad := func(s string) bool { return len(s) > maxSubject || s == "" || strings.ContainsAny(s, " \t\r\n") }
	if len(w.Subjects) > MaxSubjects || slices.ContainsFunc(w.Subjects, bad) {
		return fault.E("live.Receive", fault.Invalid, "want", errWant)
	}
	subjects := Reduce(w.Subjects, MaxSubjects)
	p.mu.Lock()
	changed := !slices.Equal(p.theirs, subjects)
	p.theirs = subjects
	p.mu.Unlock()
	rules := p.cfg.rules()
	p.outlet.set(subjects, &rules)
	p.withhold(w.Version)
	p.cfg.counts.wanted(subjects)
	if changed {
		p.cfg.turned()
	}
	if len(subjects) == 0 {
		t.end()
		p.queue.clear()
		return nil
	}
	if t.stop != nil {
		return nil
	}
	tap, err := p.ownTap()
	if err == nil {
		t.stop, t.lost, err = tap.Take(p.see)
	}
	return err
}

// see checks whether a message of the bus is wanted at the other end.
func (p *peer) see(m Message) {
	if plan := p.outlet.plan(m.Subject); plan != nil && p.queue.push(queued{m, plan, time.Now()}) {
		p.wake()
	}
}
