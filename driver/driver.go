// Package driver is the contract between a field protocol and the platform. A driver turns a
// protocol into points: it opens a line, opens devices on it, reads and writes. It knows neither
// the bus nor the configuration file, logs nothing, and starts no goroutine that outlives Close.
//
// The nouns follow the wiring closet: a Line is what can be opened once (a serial port, a TCP
// connection to a gateway, a UDP socket); a Session is one device on it. Everything that belongs
// to one Line is called by one goroutine at a time, so drivers need no locks.
package driver

import (
	"context"
	"errors"
	"time"

	"voltbus/point"
)

// ErrNotConnected says that the line is lost: the caller closes the sessions and the Line, and
// dials again later. It may be wrapped. Errors without it concern one request or one device.
var ErrNotConnected = errors.New("not connected")

// Kind describes one driver. It is a value without state, safe for concurrent use.
type Kind struct {
	// Name is what stands as "driver:" in the configuration, such as "modbus".
	Name string
	// Doc is one sentence for help and documentation.
	Doc string
	// NewConfig returns a pointer to a configuration with its defaults.
	NewConfig func() Config
	// Dial opens the line that cfg names. It returns ErrNotConnected (wrapped, with the cause)
	// if the line cannot be opened now.
	Dial func(ctx context.Context, cfg Config) (Line, error)
	// Search finds the devices that can be reached as a configuration says; nil if the driver cannot.
	Search *Search
}

// Search is how a driver finds devices.
type Search struct {
	// Without are the keys, with something to stand for them, that a configuration needs and a search does without.
	Without map[string]any
	// Run searches until it has heard of everybody, or ctx ends. The devices come in an order that does not change.
	Run func(ctx context.Context, cfg Config) ([]Neighbour, error)
}

// Neighbour is a device that a search found.
type Neighbour struct {
	Name   string         // that the device has, made readable; "" if it does not say
	Detail string         // what and where it is, for people; text from the device, so hostile
	Note   string         // what somebody must know before it is added; "" for nothing
	Config map[string]any // the keys of its configuration that the search found out
}

// Config is the typed configuration of one device of one Kind: a pointer to a struct with yaml
// tags that the configuration file is decoded into, strictly.
type Config interface {
	// Validate reports every problem at once, each as a *Problem where a key can be named.
	Validate() []error
	// Load reads what the configuration refers to, such as a registry file, from files alone. It is
	// called once after decoding and before Validate.
	Load(files Files) []error
	// LineName identifies the physical line: devices with the same name share one connection
	// and one goroutine. It also names the line in logs and statistics. A device with the
	// empty name has a line of its own.
	LineName() string
	// Points lists the device's points; Info.Path holds only the name within the device.
	Points() []point.Info
}

// Files are the files that a configuration may name. Who writes a configuration may read fewer files than the
// process that loads it: a driver opens no file but by these.
type Files interface {
	// ReadFile returns what a file holds, of at most as many bytes. A name is relative to the place of the
	// configuration. The bytes are shared: they must not be changed. Errors say what to do, and may be shown.
	ReadFile(name string, most int64) ([]byte, error)
}

// Encoder is a Config that knows, without asking the device, which values its points can hold.
type Encoder interface {
	// Encode returns what a point reports once it has taken a value: rounded to the step of the register,
	// the size of the object or whatever holds it. place is that of the point in Points. The error says
	// why the point can never take the value, with the limit. Where only the device knows, the value comes
	// back as it is. Encode is safe for concurrent use after Validate, and does not wait.
	Encode(place int, v point.Value) (point.Value, error)
}

// Tagger is a Config whose device has tags without anybody having written them. What is configured wins: the
// tags of the device over these, and those of a point in the registry over both.
type Tagger interface {
	// BuiltInTags returns the tags that all points of the device have. The map is shared: it must not be
	// changed.
	BuiltInTags() map[string]string
}

