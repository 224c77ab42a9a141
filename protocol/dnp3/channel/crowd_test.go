package channel_test

import (
	"io"
	"net"
	"testing"
)

// Somebody who opens many connections leaves places for masters at other addresses.
func TestAttackAnAddressTakesFewConnectionsOfAListener(t *testing.T) {
	s := newSite(t, 0)
	_, port := s.outstation(1024)
	address := s.listen(port)
	const tried, may = 40, 17 // 16 more than there are ports
	closed := make(chan int, tried)
	var conns [tried]net.Conn
	for i := range tried {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns[i] = c
		go func() {
			_, _ = io.Copy(io.Discard, c)
			closed <- i
		}()
	}
	for range tried - may {
		if i := <-closed; i < may {
			t.Errorf("connection %d, one of the first, was closed", i)
		}
	}
	for _, c := range conns[:may] { // the goroutines end with the test
		_ = c.Close()
		<-closed
	}
}
