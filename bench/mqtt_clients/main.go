//go:build linux

// Command mqtt_clients measures the cost of MQTT clients at a broker: memory while idle, and processor time per message. See README.md.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"voltbus/lab/machine"
)

func main() {
	serveMode := flag.String("serve", "", "run as the broker: buffered, goroutine or epoll")
	modes := flag.String("modes", "buffered,goroutine,epoll", "brokers to measure, one after the other")
	addr := flag.String("addr", "", "measure a broker that runs already, with -pid")
	pid := flag.Int("pid", 0, "its process; it returns its free memory when it gets SIGUSR1")
	program := flag.String("node", "", "measure the node of this program (voltbus), which records what it gets")
	mosquitto := flag.String("mosquitto", "", "measure this program of Mosquitto, after a node if both are named")
	repeats := flag.Int("repeats", 3, "runs, each with a new broker; the median of each figure is given with the least and the most")
	load := &work{found: &figures{}}
	flag.IntVar(&load.idle, "idle", 5000, "clients that connect, subscribe, publish once and are silent")
	flag.IntVar(&load.messages, "messages", 300_000, "messages with QoS 1 of 64 senders")
	flag.IntVar(&load.rounds, "rounds", 20, "bursts of 50 messages to 1,000 subscribers")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runAll(ctx, target{*serveMode, *modes, *addr, *program, *mosquitto, *pid}, load, *repeats); err != nil {
		fmt.Fprintln(os.Stderr, "mqtt_clients:", err)
		os.Exit(1)
	}
}

// target is which broker is measured.
type target struct {
	serve, modes, addr, node, mosquitto string
	pid                                 int
}

// runAll is the program.
func runAll(ctx context.Context, t target, load *work, repeats int) error {
	if t.serve != "" {
		go returnMemory(ctx)
		return serve(ctx, t.serve)
	}
	where := machine.Describe("")
	for range max(1, repeats) {
		if err := run(ctx, t, load); err != nil {
			return err
		}
	}
	return load.found.table(os.Stdout, where)
}

// run measures once.
func run(ctx context.Context, t target, load *work) error {
	switch {
	case t.addr != "":
		return load.measure(ctx, "other", t.addr, t.pid)
	case t.node+t.mosquitto != "":
		return measurePrograms(ctx, t, load)
	}
	for mode := range strings.SplitSeq(t.modes, ",") {
		if err := measureMode(ctx, mode, load); err != nil {
			return fmt.Errorf("%s: %w", mode, err)
		}
	}
	return nil
}

// measurePrograms measures a node, Mosquitto, or both.
func measurePrograms(ctx context.Context, t target, load *work) error {
	if t.node != "" {
		if err := measureNode(ctx, t.node, load); err != nil {
			return fmt.Errorf("node: %w", err)
		}
	}
	if t.mosquitto != "" {
		if err := measureMosquitto(ctx, t.mosquitto, load); err != nil {
			return fmt.Errorf("mosquitto: %w", err)
		}
	}
	return nil
}

// returnMemory returns free memory to the system whenever it is asked to.
func returnMemory(ctx context.Context) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
			runtime.GC()
			debug.FreeOSMemory()
		}
	}
}

// measureMode runs a broker in a process of its own and measures it.
func measureMode(ctx context.Context, mode string, load *work) error {
	cmd := exec.CommandContext(ctx, os.Args[0], "-serve", mode)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	return load.measure(ctx, mode, strings.TrimSpace(addr), cmd.Process.Pid)
}

// resident returns the memory of a process in kB after it returned what is free.
func (l *work) resident(pid int) (int, error) {
	if l.rest > 0 {
		time.Sleep(l.rest)
	} else if err := syscall.Kill(pid, syscall.SIGUSR1); err != nil {
		return 0, err
	}
	time.Sleep(2 * time.Second)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strconv.Atoi(strings.Fields(rest)[0])
		}
	}
	return 0, fmt.Errorf("process %d says nothing of its memory", pid)
}

// processor returns the processor time of a process.
func processor(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, err
}
