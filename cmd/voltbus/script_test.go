package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"voltbus/python"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) {
	if probing() {
		probe()
		return
	}
	testscript.Main(m, map[string]func(){"voltbus": main})
}

// The scripts use the program as a person would, and check what it prints and how it exits.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "until": until, "outstation": startOutstation, "modbus-device": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Setenv("MODBUS", peers.Modbus(t).Addr) }, "raise": raise,
			"opcua-server": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv("OPCUA", "opc.tcp://"+peers.OPCUA(t, absolute(ts, args)...).Addr+"/plant")
			},
		},
		Condition: haveSDK,
	})
}

// absolute makes arguments that name files of the script whole names.
func absolute(ts *testscript.TestScript, args []string) []string {
	out := slices.Clone(args)
	for i, arg := range args {
		if !strings.HasPrefix(arg, "--") {
			out[i] = ts.MkAbs(arg)
		}
	}
	return out
}

// haveSDK says what a script asks for in brackets: [sdk], that the program has the Python SDK.
func haveSDK(name string) (bool, error) {
	if name != "sdk" {
		return false, fmt.Errorf("the condition %q is not known; write sdk", name)
	}
	_, _, err := python.Wheel()
	return err == nil, nil
}

// exits runs a program and checks its exit code: exits 2 voltbus check. What it printed is
// compared with stdout and stderr as after exec.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var failed *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
		got = failed.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code is %d, want %d", got, want)
	}
}

// until runs a program again and again until what it prints matches: until 'regexp' voltbus points.
// A node that starts has no event that a script could wait for.
func until(ts *testscript.TestScript, _ bool, args []string) {
	want := regexp.MustCompile(args[0])
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var out bytes.Buffer
		cmd := exec.Command(args[1], args[2:]...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), &out, &out
		err := cmd.Run()
		if err == nil && want.Match(out.Bytes()) {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			ts.Fatalf("never matches %s: %v\n%s", want, err, out.String())
		}
	}
}
