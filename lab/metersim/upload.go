package metersim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"voltbus/fault"
)

// Upload is simulated meters that send their load profile of a part of a day: each one request with all of its readings, to
// the node that it belongs to. They do what meters do that report a few times a day.
type Upload struct {
	Meters int
	To     []Receiver // meters belong to them in turn
	Form   string
	From   time.Time     // the beginning of the first interval
	For    time.Duration // what is sent
	// AtOnce is how many meters send at a time, to each node.
	AtOnce int
}

// Receiver is a node that takes readings of meters.
type Receiver struct {
	URL, Token string
	CA         string // file with what signed the node's certificate; "" without TLS
}

// Uploaded is what became of it.
type Uploaded struct {
	Readings uint64 // that were accepted
	Meters   int    // all of whose readings were accepted
	Failed   int    // meters whose request had no proper answer, or that had readings refused
	First    error  // why the first of them failed
}

// Run sends, and returns when each meter has sent once. A meter that fails is counted, and does not stop the others.
func (u *Upload) Run(ctx context.Context) (Uploaded, error) {
	form, err := formOf(u.Form, ReadingType(Quarter))
	if err != nil {
		return Uploaded{}, err
	}
	if u.Meters < 1 || len(u.To) == 0 || u.AtOnce < 1 || u.For < Quarter {
		return Uploaded{}, fault.E("metersim.Upload", fault.Invalid, "", errors.New("it needs meters, a node, and a time of a quarter of an hour or more"))
	}
	s := &uploads{of: u, form: form}
	var all sync.WaitGroup
	for i, to := range u.To {
		f := &Fleet{URL: to.URL, CA: to.CA, Kept: true}
		t, err := newTarget(f, form, to.Token)
		if err != nil {
			return Uploaded{}, err
		}
		for k := range u.AtOnce {
			all.Go(func() { s.send(ctx, &line{to: t}, i+k*len(u.To)) })
		}
	}
	all.Wait()
	return s.out, ctx.Err()
}

type uploads struct {
	of   *Upload
	form form

	mu  sync.Mutex
	out Uploaded
}

// send sends for every meter whose number is first or a step further on.
func (s *uploads) send(ctx context.Context, l *line, first int) {
	defer l.close()
	var body []byte
	readings := make([]reading, s.of.For/Quarter)
	for n := first; n < s.of.Meters && ctx.Err() == nil; n += s.of.AtOnce * len(s.of.To) {
		for i := range readings {
			readings[i].profile(s.of.From.Add(time.Duration(i+1)*Quarter), n)
		}
		body = s.form.write(body[:0], readings)
		status, answer, err := l.post(ctx, body)
		taken, ok := accepted(answer)
		switch {
		case err != nil:
			taken = 0
		case status != 200 || !ok:
			taken, err = 0, fmt.Errorf("status %d: %.300s", status, answer)
		case taken < len(readings):
			err = fmt.Errorf("%d of %d readings were refused: %.300s", len(readings)-taken, len(readings), answer)
		}
		s.note(taken, err)
	}
}

func (s *uploads) note(taken int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.Readings += uint64(taken)
	if err == nil {
		s.out.Meters++
		return
	}
	s.out.Failed++
	if s.out.First == nil {
		s.out.First = err
	}
}

// profile fills a reading of a household: little at night, more in the morning and most in the evening. A meter's reading of
// an interval is the same whenever it is sent.
func (r *reading) profile(end time.Time, meter int) {
	r.meter = appendID(r.meter[:0], meter)
	r.at = end
	r.end = end.UTC().AppendFormat(r.end[:0], "2006-01-02T15:04:05Z")
	hour := float64(end.Hour()) + float64(end.Minute())/60
	peak := func(at, width float64) float64 { return math.Exp(-(hour - at) * (hour - at) / (2 * width * width)) }
	noise := float64((uint64(end.Unix()/900)*2654435761+uint64(meter)*40503)%1000) / 1000
	kwh := (0.03 + 0.06*peak(7.5, 1.2) + 0.14*peak(19, 2)) * (0.6 + 0.05*float64(meter%17)) * (0.6 + 0.8*noise)
	r.number = math.Round(kwh*1000) / 1000
	r.value = strconv.AppendFloat(r.value[:0], r.number, 'f', 3, 64)
}
