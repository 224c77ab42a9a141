// Package fleetsim simulates the devices of an MQTT fleet, many in one process, and writes the configuration of a node that serves them.
package fleetsim

import (
	"errors"
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/lab/load"
)

// Fleet is simulated devices that publish, subscribe, or both.
type Fleet struct {
	Brokers []string `json:"brokers"` // host:port; devices try one after another
	CA      string   `json:"ca"`      // file with what signed the brokers' certificate; "" without TLS
	// Resume has devices resume their TLS sessions when they connect again.
	Resume bool   `json:"resume"`
	Prefix string `json:"prefix"` // of the names of devices, which a number follows
	First  int    `json:"first"`  // number of the first device
	// Secret is that of device n with its number appended; "" for devices without a name.
	Secret string `json:"secret"`
	// Keep has sessions survive a lost connection.
	Keep bool `json:"keep"`
	// Old has devices speak MQTT 3.1.1 instead of 5.0.
	Old bool `json:"old"`

	// Topic is where a device publishes: {n} stands for its number, {k} for one of Topics numbers in turn.
	Topic  string `json:"topic"`
	Topics int    `json:"topics"`
	QoS    int    `json:"qos"` // of messages and subscriptions
	// Filter is what a device subscribes to, with {n} for its number plus Offset; "" for nothing.
	Filter string `json:"filter"`
	Offset int    `json:"offset"`
	// Profiles are how a device publishes, all of them at once; none for one that only receives.
	Profiles []Profile `json:"profiles"`
	// Window is how many messages of a device may be unanswered. Further ones wait, and so do those that are due while it
	// is not connected, up to Patience; beyond it they are skipped and counted.
	Window   int `json:"window"`
	Patience int `json:"patience"`

	// HTTP is the URL that devices without a connection post to, which are Posters many and come behind the others; "" for none.
	HTTP    string `json:"http"`
	Posters int    `json:"posters"`
}

// Profile is messages of one size in one period.
type Profile struct {
	Octets int           `json:"octets"`
	Every  time.Duration `json:"every"`
}

// Published are the three profiles of EXPAND-2022, and PublishedTopics how many topics its devices publish to.
func Published() []Profile {
	return []Profile{{200, 2 * time.Second}, {500, 10 * time.Second}, {700, time.Minute}}
}

// PublishedTopics is how many topics the devices of EXPAND-2022 publish to.
const PublishedTopics = 21

// Rate is how many messages a device publishes a second.
func (f *Fleet) Rate() (rate float64) {
	for _, p := range f.Profiles {
		rate += 1 / p.Every.Seconds()
	}
	return rate
}

func (f *Fleet) check() error {
	problem := ""
	switch {
	case len(f.Brokers) == 0 && f.HTTP == "":
		problem = "it needs the address of a broker"
	case f.QoS < 0 || f.QoS > 2:
		problem = "the quality of service must be 0, 1 or 2"
	case len(f.Profiles) > 0 && (f.Topic == "" || f.Topics < 1 || f.Window < 1):
		problem = "a device that publishes needs a topic, one number of it or more, and a window that is 1 or more"
	}
	for _, p := range f.Profiles {
		if p.Every <= 0 || p.Octets < leastOctets {
			problem = fmt.Sprintf("a message needs a period and %d bytes or more", leastOctets)
		}
	}
	if problem == "" {
		return nil
	}
	return fault.E("fleetsim", fault.Invalid, "fleet", errors.New(problem))
}

// Look is what a fleet did since the look before.
type Look struct {
	Seconds   float64 `json:"seconds"`
	Connected int     `json:"connected"` // now
	Lost      uint64  `json:"lost"`      // connections that ended though the fleet did not end them
	Failed    uint64  `json:"failed"`    // connections that could not be made
	First     string  `json:"first"`     // why the first of them could not, or ended

	Published uint64 `json:"published"` // messages sent
	Answered  uint64 `json:"answered"`
	Refused   uint64 `json:"refused"`
	Skipped   uint64 `json:"skipped"`  // messages that were due and not sent, as too many waited
	Received  uint64 `json:"received"` // messages of others

	Response []load.Bar `json:"response"` // from the time that a message was due to its answer
	Delivery []load.Bar `json:"delivery"` // from the time that a message was due to its receipt by a subscriber
	Posts    []load.Bar `json:"posts"`    // from the time that a message over HTTP was due to its answer

	HeadRoom  load.HeadRoom `json:"head_room"`
	Processor float64       `json:"processor"` // seconds of a core that the simulator used
	Memory    uint64        `json:"memory"`    // bytes resident in its processes
}

// add adds what another process found.
func (l *Look) add(o *Look) {
	l.Seconds = max(l.Seconds, o.Seconds)
	l.Connected += o.Connected
	l.Lost += o.Lost
	l.Failed += o.Failed
	if l.First == "" {
		l.First = o.First
	}
	l.Published += o.Published
	l.Answered += o.Answered
	l.Refused += o.Refused
	l.Skipped += o.Skipped
	l.Received += o.Received
	l.Response, l.Delivery, l.Posts = append(l.Response, o.Response...), append(l.Delivery, o.Delivery...), append(l.Posts, o.Posts...)
	l.HeadRoom.Add(o.HeadRoom)
	l.Processor += o.Processor
	l.Memory += o.Memory
}

// Histogram makes one of bars.
func Histogram(bars ...[]load.Bar) *load.Histogram {
	h := load.NewHistogram()
	for _, b := range bars {
		h.AddBars(b)
	}
	return h
}

// Cores is how many cores the simulator used.
func (l *Look) Cores() float64 {
	if l.Seconds <= 0 {
		return 0
	}
	return l.Processor / l.Seconds
}

// Together is what two looks found, of the same devices one after the other or of different ones.
func Together(a, b *Look) *Look {
	sum := *a
	sum.add(b)
	return &sum
}