// ReadOnly is a Config of a device that forgets what it has reported, and whose settings a session that only reads must
// leave as they are.
type ReadOnly interface {
	// ReadOnly returns a configuration of the same device for a line of its own, to read or discover what it
	// has and then close it. Nothing that such a line does takes from the device what it keeps for
	// others, or changes what it does for them.
	ReadOnly() Config
}

// Problem is what is wrong with one key of a configuration.
type Problem struct {
	Key  string // path within the device's section, such as "registry[3].type"; "" for the whole
	File string // the file as the configuration names it, if it is not the configuration itself (a registry)
	Row  int    // the line in File, from 1
	Text string // what is wrong and what to write instead
	Kind string // the kind of fault, in words that hold nothing of File; "" if nothing can be said without
	Note bool   // nothing is wrong: it says what of a list was left out, and why
}

// Error returns the text, with its key.
func (p *Problem) Error() string {
	if p.Key == "" {
		return p.Text
	}
	return p.Key + ": " + p.Text
}

// Line is an open physical line. Close also ends every Session on it.
type Line interface {
	// Open prepares a session with the device that cfg describes. It may do without any
	// traffic: an absent device then shows at the first Read.
	Open(ctx context.Context, cfg Config) (Session, error)
	Close() error
}

// Pauser is a Line that can stop receiving while its sessions change. A driver that acknowledges a
// report has its device forget it: all who share the device must be there before anything is received, and
// must have taken everything before it goes.
type Pauser interface {
	// Pause has nothing more received and acknowledged when it returns, until Resume or Close. What arrives
	// waits. Open, Subscribe, Take and Close of sessions work meanwhile; a Read would wait for its
	// time-out. Neither waits for a device, and both may be called again.
	Pause()
	Resume()
}

// Session is a device on an open line. It is used by one goroutine at a time. After any method
// returned ErrNotConnected the Session and its Line are dead: close them and dial again.
type Session interface {
	// Read returns one sample for each name, in order, with Point holding the bare name. Its Time is
	// the device's, or zero or the time of arrival. A
	// point that could not be read has a bad Quality and no value. The error is for the whole
	// request: ErrNotConnected for the line, fault.Timeout or fault.Unreachable for a device
	// that does not answer while its line lives. Samples are nil with an error. The slice is
	// the session's, which may use it again in its next call.
	//
	// Cancelling ctx ends the read within the driver's own request time-out at the latest.
	Read(ctx context.Context, names []string) ([]point.Sample, error)
	Close() error
}

// Diagnoser is a Session that can say what is wrong with a device that answers.
type Diagnoser interface {
	// Diagnose returns why the last Read left points bad although the device answered, in a sentence that
	// says what to do; nil if it did not. ErrScanCut is in it when the end of ctx cut the Read short, kind
	// fault.Invalid when the device has not got what the configuration names. It does not ask the device.
	Diagnose() error
}

// ErrScanCut says that a device answers, but a scan takes longer than it may: what answered in time is
// kept, the rest is bad. The owner of the device knows by which setting.
var ErrScanCut = errors.New("the scan was cut")

// ErrPartial says that a device declined a value, and has not got the one before any more, such as because it took a
// part of the value. The kind of such an error is that of its answer.
var ErrPartial = errors.New("the device did not take the whole value")

// Writer is a Session whose points can be changed.
type Writer interface {
	// Write sets one point and returns the value that the device then reports; none if it took the value and
	// does not say which it has. A point that is
	// read-only gives fault.Refused, an answer of "no" fault.Rejected, a value that does not fit, NaN
	// and the infinities among them, fault.Invalid, with the limit. The device did not take the value
	// then, nor after Unreachable, and has the one before unless the error wraps ErrPartial.
	//
	// When it is not known whether the device took it, because the answer or the reading back was
	// lost, the error is fault.Timeout, which also wraps ErrNotConnected if the line is lost; or
	// Canceled when ctx ended meanwhile. Write sends nothing again by itself.
	Write(ctx context.Context, name string, v point.Value) (point.Value, error)
}

// Levels are places in a priority array, as a set: 1 is the most urgent, 16 the least. The zero Levels has none.
type Levels uint16

