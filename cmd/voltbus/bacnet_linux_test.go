package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"voltbus/protocol/bacnet/sc/sctest"
	"voltbus/testing/peers"
)

// voltbusIn runs the program in a folder.
func voltbusIn(t *testing.T, folder string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "voltbus", args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("voltbus %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// An engineer finds devices of bacpypes3, adds them, changes a set point at priority 8, and relinquishes it.
func TestDevicesOfANetworkAreFoundConfiguredCommandedAndRelinquished(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.3/24", "10.66.0.11/24", "10.66.0.12/24") {
		return
	}
	peers.BACnet(t, "plant", "10.66.0.11/24", "1001", "480", "20", "10.66.0.12/24")
	folder := t.TempDir()
	want := func(what, got string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(got, text) {
				t.Errorf("%s: there is no %q in\n%s", what, text, got)
			}
		}
	}
	scan := []string{"bacnet", "scan", "--local", "10.66.0.2/24", "--wait", "1s"}
	want("scan", voltbusIn(t, folder, scan...), "10.66.0.11", "10.66.0.12", "device 1001", "BACpypes")
	want("scan into a folder", voltbusIn(t, folder, append(scan, "--out", ".", "--path", "b1")...), "2 devices, 52 points")
	want("scan again", voltbusIn(t, folder, append(scan, "--out", ".")...), "nothing has changed: 2 devices")
	registry := filepath.Join(folder, "device-1001.csv")
	text, err := os.ReadFile(registry) //nolint:gosec // of this test
	if err != nil {
		t.Fatal(err)
	}
	want("registry", string(text), "input_1,analog-input:1,,,degC", "Fan_Speed,multi-state-value:1,,off|low|high,,true,16")
	changed := strings.Replace(string(text), "Note,characterstring-value:1", "Note,characterstring-value:9", 1)
	if err := os.WriteFile(registry, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	want("scan after a change", voltbusIn(t, folder, append(scan, "--out", ".")...),
		"device-1001.csv: new characterstring-value:1 Note", "device-1001.csv: gone characterstring-value:9 Note")
	if err := os.WriteFile(registry, text, 0o600); err != nil {
		t.Fatal(err)
	}
	startNode(t, folder)
	array := func() string {
		t.Helper()
		return voltbusIn(t, folder, "bacnet", "read", "--local", "10.66.0.3/24:0", "--address", "10.66.0.11", "--format", "csv", "analog-value:1", "analog-value:1.priority-array")
	}
	setpoint := "b1/device_1001/setpoint_°C"
	want("set", voltbusIn(t, folder, "set", setpoint, "24.5", "--level", "8"), "accepted", "held", "24.5")
	want("the device", array(), "present-value,24.5,", "priority-array[8],24.5,", "priority-array[16],null,")
	voltbusIn(t, folder, "set", setpoint, "23", "--level", "5")
	want("the device", array(), "present-value,23,", "priority-array[5],23,", "priority-array[8],null,")
	voltbusIn(t, folder, "release", setpoint)
	want("the device", array(), "present-value,20,", "priority-array[5],null,", "priority-array[8],null,", "priority-array[16],null,")
	want("watch", voltbusIn(t, folder, "bacnet", "watch", "--local", "10.66.0.3/24:0", "--address", "10.66.0.11", "--count", "1", "analog-value:1"), "analog-value:1", "normal")
	want("write", voltbusIn(t, folder, "bacnet", "write", "--local", "10.66.0.3/24:0", "--address", "10.66.0.12", "multi-state-value:1", "high", "--priority", "9"), "was 1, wrote 3 at priority 9, reads 3")
}

// A technician asks who has an object, has devices of bacpypes3 take the states of communication, and is told what they do not do.
func TestADeviceIsFoundByItsObjectAndTakesStatesOfCommunication(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.11/24", "10.66.0.12/24") {
		return
	}
	peers.BACnet(t, "plant", "10.66.0.11/24", "1001", "480", "20", "10.66.0.12/24")
	tool := func(command string, args ...string) string {
		t.Helper()
		args = append([]string{"bacnet", command, "--local", "10.66.0.2/24", "--timeout", "300ms"}, args...)
		out, _ := exec.CommandContext(t.Context(), "voltbus", args...).CombinedOutput() // each case says what is in it
		return string(out)
	}
	at := []string{"--address", "10.66.0.11"}
	for _, c := range []struct {
		what, got string
		want      []string
	}{
		{"find by name", tool("find", "Fan/Speed", "--wait", "1s"), []string{"1001", "10.66.0.11", "10.66.0.12", "multi-state-value:1", "Fan/Speed"}},
		{"find by object", tool("find", "analog-value:1", "--wait", "1s", "--format", "csv"), []string{"1001,10.66.0.11,analog-value:1,"}},
		{"find what nobody has", tool("find", "nothing", "--wait", "300ms"), []string{"no device says that it has the object"}},
		{"disable", tool("communication", append(at, "disable", "--minutes", "5")...), []string{"10.66.0.11: disable accepted"}},
		{"enable", tool("communication", append(at, "enable")...), []string{"10.66.0.11: enable accepted"}},
		{"a wrong state", tool("communication", append(at, "off")...), []string{`"off" is no state; write enable, disable or disable-initiation`}},
		{"restart", tool("restart", append(at, "--cold")...), []string{"10.66.0.11", "reject"}},
		{"file", tool("file", append(at, "file:1")...), []string{"10.66.0.11", "reject"}},
	} {
		for _, text := range c.want {
			if !strings.Contains(c.got, text) {
				t.Errorf("%s: there is no %q in\n%s", c.what, text, c.got)
			}
		}
	}
}

