// Package ami contains the experiments about smart metering: meters send readings to concentrators, which send bulks to a metering data
// system (MDS). They repeat those of a published assessment, with its figures beside ours.
package ami

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/metersim"
)

// List returns the experiments.
func List() []experiment.Experiment {
	return []experiment.Experiment{
		timePerReading(), manyConcentrators(), sevenConcentrators(), concentratorLimit(), capacityOverBulk(), turningPoints(), wholeSystem(), payload(), dehems(), itron(), tables(), bulkFromMeters(), parallelRequests(), poorLinks(), redundancy(), clusterSize(),
	}
}

// source is where the published figures come from.
const source = "Assessment of High-performance Smart Metering for the Web Service Enabled Smart Grid (SAP Research, ICPE 2011): " +
	"concentrators and a metering data system (MDS) as SOAP web services on a Java EE server with MySQL, on desktop computers of 2010; a new TCP connection for each request."

// published labels its figures.
const published = "AMI-2011: SOAP, Java EE, MySQL"

// shared is what settings of all experiments with simulators are.
func shared(warmUp, window string) []experiment.Setting {
	return []experiment.Setting{
		{Name: "form", Default: metersim.SOAP, Doc: "of the messages: soap, soap12, json, csv, cim or block"},
		{Name: "kept", Default: "false", Doc: "whether connections stay open; the document opens a new one for each request"},
		{Name: "gzip", Default: "false", Doc: "whether messages are compressed"},
		{Name: "warm-up", Default: warmUp, Quick: "300ms", Doc: "sent but not measured"},
		{Name: "window", Default: window, Quick: "1s", Doc: "how long readings are sent, the warm-up included"},
		{Name: "meters", Default: "1000", Quick: "200", Doc: "behind each concentrator"},
	}
}

// fleet is what the settings say of simulators that send for a given time.
func fleet(b *experiment.Bench) metersim.Fleet {
	f := counting(b)
	f.For = b.Duration("window")
	f.WarmUp = min(b.Duration("warm-up"), f.For/2)
	return f
}

// counting is what the settings say of simulators that send a given number of requests.
func counting(b *experiment.Bench) metersim.Fleet {
	return metersim.Fleet{Form: b.Text("form"), Kept: b.Flag("kept"), Gzip: b.Flag("gzip"), Meters: max(1, b.Int("meters")), For: longest}
}

// common is how all experiments with simulators measure.
func common() []string {
	return []string{
		"The metering data system is a whole node in a process of its own. Simulated concentrators are in another process; each sends one request after another, and the next when the one before was answered. The node answers when the readings are on disk.",
		"Each reading is of a meter, an interval and a channel of its own. At the end the node is asked which intervals of all days it has: what was acknowledged must be found.",
		"Four valves in the node take the time of each message in nanoseconds: request seen, handler entered, handler left, reply sent. The handler makes the readings durable; beside it the server reads and checks the message and writes the answer.",
	}
}

// together is a limit of what runs on one machine.
const together = "Simulators and node share the processors; the report says what both used and whether the simulators were the limit."

var errNumbers = errors.New("is not a list of whole numbers of 1 or more; write such as 10,50,100")

// numbers reads a setting that is a list of whole numbers, or one such as 10..200..10.
func numbers(b *experiment.Bench, setting string) ([]int, error) {
	text := b.Text(setting)
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		ends := strings.Split(strings.TrimSpace(part), "..")
		var n [3]int
		for i, end := range ends {
			v, err := strconv.Atoi(end)
			if err != nil || v < 1 || len(ends) > len(n) {
				return nil, fmt.Errorf("setting %s: %q %w", setting, text, errNumbers)
			}
			n[i] = v
		}
		for v := n[0]; v <= max(n[0], n[1]); v += cmp.Or(n[2], 1) {
			out = append(out, v)
		}
	}
	return out, nil
}

// bulk is the case of messages of so many readings.
func bulk(n int) experiment.Case {
	return experiment.Case{Name: fmt.Sprintf("b = %d", n), X: float64(n)}
}

// millis is a duration of so many milliseconds.
func millis(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