// LevelsOf returns the set of some levels; what is not from 1 to 16 is none.
func LevelsOf(levels ...int) (set Levels) {
	for _, level := range levels {
		if level >= 1 && level <= 16 {
			set |= 1 << (level - 1)
		}
	}
	return set
}

// Has reports whether a level is in the set.
func (l Levels) Has(level int) bool { return l&LevelsOf(level) != 0 }

// Command is what a point is to be set to, and what the node takes back.
type Command struct {
	Value point.Value // none: nothing is commanded any more
	// Level is the place of the value in the array; 0 is what Prioritizing says of the point.
	Level int
	// Back are the levels at which the device may still have what the node commanded before. They are relinquished once
	// the device has Value, except that of Value itself. With neither Value nor Back the level of a Command without one
	// is relinquished.
	Back Levels
}

// Relinquishes reports whether nothing is commanded any more.
func (c Command) Relinquishes() bool { return c.Value.Kind() == point.None }

// Prioritizer is a Writer whose device has a priority array for some of its points (ASHRAE 135, clause 19.2), in which others
// command it too.
type Prioritizer interface {
	Writer
	// Command is Write at a level. The value that it returns is what the point reports then, which is not that of the
	// command while somebody commands it at a more urgent level. A point without an array takes a value as by Write,
	// and gives fault.Refused for a command without one.
	Command(ctx context.Context, name string, c Command) (point.Value, error)
	// Priorities returns the array of a point, from level 1 on, without a value where nothing is commanded. A point without
	// an array gives fault.Refused; other errors are those of Read.
	Priorities(ctx context.Context, name string) ([]point.Value, error)
}

// Prioritizing is a Config that knows which of its points have a priority array in the device: nothing is left of a
// command there once it was relinquished.
type Prioritizing interface {
	// Priority returns the level of values that nobody commands, such as a default, in the array of the point at a place
	// in Points; 0 if it has none.
	Priority(place int) int
}

// Freezer is a Session of a device that can copy its counters into frozen counters, all at one moment.
type Freezer interface {
	// Freeze has the device copy all its counters, and set them to zero then if clears is true. It returns what the
	// points say then that this changes, as Read does, as far as the device shows them. The errors are those of
	// Write, fault.Refused for a device without counters among its points.
	Freeze(ctx context.Context, clears bool) ([]point.Sample, error)
}

// Subscriber is a Session that reports by itself: change of value, unsolicited messages. What its
// device reports is kept, bounded, until it is taken. So the goroutine that owns a line waits once
// for all its sessions, however many there are, instead of listening to one after the other.
type Subscriber interface {
	// Subscribe has the session keep what the device reports about names from now on, what came
	// since Open included. From then until Close returns it calls news whenever there is something to
	// take: reports, the first sign of life of the device, or the reason why the device or the line
	// is no longer received. One call may stand for much, and many calls for nothing. It calls news
	// from any goroutine; news neither waits nor calls the session. ctx is for Subscribe alone. A
	// second call replaces names and news.
	Subscribe(ctx context.Context, names []string, news func()) error
	// Take calls emit for each report that came since the last Take, in order, from the goroutine
	// that called Take, and does not wait for more. It returns nil if reports of the device are received,
	// ErrNotConnected when the line is lost, else why they are not received now; the
	// subscription goes on then. What came before the trouble is emitted first.
	Take(ctx context.Context, emit func(point.Sample)) error
}

// Forgetful is a Subscriber whose device forgets what it has reported, also what a read brought beside the present values.
// So its owner subscribes also where only reads are wanted, and takes what came after each of them.
type Forgetful interface {
	Subscriber
	// Forgetful does nothing: the type says it.
	Forgetful()
}

// Careful is a Subscriber that lets its owner decide when reports are confirmed to its device: not before they
// are kept.
type Careful interface {
	Subscriber
	// Careful confirms reports to the device only when the function that Keep returned for them was called, from now
	// until Close. A device may wait for that with its answer to a Read or a Write, so these call while, on the goroutine
	// of their caller, when reports of any session of the line wait to be taken. Call it before Subscribe.
	Careful(while func())
	// Keep returns the function to call, from any goroutine, once everything that Take has emitted so far is kept; nil
	// if nothing waits for that. If it is not called in time, the device says the reports again.
	Keep() (kept func())
}

