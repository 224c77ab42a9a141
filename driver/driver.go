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
	"slices"
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
	// Dial opens the line configured in cfg. It returns ErrNotConnected (wrapped, with the cause) if the line
	// cannot be opened now.
	Dial func(ctx context.Context, cfg Config) (Line, error)
	// Search finds the devices that are reachable under a configuration; nil if the driver cannot search.
	Search *Search
}

// Search is how a driver finds devices.
type Search struct {
	// Without are placeholder values for keys that a configuration requires and a search does not use.
	Without map[string]any
	// Run searches until every device has answered, or ctx ends. The order of the devices is stable.
	Run func(ctx context.Context, cfg Config) ([]Neighbour, error)
	// Covers reports whether a configured device is in the network that a search under cfg asks; nil if the driver cannot tell.
	Covers func(cfg, device Config) bool
	// Is reports whether a configured device in that network is one that was found.
	Is func(device Config, n *Neighbour) bool
	// Compare returns the names of the points of a device that its configuration lacks, and of those that the device has no more.
	Compare func(device Config, has []Found) (added, gone []string)
}

// Neighbour is a device found by a search.
type Neighbour struct {
	Name   string         // the device's name, made readable; "" if it reports none
	Detail string         // what and where it is, for people; contains untrusted text from the device
	Note   string         // what a person must know before adding it; "" for nothing
	Config map[string]any // the configuration keys that the search determined

	// Facts are columns of a table of devices, such as vendor; contain untrusted text from the device.
	Facts map[string]string
	// Parts are what the device consists of, such as the models of SunSpec, in its order; none if its protocol has no parts.
	Parts []Part
}

// Part is a part of a device that a search found.
type Part struct {
	Number int    // the standard's number of what it is
	Name   string // what the standard calls it; "" if it is not published
	At     string // where it is, such as holding 40070
	Points int    // that the device has
}

// Config is the typed configuration of one device of one Kind: a pointer to a struct with yaml
// tags that the configuration file is decoded into, strictly.
type Config interface {
	// Validate reports every problem at once, each as a *Problem where a key can be named.
	Validate() []error
	// Load reads what the configuration refers to, such as a registry file, only from the given files. It is
	// called once after decoding and before Validate.
	Load(files Files) []error
	// LineName identifies the physical line: devices with the same name share one connection and one
	// goroutine. It also names the line in logs and statistics. A device with the empty name has its own
	// line.
	LineName() string
	// Points lists the device's points; Info.Path is only the name within the device.
	Points() []point.Info
}

// Files are the files that a configuration may name. The author of a configuration may have fewer rights to
// files than the process that loads it: a driver must open files only through Files.
type Files interface {
	// ReadFile returns the content of a file of at most so many bytes. A name is relative to the location of
	// the configuration. The bytes are shared: they must not be modified. Errors say what to do, and may be
	// shown.
	ReadFile(name string, most int64) ([]byte, error)
}

// Encoder is a Config that knows, without asking the device, which values its points can hold.
type Encoder interface {
	// Encode returns what a point reports after accepting a value: rounded to the step of the register, the
	// size of the object or other storage. place is the index of the point in Points. The error says why the
	// point can never accept the value, with the limit. If only the device knows, the value is returned
	// unchanged. Encode is safe for concurrent use after Validate, and does not block.
	Encode(place int, v point.Value) (point.Value, error)
}

// Tagger is a Config whose device has built-in tags. Configured tags take precedence: those of the device
// over these, and those of a point in the registry over both.
type Tagger interface {
	// BuiltInTags returns the tags that all points of the device have. The map is shared: it must not be
	// modified.
	BuiltInTags() map[string]string
}

// ReadOnly is a Config of a device that forgets what it has reported, and whose settings a read-only session must leave
// unchanged.
type ReadOnly interface {
	// ReadOnly returns a configuration of the same device with its own line, to read or discover its points
	// and then close it. Such a line neither removes what the device keeps for others nor changes what it
	// does for them.
	ReadOnly() Config
}

// Keep returns what is kept under a name, such as opcua.pem, and otherwise what create returns, which it then keeps where nobody
// else can read it. It may be called by any goroutine.
type Keep func(name string, create func() ([]byte, error)) ([]byte, error)

// Keeping is a Config of a device that keeps a secret of this node, such as the key that it identifies itself with.
type Keeping interface {
	// SetKeep is called before Dial. Without it nothing is kept.
	SetKeep(keep Keep)
}

// Kept returns drivers that keep their secrets by a function.
func Kept(kinds []Kind, keep Keep) []Kind {
	kept := slices.Clone(kinds)
	for i := range kept {
		dial := kept[i].Dial
		if dial == nil {
			continue
		}
		kept[i].Dial = func(ctx context.Context, cfg Config) (Line, error) {
			if c, keeps := cfg.(Keeping); keeps {
				c.SetKeep(keep)
			}
			return dial(ctx, cfg)
		}
	}
	return kept
}

