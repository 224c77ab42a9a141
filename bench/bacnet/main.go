// Command bacnet measures how many BACnet devices one socket serves, and how fast properties are read; see README.md.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/driver/bacnet/survey"
	"voltbus/point"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/server"
	"voltbus/protocol/bacnet/service"
)

func main() {
	devices := flag.Int("devices", 1000, "devices")
	points := flag.Int("points", 20, "points of each")
	period := flag.Duration("period", 10*time.Second, "between two reads of a device")
	duration := flag.Duration("duration", 30*time.Second, "of each measurement")
	peer := flag.String("peer", "", "a device of another project to read 100 properties from, such as 10.66.0.11:47808")
	local := flag.String("local", "127.0.0.1:0", "own address for -peer")
	scan := flag.Bool("scan", false, "measure how long a scan of the devices with their points takes instead")
	serve := flag.Bool("serve", false, "be the devices (used by the program itself)")
	flag.Parse()
	var err error
	switch {
	case *serve:
		err = serveDevices(*devices, *points)
	case *scan:
		err = measureScan(*devices, *points)
	case *peer != "":
		err = measureReads("peer", *local, *peer, *duration)
	default:
		err = measure(*devices, *points, *period, *duration)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const port = 47818

// addressOf is where device i is.
func addressOf(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 1, byte(i / 250), byte(i%250 + 1)}), port)
}

// broadcast is the broadcast address of the loopback interface.
func broadcast() netip.Addr { return netip.AddrFrom4([4]byte{127, 255, 255, 255}) }

// measureScan looks for the devices, a hundred instances at a time, and asks each for its points.
func measureScan(devices, points int) error {
	stop, err := start(devices, points)
	if err != nil {
		return err
	}
	defer stop()
	c, err := client.Open(context.Background(), client.Config{IP: ip.Config{Listen: netip.MustParseAddrPort("127.1.250.250:0"), Broadcast: broadcast(), BroadcastPort: port}})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	before, began := processor(), time.Now()
	limits := client.Scan{Devices: service.Devices(0, uint32(devices-1)), Step: 100, Pause: 200 * time.Millisecond, Wait: 3 * time.Second}
	found, err := survey.Scan(context.Background(), c, limits, true, nil)
	if err != nil {
		return err
	}
	all, failed := 0, 0
	for i := range found {
		all += len(found[i].Points)
		if found[i].Err != nil {
			failed++
		}
	}
	took := time.Since(began)
	fmt.Printf("scan: %d devices with %d points, %d failed, %.1f s, %.2f cores\n", len(found), all, failed, took.Seconds(), (processor()-before).Seconds()/took.Seconds())
	return nil
}

// serveDevices is devices until standard input ends.
func serveDevices(devices, points int) error {
	for i := range devices {
		d, err := server.Open(context.Background(), server.Config{
			Instance: uint32(i), Name: fmt.Sprintf("device %d", i), Vendor: 999,
			Client: client.Config{IP: ip.Config{Listen: addressOf(i), Broadcast: broadcast()}},
		})
		if err != nil {
			return err
		}
		for n := range points {
			p := server.NewPoint(server.PointConfig{
				ID: encoding.ObjectID{Type: enum.AnalogInput, Instance: uint32(n + 1)}, Name: fmt.Sprintf("input %d", n+1), Units: enum.UnitDegreesCelsius, Value: encoding.Real(float32(n)),
			})
			if err := d.Add(p); err != nil {
				return err
			}
		}
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return nil
}

// start runs the devices in a process of their own.
func start(devices, points int) (stop func(), err error) {
	cmd := exec.CommandContext(context.Background(), os.Args[0], "-serve", "-devices", strconv.Itoa(devices), "-points", strconv.Itoa(points)) //nolint:gosec // this program
	cmd.Stderr = os.Stderr
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		return nil, fmt.Errorf("the devices say %q: %w", line, err)
	}
	return func() {
		_ = in.Close()
		_ = cmd.Wait()
	}, nil
}

// reader is one device that is read once a period.
type reader struct {
	session driver.Session
	names   []string
	took    []time.Duration
	failed  int
}

