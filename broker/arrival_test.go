package broker_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"voltbus/broker/setting"
	"voltbus/protocol/mqtt/packet"
)

// A CONNECT of MQTT 3.1.1 by the client "c", without a name.
var connect = []byte{0x10, 13, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0, 0, 1, 'c'}

func TestAttackClientsThatSayNothingKeepNobodyOut(t *testing.T) {
	const clients = 100
	site := newSite(t, func(s *setting.Section) { s.Clients, s.Anonymous = clients, true })
	var silent []net.Conn
	t.Cleanup(func() {
		for _, c := range silent {
			_ = c.Close()
		}
	})
	attend := func(peer string) net.Conn {
		here, there := net.Pipe()
		entered := make(chan struct{})
		site.serving.Go(func() {
			close(entered)
			site.Attend(site.ctx, there, netip.MustParseAddr(peer), true)
		})
		<-entered
		silent = append(silent, here)
		return here
	}
	refused := func(c net.Conn) bool {
		_, err := c.Write(connect[:1]) // a pipe takes it when it is read, or is closed
		return err != nil
	}
	counts := map[string]int{}
	for _, peer := range []string{"192.0.2.1", "198.51.100.1", "203.0.113.1"} {
		for range clients {
			if !refused(attend(peer)) {
				counts[peer]++
			}
		}
	}
	for peer, want := range map[string]int{"192.0.2.1": 25, "198.51.100.1": 25, "203.0.113.1": 0} {
		if counts[peer] != want {
			t.Errorf("%d clients of %s wait, want %d", counts[peer], peer, want)
		}
	}
	_ = silent[0].Close() // its place is free again
	deadline := time.Now().Add(time.Minute)
	for {
		c := attend("127.0.0.1")
		if _, err := c.Write(connect); err == nil {
			answer := make([]byte, 4)
			if _, err := c.Read(answer); err != nil || answer[0]>>4 != byte(packet.CONNACK) || answer[3] != 0 {
				t.Fatalf("a client is answered % x, %v", answer, err)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no client is let in")
		}
	}
}