// Problem is an error in one key of a configuration.
type Problem struct {
	Key  string // path within the device's section, such as "registry[3].type"; "" for the whole section
	File string // the file as named in the configuration, if not the configuration itself (a registry)
	Row  int    // the line in File, from 1
	Text string // what is wrong and what to write instead
	Kind string // the kind of error, in words that reveal nothing of File; "" if that is impossible
	Note bool   // not an error: it tells what was left out of a list, and why
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
	// Open prepares a session with the device that cfg describes. It may cause no traffic: an absent device
	// is then detected by the first Read.
	Open(ctx context.Context, cfg Config) (Session, error)
	Close() error
}

// Pauser is a Line that can stop receiving while its sessions change. A driver that acknowledges a report
// makes its device forget it: all sessions that share the device must exist before anything is received, and
// must have taken everything before the device is closed.
type Pauser interface {
	// Pause stops receiving and acknowledging by the time it returns, until Resume or Close. Incoming data
	// waits. Open, Subscribe, Take and Close of sessions work meanwhile; a Read would wait for its time-out.
	// Neither method waits for a device, and both may be called repeatedly.
	Pause()
	Resume()
}

// Session is a device on an open line. It is used by one goroutine at a time. After any method has returned
// ErrNotConnected the Session and its Line are dead: close them and dial again.
type Session interface {
	// Read returns one sample for each name, in order, with Point holding the bare name. Its Time is the
	// device's, or zero for the time of arrival. A point that could not be read has a bad Quality and no
	// value. The error concerns the whole request: ErrNotConnected for the line, fault.Timeout or
	// fault.Unreachable for a device that does not answer while its line works. Samples are nil with an
	// error. The session owns the slice, and may reuse it in its next call.
	//
	// Cancelling ctx ends the read within the driver's own request time-out at the latest.
	Read(ctx context.Context, names []string) ([]point.Sample, error)
	Close() error
}

// Diagnoser is a Session that can tell what is wrong with a device that answers.
type Diagnoser interface {
	// Diagnose returns why the last Read left points bad although the device answered, as a sentence that
	// says what to do; nil if it did not. It includes ErrScanCut if the end of ctx cut the Read short; its
	// kind is fault.Invalid if the device lacks what the configuration names. It does not access the device.
	Diagnose() error
}

// ErrScanCut says that a device answers, but a scan takes longer than allowed: values received in time are
// kept, the rest is bad. The owner of the device knows the setting that limits it.
var ErrScanCut = errors.New("the scan was cut")

// ErrPartial says that a device declined a value, and no longer has the previous one, for example because it
// accepted a part of the value. The kind of such an error is that of its answer.
var ErrPartial = errors.New("the device did not take the whole value")

// Writer is a Session whose points can be changed.
type Writer interface {
	// Write sets one point and returns the value that the device then reports; none if it accepted the value
	// and does not report one. A read-only point gives fault.Refused, a negative answer fault.Rejected, a
	// value that does not fit, including NaN and infinities, fault.Invalid, with the limit. In these cases,
	// and after Unreachable, the device did not accept the value, and keeps the previous one unless the error
	// wraps ErrPartial.
	//
	// If it is unknown whether the device accepted it, because the answer or the reading back was lost, the
	// error is fault.Timeout, which also wraps ErrNotConnected if the line is lost; or Canceled if ctx ended
	// meanwhile. Write never resends anything on its own.
	Write(ctx context.Context, name string, v point.Value) (point.Value, error)
}

// Levels is a set of levels in a priority array: 1 is the most urgent, 16 the least. The zero Levels is empty.
type Levels uint16

// LevelsOf returns the set of the given levels; numbers outside 1 to 16 are ignored.
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

// Command is the new value of a point, and what the node relinquishes.
type Command struct {
	Value point.Value // none: nothing is commanded from now on
	// Level is the level of the value in the array; 0 means the one that Prioritizing returns for the point.
	Level int
	// Back are the levels at which the device may still hold earlier commands of the node. They are relinquished once
	// the device has Value, except the level of Value itself. With neither Value nor Back, the level of a Command
	// without one is relinquished.
	Back Levels
}

// Relinquishes reports whether nothing is commanded from now on.
func (c Command) Relinquishes() bool { return c.Value.Kind() == point.None }

// Prioritizer is a Writer whose device has a priority array for some of its points (ASHRAE 135, clause 19.2), in which others
// command it, too.
type Prioritizer interface {
	Writer
	// Command is Write at a level. It returns the value that the point then reports, which differs from the command's
	// while a more urgent level is in use. For a point without an array it works as Write, and gives fault.Refused
	// for a command without a value.
	Command(ctx context.Context, name string, c Command) (point.Value, error)
	// Priorities returns the array of a point. A point without one gives fault.Refused; other errors are those of Read.
	Priorities(ctx context.Context, name string) (PriorityArray, error)
}

// PriorityArray is what all systems command a point to in its device (ASHRAE 135, clause 19.2).
type PriorityArray struct {
	Levels  [16]point.Value // from level 1 on; none where nothing is commanded
	Default point.Value     // what the point has when no level is in use; none if the device does not tell
}

