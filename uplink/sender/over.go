package sender

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/uplink"
)

// Conn is a connection to the parent's bus.
type Conn interface {
	// Ask sends a request to the parent, with a body and an answer in JSON.
	Ask(ctx context.Context, method string, body []byte) ([]byte, error)
	// Send sends a frame, in order for each lane. The frame may be modified afterwards.
	Send(lane string, frame []byte) error
	// Answers calls deliver with each answer to a frame, in order, from one goroutine.
	Answers(deliver func(data []byte)) error
	// Ended is closed when the connection is lost; Err says why.
	Ended() <-chan struct{}
	Err() error
	Close()
}

// askTimeout is the limit for requests to the parent.
const askTimeout = 20 * time.Second

// maxAnswers is how many answers may be queued.
const maxAnswers = 64

// over is a session over a connection.
type over struct {
	Conn
	answers chan uplink.Answer
}

// Over returns a session over a connection, which its Close closes. If it fails the connection is unchanged.
func Over(c Conn) (Session, error) {
	s := &over{Conn: c, answers: make(chan uplink.Answer, maxAnswers)}
	return s, c.Answers(func(data []byte) {
		a, err := uplink.ParseAnswer(data)
		if err != nil {
			return // unanswered frames are sent again
		}
		select {
		case s.answers <- a:
		case <-c.Ended():
		}
	})
}

func (s *over) ask(ctx context.Context, method string, question, answer any) error {
	const op = "sender.ask"
	body, err := json.Marshal(question)
	if err != nil {
		return fault.E(op, fault.Internal, method, err)
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	data, err := s.Ask(ctx, method, body)
	if err != nil || answer == nil {
		return err
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return fault.E(op, fault.Corrupt, method, fmt.Errorf("the parent's answer cannot be read: %w", err))
	}
	return nil
}

// Hello implements Session.
func (s *over) Hello(ctx context.Context, h uplink.Hello) (w uplink.Welcome, err error) {
	err = s.ask(ctx, uplink.HelloMethod, h, &w)
	return w, err
}

// Positions implements Session.
func (s *over) Positions(ctx context.Context, origins []string) (map[string]uplink.Position, error) {
	var p uplink.Positions
	err := s.ask(ctx, uplink.PositionsMethod, uplink.Origins{Origins: origins}, &p)
	return p.Positions, err
}

// Describe implements Session.
func (s *over) Describe(ctx context.Context, points []uplink.Description) error {
	return s.ask(ctx, uplink.DescribeMethod, uplink.Descriptions{Points: points}, nil)
}

// Send implements Session.
func (s *over) Send(lane uplink.Lane, frame []byte) error { return s.Conn.Send(string(lane), frame) }

// Answers implements Session.
func (s *over) Answers() <-chan uplink.Answer { return s.answers }

// Done implements Session.
func (s *over) Done() <-chan struct{} { return s.Ended() }
