package dnp3

import (
	"errors"
	"slices"
	"sync"
	"time"

	"voltbus/driver/dnp3/survey"
	"voltbus/fault"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/station"
)

// remote is the association with one device. Several sessions may share it. The goroutine that serves its
// connection passes incoming data to all of them.
type remote struct {
	*master.Association

	port     *station.Port
	settings settings

	users int // guarded by line.mu

	mu         sync.Mutex
	collectors []*collector
	surveying  *survey.Survey // also sees all data; nil for none
	iin        app.IIN        // of the last fragment
	owed       []owed
}

// settings are what configurations of the same outstation must have in common.
type settings struct {
	master, outstation int
	timeout            time.Duration
	retries            int
	unsolicited, polls string
	eventsWhenTold     bool
	timeSync           string
	tolerate           Tolerate
	readOnly           bool
}

func (c *Config) stationSettings() settings {
	return settings{
		master: c.Master, outstation: c.Outstation, timeout: c.Timeout, retries: c.Retries,
		unsolicited: listed(c.Unsolicited), polls: listedPolls(c.Polls), eventsWhenTold: c.EventsWhenTold,
		timeSync: c.TimeSync, tolerate: c.Tolerate, readOnly: c.readOnly,
	}
}

func (s *remote) fits(c *Config) bool { return s.settings == c.stationSettings() }

func (s *remote) addresses() addresses {
	return addresses{s.port.Local(), s.port.Remote()}
}

func newRemote(c *Config, turn *master.Turn) (*remote, error) {
	s := &remote{settings: c.stationSettings(), users: 1}
	config := c.MasterConfig()
	config.Turn, config.Notify, config.Keep = turn, s.notice, s.keep
	var err error
	if s.Association, err = master.New(config, s); err != nil {
		return nil, err
	}
	s.port, err = station.NewPort(c.PortConfig(), s.Association)
	return s, err
}

// PortConfig returns the link-layer configuration of the association.
func (c *Config) PortConfig() station.Config {
	return station.Config{
		Local: link.Address(c.Master), Remote: link.Address(c.Outstation), Master: true,
		KeepAlive: c.KeepAlive, KeepAliveAnswer: c.Timeout,
	}
}

// MasterConfig returns the application-layer configuration of the association.
func (c *Config) MasterConfig() master.Config {
	if c.readOnly {
		return c.ReadOnlyMaster()
	}
	config := master.Config{
		Outstation: link.Address(c.Outstation), DisableFirst: app.EventClasses, Startup: app.Integrity,
		Enable:   classesOf(c.Unsolicited),
		TimeSync: map[string]master.TimeSync{"lan": master.LAN, "non_lan": master.NonLAN, "write": master.DirectWrite}[c.TimeSync],

		IntegrityOnOverflow: true, ResponseTimeout: c.Timeout, Retries: c.Retries,
		Tolerance: master.Tolerance(c.Tolerate),
	}
	if c.EventsWhenTold {
		config.OnEvents = app.EventClasses
	}
	for _, p := range c.Polls {
		config.Polls = append(config.Polls, master.Poll{Classes: classesOf(p.Classes), Interval: p.Interval})
	}
	return config
}

// classesOf returns the set of classes with the given numbers.
func classesOf(numbers []int) app.Classes {
	sets := [4]app.Classes{app.Class0, app.Class1, app.Class2, app.Class3}
	var all app.Classes
	for _, n := range numbers {
		if n >= 0 && n < len(sets) {
			all |= sets[n]
		}
	}
	return all
}

// join adds a session's collector. If the line is open, it misses some or all data of the start-up sequence.
func (s *remote) join(c *collector) {
	s.mu.Lock()
	s.collectors = append(s.collectors, c)
	s.mu.Unlock()
	s.ReadAnew()
}

// leave removes it.
func (s *remote) leave(c *collector) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(c)
	s.collectors = slices.DeleteFunc(s.collectors, func(other *collector) bool { return other == c })
}

// Begin implements master.Handler.
func (s *remote) Begin(i master.Info) {
	s.mu.Lock()
	s.iin = i.IIN
	again := false
	for _, c := range s.collectors {
		again = c.begin(i) || again
	}
	if again { // unchanged values are reported, too
		s.ReadAnew()
	}
	if s.surveying != nil {
		s.surveying.Begin(i)
	}
}

// Header implements master.Handler.
func (s *remote) Header(h app.Header) {
	for _, c := range s.collectors {
		c.header(h)
	}
	if s.surveying != nil {
		s.surveying.Header(h)
	}
}

// survey passes incoming data to a Survey as well, until it is called with nil.
func (s *remote) survey(y *survey.Survey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.surveying = y
}

// rest is Survey.Rest while the Survey is active.
func (s *remote) rest(y *survey.Survey) []*master.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return y.Rest()
}

// End implements master.Handler.
func (s *remote) End(master.Info) {
	for _, c := range s.collectors {
		c.end()
	}
	s.mu.Unlock()
}

// notice notifies the sessions when the device does not answer requests other than theirs.
func (s *remote) notice(n master.Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case n.Kind != master.NoticeRequest:
	case errors.Is(n.Err, master.ErrTimeout):
		s.trouble(fault.E("dnp3.Subscribe", fault.Timeout, "", n.Err))
	case n.Request == integrityName && (n.Err == nil || errors.Is(n.Err, master.ErrRefused)):
		for _, c := range s.collectors {
			c.search.allRead()
		}
	}
}

var errGone = errors.New("the device has closed its connection; it must dial in again")

// disconnected notifies the sessions that the device has disconnected.
func (s *remote) disconnected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble(fault.E("dnp3.Subscribe", fault.Unreachable, "", errGone))
}

// ended notifies the sessions that their line has ended.
func (s *remote) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.collectors {
		c.ended()
	}
}

// trouble is called with mu held.
func (s *remote) trouble(err error) {
	for _, c := range s.collectors {
		c.fail(err)
	}
}