// Lossy is a Subscriber that had to let go of reports, or whose device did.
type Lossy interface {
	// Lost returns how many reports were lost since it was called last: those that nobody took in
	// time, and one for each time that the device said it lost some, as it does not say how many.
	Lost() uint64
}

// Lacking is a Subscriber that knows which of the points that are wanted its device does not give.
type Lacking interface {
	Subscriber
	// Lacks returns why points are without a value although the device answers, as Diagnoser does, and whether that is
	// known by now. It does not wait: it may have the device asked for what did not come by itself, and calls news when
	// it knows more.
	Lacks() (known bool, why error)
}

// Dated is a Session whose device gives times of its own, not all of which are believed: see point.Bounds.
type Dated interface {
	// Misdated returns how many samples got the time of their arrival since it was called last, because the
	// device's was out of bounds.
	Misdated() uint64
}

// Discoverer is a Session that can ask its device which points it has. The configuration may list
// none then, where its driver allows that.
type Discoverer interface {
	// Discover returns the points that the device shows, in an order that does not change. It asks
	// the device and takes as long as a few reads; errors are those of Read.
	Discover(ctx context.Context) ([]Found, error)
}

// Found is a point that a device was found to have.
type Found struct {
	Info   point.Info        // with a proposed name
	Sample point.Sample      // its present value
	Entry  map[string]string // what the list of points of the configuration must say to have it, by column
}

// Logged is a Config of a device that may keep a log of its points.
type Logged interface {
	// LogSpan returns how far back gaps of points are to be filled from the log; 0 for not at all.
	LogSpan() time.Duration
}

// LogReader is a Session whose device logs points by itself, so that what was missed while it could not be reached can be
// read later.
type LogReader interface {
	// LoggedPoints returns the names of the points that the device logs. It may ask the device; errors are those of Read.
	LoggedPoints(ctx context.Context) ([]string, error)
	// ReadLog returns what the device logged of a point later than one time and earlier than another, the oldest first, each
	// with the time that the device gave it and the quality point.Backfilled, unless the device says something else of it.
	// It reads a part: to go on, call it again from Part.Next. The same record has the same time in each call. Errors are
	// those of Read.
	ReadLog(ctx context.Context, name string, after, before time.Time) (LogPart, error)
}

// LogPart is a part of what a device logged.
type LogPart struct {
	Samples []point.Sample // Point holds the bare name
	More    bool           // there is more to be read
	Next    time.Time      // from when on; later than after in the request
}

// AlarmSeverity says how urgent an alarm is.
type AlarmSeverity string

// The severities.
const (
	AlarmInfo     AlarmSeverity = "info"
	AlarmWarning  AlarmSeverity = "warning"
	AlarmCritical AlarmSeverity = "critical"
)

// Alarm is a state of a device that somebody should know of (ISA-18.2). It is over when it is neither active nor waits to be
// acknowledged.
type Alarm struct {
	Key            string // the device's name of what it is about; it does not change
	Text           string // for people; hostile
	Severity       AlarmSeverity
	Active         bool
	Unacknowledged bool // the device waits for somebody to acknowledge it
	Since          time.Time
}

// Alarmer is a Session whose device tells of alarms.
type Alarmer interface {
	// Alarms returns the alarms that the device has now, and whether these are all: a device may be unable to list them. From then
	// on, until Close, told is called with each that changes, from any goroutine; it does not wait, and calls nothing of the
	// session. A second call replaces told. Errors are those of Read.
	Alarms(ctx context.Context, told func(Alarm)) (list []Alarm, all bool, err error)
	// Acknowledge tells the device that somebody has seen an alarm. One that it has not got, or that does not wait for it, gives
	// fault.NotFound; other errors are those of Write.
	Acknowledge(ctx context.Context, key, who string) error
}
