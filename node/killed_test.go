package node_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/point"
)

const killedEnv = "VOLTBUS_TEST_KILLED"

// killedSite is a node with one register of a device.
func killedSite(address string) string {
	return listenAnywhere + fmt.Sprintf(`
devices:
  b/ahu:
    driver: modbus
    interval: 1h
    control: [{default: 20, min: 10, max: 30}]
    config:
      address: %s
      timeout: 30s
      registry: [{name: sp, table: holding, address: 0, type: uint16, writable: true}]
`, address)
}

// killedChild runs a node that commands the device, and is killed before the answer.
func killedChild(arguments string) {
	dir, address, _ := strings.Cut(arguments, "|")
	n, err := open(load(&testing.T{}, dir, killedSite(address)))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	go func() { fmt.Println("error", n.Run(context.Background())) }()
	_, err = n.Control().Command(context.Background(), control.Command{
		ID: "one", Point: "b/ahu/sp", Requester: "agent:tune", Level: 8, Value: point.IntOf(22), Reason: "warm", Lease: time.Hour,
	}, time.Hour)
	fmt.Println("error", err)
}

// register is a device with one register that answers reads, and writes only when it is told to.
type register struct {
	net.Listener
	wrote chan struct{} // a write came

	mu      sync.Mutex
	value   uint16
	writes  int
	takes   bool // a write changes the value
	answers bool // and is answered
}

func newRegister(t *testing.T, takes bool) *register {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &register{Listener: l, wrote: make(chan struct{}, 16), value: 20, takes: takes}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { r.serve(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return r
}

// serve answers Modbus requests of one connection, MBAP and PDU, until it ends.
func (r *register) serve(c net.Conn) {
	defer c.Close()
	head := make([]byte, 7)
	for {
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		pdu := make([]byte, binary.BigEndian.Uint16(head[4:])-1)
		if _, err := io.ReadFull(c, pdu); err != nil {
			return
		}
		answer := r.answer(pdu)
		if answer == nil {
			continue
		}
		binary.BigEndian.PutUint16(head[4:], uint16(len(answer)+1))
		if _, err := c.Write(append(slices.Clone(head), answer...)); err != nil {
			return
		}
	}
}

func (r *register) answer(pdu []byte) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if pdu[0] == 3 {
		return binary.BigEndian.AppendUint16([]byte{3, 2}, r.value)
	}
	r.writes++
	if r.takes {
		r.value = binary.BigEndian.Uint16(pdu[len(pdu)-2:])
	}
	r.wrote <- struct{}{}
	if !r.answers {
		return nil
	}
	return pdu[:5]
}

// kill runs the child until its write has arrived, and kills it.
func kill(t *testing.T, dir string, r *register) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), killedEnv+"="+dir+"|"+r.Addr().String())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() { // ends with the child
		line, _ := bufio.NewReader(out).ReadString('\n')
		said <- line
	}()
	select {
	case <-r.wrote:
	case line := <-said:
		t.Errorf("the node says %q", line)
	}
	_ = child.Process.Kill() // it may have ended
	_ = child.Wait()
}

func TestANodeThatIsKilledBetweenWriteAndAnswerSaysWhatIsKnownAndReadsThePoint(t *testing.T) {
	for _, c := range []struct {
		name   string
		takes  bool
		writes int
		told   []string
	}{
		{"the device has taken it", true, 1, []string{
			"control.command accepted",
			"control.write-unknown it is not known whether the device took it: the node stopped before the answer came",
			"control.read sent", "control.point-read ok",
		}},
		{"the device has not taken it", false, 2, []string{
			"control.command accepted",
			"control.write-unknown it is not known whether the device took it: the node stopped before the answer came",
			"control.read sent", "control.point-read ok", "control.write sent", "control.write-confirmed ok",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, device := t.TempDir(), newRegister(t, c.takes)
			kill(t, dir, device)
			device.mu.Lock()
			device.takes, device.answers = true, true
			device.mu.Unlock()
			cfg := load(t, dir, killedSite(device.Addr().String()))
			r := run(t, cfg)
			eventually(t, "the point is held again", func() bool {
				v, err := r.Control().View(t.Context(), "b/ahu/sp")
				return err == nil && v.Output == control.Confirmed && v.Reported == point.IntOf(22) && len(v.Array) == 1 && v.Array[0].Requester == "agent:tune"
			})
			r.halt()
			device.mu.Lock()
			defer device.mu.Unlock()
			if device.writes != c.writes || device.value != 22 {
				t.Errorf("the device got %d writes and has %d", device.writes, device.value)
			}
			book, err := audit.Open(t.Context(), cfg.Node.Data, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			defer book.Close()
			var told []string
			err = book.Export(t.Context(), audit.Filter{Subject: "b/ahu/sp"}, func(e *audit.Entry) error {
				told = append(told, e.Action+" "+e.Outcome)
				return nil
			})
			if err != nil || !slices.Equal(slices.Compact(told), c.told) {
				t.Errorf("the audit log says %q, %v, want %q", told, err, c.told)
			}
			if result, err := book.Verify(t.Context(), nil); err != nil || len(result.Problems) > 0 {
				t.Errorf("the chain: %+v, %v", result, err)
			}
		})
	}
}
