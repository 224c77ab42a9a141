package node_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/devices"
)

// flowMeter is a Modbus device with one register, which counts the reads. Each replica asks it under a unit of its own, so that it knows
// who asks.
type flowMeter struct {
	net.Listener

	mu     sync.Mutex
	value  uint16
	reads  [256]int // by unit
	writes [256]int
	order  []byte // units in the order in which they read
}

func newFlowMeter(t *testing.T) *flowMeter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &flowMeter{Listener: l}
	var all sync.WaitGroup
	var conns sync.Map
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Store(c, true)
			all.Go(func() { m.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		conns.Range(func(c, _ any) bool { _ = c.(net.Conn).Close(); return true })
		all.Wait()
	})
	return m
}

func (m *flowMeter) serve(c net.Conn) {
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
		answer := m.answer(head[6], pdu)
		binary.BigEndian.PutUint16(head[4:], uint16(len(answer)+1))
		if _, err := c.Write(append(slices.Clone(head), answer...)); err != nil {
			return
		}
	}
}

func (m *flowMeter) answer(unit byte, pdu []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if pdu[0] == 3 || pdu[0] == 4 {
		m.reads[unit]++
		if m.order = append(m.order, unit); pdu[0] == 4 {
			m.value++
		}
		return binary.BigEndian.AppendUint16([]byte{pdu[0], 2}, m.value)
	}
	m.writes[unit]++
	m.value = binary.BigEndian.Uint16(pdu[len(pdu)-2:])
	return pdu
}

// readers returns who has read since a number of reads, each once, in the order of their first read.
func (m *flowMeter) readers(since int) (units []byte, now int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range m.order[min(since, len(m.order)):] {
		if !slices.Contains(units, u) {
			units = append(units, u)
		}
	}
	return units, len(m.order)
}

// soleReader waits until one replica reads alone, and returns its name.
func (s *replicaSet) soleReader(t *testing.T, m *flowMeter, since int) string {
	t.Helper()
	var name string
	eventually(t, "one replica reads", func() bool {
		units, now := m.readers(since)
		if now < since+10 {
			return false
		}
		if len(units) != 1 {
			t.Fatalf("units %v have read", units)
		}
		name = s.names[units[0]-1]
		return true
	})
	return name
}

// share adds the same section to the configuration of each replica; %d is its number, from 1 on.
func (s *replicaSet) share(t *testing.T, text string) {
	t.Helper()
	for i, name := range s.names {
		f, err := os.OpenFile(s.file(name), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = fmt.Fprintf(f, text, i+1)
			_ = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func meterSite(m *flowMeter) string {
	return fmt.Sprintf(`
devices:
  site/meter:
    driver: modbus
    interval: 100ms
    config:
      address: %s
      unit: %%d
      registry: [{name: n, table: input, address: 0, type: uint16}]
`, m.Addr())
}

// device returns how a replica sees the device.
func (p *replicaProcess) device(t *testing.T) answer.Device {
	list, err := client.Do(t.Context(), p.Client, devices.List, struct{}{})
	if err != nil || len(list.Devices) != 1 {
		return answer.Device{}
	}
	return list.Devices[0]
}

// A device that all replicas list is read by one of them, and by another one soon after that was killed. The others say who reads it, and
// the samples of all are one series.
func TestADeviceOfAllReplicasIsReadByOne(t *testing.T) {
	t.Parallel()
	m, s := newFlowMeter(t), newReplicaSet(t)
	s.share(t, meterSite(m))
	s.start(t, s.names...)
	first := s.soleReader(t, m, 0)
	for _, name := range s.names {
		if name == first {
			continue
		}
		eventually(t, name+" says who reads the device", func() bool {
			d := s.processes[name].device(t)
			return d.State == "elsewhere" && d.Owner == first && d.LastError == ""
		})
	}
	_, before := m.readers(0)
	s.kill(first)
	_, since := m.readers(0)
	second := s.soleReader(t, m, since)
	if second == first {
		t.Fatalf("%s reads after it was killed", first)
	}
	s.start(t, first)
	eventually(t, first+" is back and leaves the device to "+second, func() bool {
		d := s.processes[first].device(t)
		return d.State == "elsewhere" && d.Owner == second
	})
	if now := s.soleReader(t, m, since); now != second {
		t.Errorf("%s reads now", now)
	}
	for _, name := range s.names {
		eventually(t, name+" has the samples of both", func() bool {
			got := s.processes[name].numbers(t.Context(), "site/meter/n")
			return len(got) > since+5 && got[0] <= before && got[len(got)-1] > since
		})
	}
}

// A replica that was stopped for longer than the term does nothing to the device when it goes on.
func TestAReplicaThatWasStoppedDoesNotTouchItsDevices(t *testing.T) {
	t.Parallel()
	m, s := newFlowMeter(t), newReplicaSet(t)
	s.share(t, meterSite(m))
	s.start(t, s.names...)
	first := s.soleReader(t, m, 0)
	process := s.processes[first].cmd.Process
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, since := m.readers(0)
	eventually(t, "another replica reads", func() bool {
		units, _ := m.readers(since)
		return slices.ContainsFunc(units, func(u byte) bool { return s.names[u-1] != first })
	})
	_, since = m.readers(0)
	if err := process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first one says who has the device", func() bool { return s.processes[first].device(t).State == "elsewhere" })
	if second := s.soleReader(t, m, since); second == first {
		t.Errorf("%s reads again", first)
	}
}

// A replica that does not reach a majority stops reading.
func TestAMinorityDoesNotRead(t *testing.T) {
	t.Parallel()
	m, s := newFlowMeter(t), newReplicaSet(t)
	s.share(t, meterSite(m))
	s.start(t, s.names...)
	first := s.soleReader(t, m, 0)
	for _, name := range s.names {
		if name != first {
			s.kill(name)
		}
	}
	eventually(t, "the last one has no device", func() bool {
		d := s.processes[first].device(t)
		return d.State == "elsewhere"
	})
	_, since := m.readers(0)
	another := s.names[(slices.Index(s.names, first)+1)%3]
	s.start(t, another)
	if reader := s.soleReader(t, m, since); reader == "" {
		t.Error("nobody reads")
	}
}
