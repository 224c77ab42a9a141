package field

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"voltbus/fault"
	"voltbus/lab/dnp3pairs"
	"voltbus/lab/experiment"
	"voltbus/lab/peers"
	"voltbus/lab/rig"
)

// dnp3Sessions measures the DNP3 stack as a function of sessions, as its published counterpart was.
func dnp3Sessions() experiment.Experiment {
	return experiment.Experiment{
		Name:     "dnp3-sessions",
		Title:    "Confirmed DNP3 messages over 1 to 2,000 sessions",
		Question: "How many unsolicited messages a second do pairs of a DNP3 master and an outstation exchange and confirm, and what does a session cost?",
		Source:   "Protocol Scalability (Step Function I/O, September 2022) publishes no table, but these facts: the rate rises with the sessions past the number of processors and then levels off, it rises linearly with the workers up to the physical processors, and the peak heap falls from about 240 kB for one pair to about 130 kB a session as sessions grow.",
		Method: []string{
			"Each pair has a TCP connection of its own over loopback with TCP_NODELAY. The outstation's database holds 11 points each of binary input (g2v2), counter (g22v5) and analog input (g32v3), class 1, with room for 100 events of each.",
			"One message of a session is outstanding at a time: the application makes the events in one transaction, the outstation reports them unasked, the master compares every value, flag and time with the expected one and confirms, and the next message begins. A message of 100 values is one fragment of 1,526 bytes in 7 link frames, sent with one write.",
			"Each case runs in a process of its own, with both ends in it, and again with the outstations in a second process. Processor time is that of all processes; memory is that of the process with the masters, without the kernel's socket buffers.",
			"With peers: opendnp3 through a native program that does the same and sets TCP_NODELAY, if VOLTBUS_PEER_OPENDNP3 names one (both ends in one process).",
		},
		Limits: []string{
			"Loopback has no loss and no delay, and both ends share the processors.",
			"The published facts are from other hardware and from another stack; they are context.",
			"Memory of a pair is what the process grew by, divided by the pairs: it includes the garbage collector's head-room (gc-percent).",
		},
		Metric: experiment.Metric{Name: "confirmed messages", Unit: "messages/s", Axis: "sessions", Higher: true},
		Settings: []experiment.Setting{
			{Name: "sessions", Default: "1,4,16,64,256,1000,2000", Quick: "1,64", Doc: "numbers of sessions, with commas between"},
			{Name: "values", Default: "1,10,100", Quick: "100", Doc: "numbers of values of a message, with commas between"},
			{Name: "workers", Default: "1,2", Quick: "2", Doc: "numbers of processors that a process may use, each with one goroutine that serves connections, with commas between; more than there are counts as all of them"},
			{Name: "warm-up", Default: "1s", Quick: "200ms", Doc: "exchanged before a case is measured"},
			{Name: "window", Default: "3s", Quick: "500ms", Doc: "how long a case is measured"},
			{Name: "gc-percent", Default: "50", Doc: "the garbage collector's GOGC"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			return eachPairCase(b, func(c pairCase) error {
				return b.Measure(ctx, c.experimentCase(), func(ctx context.Context, t *experiment.Trial) error {
					return c.measure(ctx, b, t)
				})
			})
		},
		Peers: []experiment.Peer{openDNP3()},
	}
}

// pairCase is a case as work.
type pairCase struct {
	sessions, values, workers int
	split                     bool
}

func (c *pairCase) experimentCase() experiment.Case {
	ends := "both ends in one process"
	if c.split {
		ends = "ends in two processes"
	}
	line := fmt.Sprintf("%d values, %d workers, %s", c.values, c.workers, ends)
	return experiment.Case{Name: fmt.Sprintf("%s sessions, %s", experiment.Count(c.sessions), line), X: float64(c.sessions), Line: line}
}

// eachPairCase calls do with the cases of a run.
func eachPairCase(b *experiment.Bench, do func(pairCase) error) error {
	var lists [3][]int
	for i, name := range []string{"values", "workers", "sessions"} {
		var err error
		if lists[i], err = numbers(name, b.Text(name)); err != nil {
			return err
		}
	}
	values, workers, sessions := lists[0], upTo(runtime.NumCPU(), lists[1]), lists[2]
	for i := range 2 * len(values) * len(workers) * len(sessions) {
		c := pairCase{sessions: sessions[i%len(sessions)]}
		i /= len(sessions)
		c.workers = workers[i%len(workers)]
		i /= len(workers)
		c.values, c.split = values[i%len(values)], i >= len(values)
		if err := do(c); err != nil {
			return err
		}
	}
	return nil
}

// upTo returns the numbers, each at most a bound and once.
func upTo(most int, list []int) (out []int) {
	for _, n := range list {
		if n = min(n, most); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// mostOfPairs is the largest number of the experiment's lists: a process holds three files a pair.
const mostOfPairs = 6000

func numbers(setting, list string) ([]int, error) {
	var out []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > mostOfPairs {
			return nil, fault.E("study.numbers", fault.Invalid, setting, fmt.Errorf(
				"%q: write numbers from 1 to %d with commas between", list, mostOfPairs))
		}
		out = append(out, n)
	}
	return out, nil
}

func (c *pairCase) measure(ctx context.Context, b *experiment.Bench, t *experiment.Trial) error {
	p := rig.Pairs{
		Sessions: c.sessions, Values: c.values, Workers: c.workers, Split: c.split, GCPercent: max(1, b.Int("gc-percent")),
		WarmUp: b.Duration("warm-up"), Duration: b.Duration("window"), Program: b.Program(),
	}
	r, err := p.Measure(ctx)
	if err != nil {
		return err
	}
	c.record(t, &r)
	return nil
}

// record records what came of a case.
func (c *pairCase) record(t *experiment.Trial, r *dnp3pairs.Result) {
	seconds := r.Elapsed.Seconds()
	t.Value(float64(r.Messages) / seconds)
	t.Also("processor time of a message", "µs", float64(r.CPU.Microseconds())/float64(max(r.Messages, 1)))
	t.Also("processors in use", "", r.CPU.Seconds()/seconds)
	t.Also("most resident memory", "kB", float64(r.PeakKB))
	if r.GrownKB > 0 {
		t.Also("resident memory of a pair", "kB", float64(r.GrownKB)/float64(c.sessions))
	}
	t.Report(experiment.Progress{Rate: float64(r.Messages) / seconds})
}

// openDNP3 is opendnp3 in a native program of its own.
func openDNP3() experiment.Peer {
	return experiment.Peer{
		Name: "opendnp3 with TCP_NODELAY", Find: peers.FindOpenDNP3,
		Run: func(ctx context.Context, b *experiment.Bench) error {
			return eachPairCase(b, func(c pairCase) error {
				if c.split {
					return nil
				}
				return b.Measure(ctx, c.experimentCase(), func(ctx context.Context, t *experiment.Trial) error {
					r, err := peers.OpenDNP3(ctx, dnp3pairs.Options{
						Sessions: c.sessions, Values: c.values, Warmup: b.Duration("warm-up"), Duration: b.Duration("window"),
					}, c.workers)
					if err != nil {
						return err
					}
					c.record(t, &r)
					return nil
				})
			})
		},
	}
}