// Prioritizing is a Config that knows which of its points have a priority array in the device: there, nothing
// remains of a command once it is relinquished.
type Prioritizing interface {
	// Priority returns the level for values that are not commanded, such as a default, in the array of the point at an
	// index in Points; 0 if it has none.
	Priority(place int) int
}

// Freezer is a Session of a device that can copy its counters into frozen counters, all at one moment.
type Freezer interface {
	// Freeze makes the device copy all its counters, and then set them to zero if clears is true. It returns the
	// values of the points that this changes, as Read does, as far as the device reports them. The errors are those
	// of Write, and fault.Refused for a device without counters among its points.
	Freeze(ctx context.Context, clears bool) ([]point.Sample, error)
}

// Subscriber is a Session that reports on its own: change of value, unsolicited messages. Its device's
// reports are kept, bounded, until they are taken. So the goroutine that owns a line waits once for all its
// sessions, however many there are, instead of listening to one after the other.
type Subscriber interface {
	// Subscribe makes the session keep the device's reports about names from now on, including those since
	// Open. From then until Close has returned it calls news whenever there is something to take: reports,
	// the first sign of life of the device, or the reason why reception from the device or the line has
	// ended. One call may announce several items, and a call may announce none. It calls news from any
	// goroutine; news must neither block nor call the session. ctx applies to Subscribe only. A second call
	// replaces names and news.
	Subscribe(ctx context.Context, names []string, news func()) error
	// Take calls emit for each report that came since the last Take, in order, from the goroutine that called
	// Take, and does not wait for more. It returns nil if reports of the device are being received,
	// ErrNotConnected when the line is lost, otherwise why they are not being received now; the subscription
	// then continues. Reports from before the failure are emitted first.
	Take(ctx context.Context, emit func(point.Sample)) error
}

// Forgetful is a Subscriber whose device forgets what it has reported, including what a read brought besides the present
// values. So its owner also subscribes when only reads are wanted, and takes the reports after each read.
type Forgetful interface {
	Subscriber
	// Forgetful does nothing: it marks the type.
	Forgetful()
}

// Careful is a Subscriber that lets its owner decide when reports are confirmed to its device: not before they
// are stored.
type Careful interface {
	Subscriber
	// Careful makes the session confirm reports to the device only when the function that Keep returned for them is
	// called, from now until Close. A device may withhold its answer to a Read or a Write until then, so these call
	// while, on the goroutine of their caller, when reports of any session of the line are waiting to be taken. Call it
	// before Subscribe.
	Careful(while func())
	// Keep returns the function to call, from any goroutine, once everything that Take has emitted so far is stored;
	// nil if nothing waits for that. If it is not called in time, the device repeats the reports.
	Keep() (kept func())
}

// Lossy is a Subscriber that may drop reports, or whose device may.
type Lossy interface {
	// Lost returns how many reports were lost since the last call: those not taken in time, and one for each
	// time that the device reported a loss, as it does not tell the number.
	Lost() uint64
}

// Lacking is a Subscriber that knows which of the wanted points its device does not provide.
type Lacking interface {
	Subscriber
	// Lacks returns why points have no value although the device answers, as Diagnoser does, and whether that is known
	// by now. It does not wait: it may request missing points from the device in the background, and calls news when it
	// knows more.
	Lacks() (known bool, why error)
}

// Dated is a Session whose device supplies its own times, not all of which are accepted: see point.Bounds.
type Dated interface {
	// Misdated returns how many samples got the time of their arrival since the last call, because the
	// device's time was out of bounds.
	Misdated() uint64
}

// Discoverer is a Session that can ask its device which points it has. The configuration may then list none,
// if its driver allows that.
type Discoverer interface {
	// Discover returns the points of the device, in a stable order. It queries the device and takes as long
	// as a few reads; errors are those of Read.
	Discover(ctx context.Context) ([]Found, error)
}

// Found is a point found on a device.
type Found struct {
	Info   point.Info        // with a proposed name
	Sample point.Sample      // its present value
	Entry  map[string]string // its entry in the configuration's list of points, by column
}

// Logged is a Config of a device that may log its points.
type Logged interface {
	// LogSpan returns how far back gaps of points are filled from the log; 0 for not at all.
	LogSpan() time.Duration
}

// LogReader is a Session whose device logs points itself, so that values missed while it was unreachable can be read
// later.
type LogReader interface {
	// LoggedPoints returns the names of the points that the device logs. It may query the device; errors are those of Read.
	LoggedPoints(ctx context.Context) ([]string, error)
	// ReadLog returns what the device logged for a point later than one time and earlier than another, oldest first, each
	// with the device's time and the quality point.Backfilled, unless the device states another. It reads a part: to
	// continue, call it again from Part.Next. The same record has the same time in each call. Errors are those of Read.
	ReadLog(ctx context.Context, name string, after, before time.Time) (LogPart, error)
}

// LogPart is a part of a device's log.
type LogPart struct {
	Samples []point.Sample // Point holds the bare name
	More    bool           // there is more to read
	Next    time.Time      // start of the next part; later than after in the request
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
