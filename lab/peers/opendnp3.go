package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"voltbus/fault"
	"voltbus/lab/dnp3pairs"
	"voltbus/lab/rig"
)

// openDNP3Env names a native program around opendnp3.
const openDNP3Env = "VOLTBUS_PEER_OPENDNP3"

// FindOpenDNP3 returns nil if there is a program to run.
func FindOpenDNP3() error {
	if program := os.Getenv(openDNP3Env); program != "" {
		_, err := exec.LookPath(program)
		return err
	}
	return fault.E("peers.find", fault.NotFound, "opendnp3", errors.New(
		"set VOLTBUS_PEER_OPENDNP3 to a native program around it; the guide about the lab says what it must do"))
}

// OpenDNP3 lets the program measure pairs. It is called with the sessions, the values of a message,
// the threads, and the seconds of the warm-up and of the measurement, and prints one line of JSON.
func OpenDNP3(ctx context.Context, o dnp3pairs.Options, threads int) (r dnp3pairs.Result, err error) {
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
	words := &rig.LastWords{}
	cmd := exec.CommandContext(ctx, os.Getenv(openDNP3Env), strconv.Itoa(o.Sessions), strconv.Itoa(o.Values),
		strconv.Itoa(threads), seconds(o.Warmup), seconds(o.Duration))
	cmd.Stderr = words
	said, err := cmd.Output()
	if err != nil {
		return r, fault.E("peers.OpenDNP3", fault.Unavailable, openDNP3Env, fmt.Errorf("%w: %s", err, words))
	}
	var m struct {
		Messages int64   `json:"messages"`
		Seconds  float64 `json:"seconds"`
		CPU      float64 `json:"cpu_seconds"`
		PeakKB   int     `json:"peak_kb"`
		GrownKB  int     `json:"grown_kb"`
	}
	if err := json.Unmarshal(said, &m); err != nil || m.Messages <= 0 || m.Seconds <= 0 {
		return r, fault.E("peers.OpenDNP3", fault.Corrupt, openDNP3Env, fmt.Errorf("it said %.200q: %w", said, err))
	}
	return dnp3pairs.Result{
		Messages: m.Messages, Elapsed: time.Duration(m.Seconds * float64(time.Second)),
		CPU: time.Duration(m.CPU * float64(time.Second)), PeakKB: m.PeakKB, GrownKB: m.GrownKB,
	}, nil
}