// A node reads and commands a device of rusty-bacnet through our hub.
func TestANodeCommandsADeviceThroughAHub(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24") {
		return
	}
	a, dir := sctest.NewAuthority(t), t.TempDir()
	a.Files(t, dir, "hub", "device", "node")
	url, lines := runHub(t, dir)
	peers.BACnetSC(t, "device", dir, url, "1202")
	awaitLine(t, lines, "joined: ")
	secure := []string{"--hub", url, "--certificate", "node.pem", "--key", "node.key", "--ca", "ca.pem"}
	if got := voltbusIn(t, dir, append([]string{"bacnet", "scan", "--wait", "1s", "--out", ".", "--path", "b1"}, secure...)...); !strings.Contains(got, "1 device, 4 points") {
		t.Fatalf("the scan says %s", got)
	}
	startNode(t, dir)
	const setpoint = "b1/BACnet_Device/setpoint"
	if got := voltbusIn(t, dir, "set", setpoint, "24.5", "--level", "8"); !strings.Contains(got, "held") || !strings.Contains(got, "24.5") {
		t.Errorf("set says %s", got)
	}
	read := append([]string{"bacnet", "read", "--device", "1202", "--format", "csv", "analog-value:1", "analog-value:1.priority-array"}, secure...)
	if got := voltbusIn(t, dir, read...); !strings.Contains(got, "present-value,24.5,") || !strings.Contains(got, "priority-array[8],24.5,") {
		t.Errorf("the device holds %s", got)
	}
	voltbusIn(t, dir, "release", setpoint)
	if got := voltbusIn(t, dir, read...); !strings.Contains(got, "priority-array[8],null,") {
		t.Errorf("after the release the device holds %s", got)
	}
}

// startNode runs a node with the configuration of a folder until the test ends, and waits until it runs.
func startNode(t *testing.T, folder string) {
	t.Helper()
	file := filepath.Join(folder, "voltbus.yaml")
	text, err := os.ReadFile(file) //nolint:gosec // of this test
	if err != nil {
		t.Fatal(err)
	}
	more := "listen: {http: \"127.0.0.1:8080\", bus: \"127.0.0.1:4222\"}\n" // of the namespace
	if err := os.WriteFile(file, append(text, more...), 0o600); err != nil {
		t.Fatal(err)
	}
	background(t, folder, "node runs", "run")
}

// background runs the program in a folder until the test ends or it is stopped, and waits until it says something.
func background(t *testing.T, folder, until string, args ...string) (stop func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "voltbus", args...)
	cmd.Dir = folder
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = in, in
	err = cmd.Start()
	if err := errors.Join(err, in.Close()); err != nil {
		t.Fatal(err)
	}
	said := make(chan struct{})
	var all strings.Builder // read after ended
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		told := false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			all.WriteString(lines.Text() + "\n")
			if strings.Contains(lines.Text(), until) && !told {
				told = true
				close(said)
			}
		}
	}()
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		_, _ = cmd.Wait(), out.Close()
	})
	t.Cleanup(stop)
	select {
	case <-said:
	case <-ended:
		t.Fatalf("voltbus %s has ended:\n%s", strings.Join(args, " "), all.String())
	}
	return stop
}