func measure(devices, points int, period, duration time.Duration) error {
	stop, err := start(devices, points)
	if err != nil {
		return err
	}
	defer stop()
	readers := make([]*reader, devices)
	for i := range readers {
		if readers[i], err = open(i, points); err != nil {
			return err
		}
	}
	before, began := processor(), time.Now()
	var running sync.WaitGroup
	for i, r := range readers {
		running.Go(func() { r.run(began.Add(period*time.Duration(i)/time.Duration(devices)), period, began.Add(duration)) })
	}
	running.Wait()
	used, lasted := processor()-before, time.Since(began)
	var took []time.Duration
	failed := 0
	for _, r := range readers {
		took = append(took, r.took...)
		failed += r.failed
	}
	slices.Sort(took)
	fmt.Printf("%d devices × %d points each %v on one socket: %d reads, %d failed, p50 %v, p99 %v, max %v, %.2f cores, %.0f MB\n",
		devices, points, period, len(took), failed, took[len(took)/2], took[len(took)*99/100], took[len(took)-1], used.Seconds()/lasted.Seconds(), resident())
	return measureReads("own server", "127.0.0.1:0", addressOf(0).String(), min(duration, 10*time.Second))
}

func open(i, points int) (*reader, error) {
	c := bacnet.NewConfig()
	c.Local, c.Address = "127.0.0.1/32:0", addressOf(i).String()
	r := &reader{}
	for n := range points {
		name := fmt.Sprintf("p%d", n+1)
		c.Registry.Entries = append(c.Registry.Entries, pointlist.Entry{Name: name, Object: fmt.Sprintf("analog-input:%d", n+1)})
		r.names = append(r.names, name)
	}
	if problems := c.Validate(); len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	line, err := bacnet.Kind().Dial(context.Background(), c)
	if err != nil {
		return nil, err
	}
	r.session, err = line.Open(context.Background(), c)
	return r, err
}

func (r *reader) run(first time.Time, period time.Duration, until time.Time) {
	for at := first; at.Before(until); at = at.Add(period) {
		time.Sleep(time.Until(at))
		began := time.Now()
		samples, err := r.session.Read(context.Background(), r.names)
		r.took = append(r.took, time.Since(began))
		if err != nil || slices.ContainsFunc(samples, isBad) {
			r.failed++
		}
	}
}

// measureReads reads 100 properties of a device at once, and one, again and again.
func measureReads(what, local, at string, duration time.Duration) error {
	c, err := client.Open(context.Background(), client.Config{IP: ip.Config{Listen: netip.MustParseAddrPort(local)}})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	remote := c.At(client.Device{Address: ip.Address{Link: netip.MustParseAddrPort(at)}})
	for _, wanted := range []int{100, 1} {
		properties := make([]client.Property, wanted)
		for n := range properties { // of 20 inputs, five properties each
			properties[n] = client.Property{
				Object:   encoding.ObjectID{Type: enum.AnalogInput, Instance: uint32(n/5 + 1)},
				Property: []enum.Property{enum.PropertyPresentValue, enum.PropertyStatusFlags, enum.PropertyUnits, enum.PropertyEventState, enum.PropertyOutOfService}[n%5],
			}
		}
		var took []time.Duration
		for began := time.Now(); time.Since(began) < duration; {
			from := time.Now()
			results, err := remote.Read(context.Background(), properties)
			if err != nil || results[0].Err != nil {
				return errors.Join(err, results[0].Err)
			}
			took = append(took, time.Since(from))
		}
		rate := float64(len(took)) / duration.Seconds()
		slices.Sort(took)
		fmt.Printf("%s: %d properties in one request, one request after the other: %.0f requests/s, %.0f properties/s, p50 %v, p99 %v\n",
			what, wanted, rate, rate*float64(wanted), took[len(took)/2], took[len(took)*99/100])
	}
	return nil
}

// processor returns the time that the process has used.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident returns the memory of the process in MB.
func resident() float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		var kilobytes float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kilobytes); n == 1 {
			return kilobytes / 1000
		}
	}
	return 0
}

func isBad(s point.Sample) bool { return !s.Quality.IsGood() }
