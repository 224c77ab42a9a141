package sender_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"voltbus/fault"
	"voltbus/uplink"
	"voltbus/uplink/sender"
)

// skew says what the other version's messages have more and less.
type skew struct {
	hello, welcome, answer func(fields map[string]any)
	block                  func(payload []byte) []byte
}

// skewed is a connection on which messages are those of other versions.
type skewed struct {
	*session
	skew skew
}

// mend writes a message of this version as one of another.
func mend(message any, change func(map[string]any)) ([]byte, error) {
	data, err := json.Marshal(message)
	if err != nil || change == nil {
		return data, err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	change(fields)
	return json.Marshal(fields)
}

func (c *skewed) Ask(ctx context.Context, method string, body []byte) ([]byte, error) {
	if err := c.ask(ctx); err != nil {
		return nil, err
	}
	if method != uplink.HelloMethod {
		var o uplink.Origins
		if err := json.Unmarshal(body, &o); err != nil {
			return nil, err
		}
		return json.Marshal(uplink.Positions{Positions: c.receiver.Positions(o.Origins)})
	}
	body, err := mend(json.RawMessage(body), c.skew.hello)
	if err != nil {
		return nil, err
	}
	var h uplink.Hello
	if err := json.Unmarshal(body, &h); err != nil {
		return nil, err
	}
	w, err := c.receiver.Hello("child", &h)
	if err != nil {
		return nil, err
	}
	return mend(w, c.skew.welcome)
}

func (c *skewed) Send(lane string, data []byte) error {
	if c.skew.block != nil {
		frame, err := uplink.ParseFrame(data)
		if err != nil {
			return err
		}
		frame.Block = repack(c.site.t, frame.Block, c.skew.block)
		data = frame.Append(nil)
	}
	return c.session.Send(uplink.Lane(lane), data)
}

func (c *skewed) Answers(deliver func([]byte)) error {
	c.running.Go(func() {
		for {
			select {
			case a := <-c.answers:
				data, err := mend(&a, c.skew.answer)
				if err != nil {
					c.site.t.Error(err)
				}
				deliver(data)
			case <-c.done:
				return
			}
		}
	})
	return nil
}

func (c *skewed) Ended() <-chan struct{} { return c.done }

// repack changes the payload of a packed block.
func repack(t testing.TB, block []byte, change func([]byte) []byte) []byte {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer r.Close()
	payload, err := r.DecodeAll(block[16:], nil)
	if err != nil {
		t.Error(err)
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Error(err)
		return nil
	}
	payload = change(payload)
	out := append([]byte(nil), block[:16]...)
	binary.LittleEndian.PutUint32(out[12:], uint32(len(payload)))
	out = w.EncodeAll(payload, out)
	table := crc32.MakeTable(crc32.Castagnoli)
	binary.LittleEndian.PutUint32(out[8:], crc32.Update(crc32.Update(0, table, out[:8]), table, out[12:]))
	return out
}

// key is what stands before a field of protobuf: its number and its type.
func key(payload []byte, field, kind uint64) []byte {
	return binary.AppendUvarint(payload, field<<3|kind)
}

// added puts fields behind a payload that nobody knows yet: a number, a text and eight bytes.
func added(payload []byte) []byte {
	payload = binary.AppendUvarint(key(payload, 40, 0), 7)
	payload = append(key(payload, 41, 2), "\x05later"...)
	return binary.LittleEndian.AppendUint64(key(payload, 42, 1), 1)
}

// without takes the fields of a payload out that came with forwarding. It has numbers and bytes only.
func without(payload []byte) (out []byte) {
	for len(payload) > 0 {
		tag, n := binary.Uvarint(payload)
		number, m := binary.Uvarint(payload[n:])
		end := n + m
		if tag&7 == 2 {
			end += int(number)
		}
		if tag>>3 < 16 {
			out = append(out, payload[:end]...)
		}
		payload = payload[end:]
	}
	return out
}

// more adds what a newer version may say.
func more(fields map[string]any) {
	fields["protocol"] = uplink.NewestProtocol
	fields["later"] = map[string]any{"a": []int{1, 2}}
}

// only keeps some fields.
func only(names ...string) func(map[string]any) {
	return func(fields map[string]any) {
		maps.DeleteFunc(fields, func(name string, _ any) bool { return !slices.Contains(names, name) })
	}
}

// between lets the child of a site meet messages of other versions.
func (s *site) between(v skew) {
	s.cfg.Dial = func(ctx context.Context) (sender.Session, error) {
		n, err := s.dial(ctx)
		if err != nil {
			return nil, err
		}
		return sender.Over(&skewed{n.(*session), v})
	}
}

func TestNodesOfNeighbouringVersionsLoseNothing(t *testing.T) {
	for name, v := range map[string]skew{
		"a newer child":   {hello: more, block: added},
		"a newer parent":  {welcome: more, answer: more},
		"an older child":  {hello: only("protocol"), block: without},
		"an older parent": {welcome: only("protocol"), answer: only("epoch", "origin", "sequence", "samples", "expected")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, 3)
				s.cfg.Samples = 30                                     // each block by itself: before forwarding none stood for several
				s.cfg.Rename = []uplink.Rename{{From: "", To: "site"}} // an older parent does not say the prefix
				s.between(v)
				s.startParent()
				s.startChild()
				for i := range 40 {
					s.record("child~1", path(0), 30)
					s.record("child~1!", path(1), 30)
					if i%10 == 5 {
						s.until("what was sent is there", s.arrived)
						s.cut()
					}
				}
				s.until("all is there", s.arrived)
				offset := s.sender.Status().Offset
				s.stop()
				missing, left, points := s.account()
				if s.total(points) != 2400 || missing["child~1"]+left["child~1"] != 0 {
					t.Errorf("%d of 2400 samples arrived, %v are missing", s.total(points), missing)
				}
				if there := s.receiver.Status()["child"].Offset; offset.Abs() > time.Second || there.Abs() > time.Second {
					t.Errorf("the clocks are said to differ by %v and %v", offset, there)
				}
			})
		})
	}
}

func TestAProtocolTooFarAwayIsRefusedAtEitherEnd(t *testing.T) {
	say := func(protocol int) func(map[string]any) {
		return func(fields map[string]any) { fields["protocol"] = protocol }
	}
	for name, c := range map[string]struct {
		skew   skew
		advice string
	}{
		"a child that is too new":  {skew{hello: say(uplink.NewestProtocol + 1)}, "update the program of parent"},
		"a child that is too old":  {skew{hello: say(0)}, "update the program of child"},
		"a parent that is too new": {skew{welcome: say(uplink.NewestProtocol + 1)}, "update the program of this node"},
		"a parent that is too old": {skew{welcome: say(0)}, "update the program of parent"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, 3)
				s.between(c.skew)
				s.startParent()
				s.startChild()
				s.record("child~1", path(0), 5)
				s.until("the child says so", func() bool { return s.sender.Status().Err != nil })
				st := s.sender.Status()
				s.stop()
				if !fault.Is(st.Err, fault.Invalid) || !strings.Contains(st.Err.Error(), c.advice) {
					t.Errorf("the child says %v, want: %s", st.Err, c.advice)
				}
				if len(s.parent.entries) != 0 {
					t.Error("the parent has something")
				}
			})
		})
	}
}
