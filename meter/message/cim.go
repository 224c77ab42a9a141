package message

import (
	"errors"
	"io"
	"strings"

	"voltbus/internal/xmlpull"
)

// ReadCIM reads a MeterReadings or EndDeviceEvents document of IEC 61968-9, of any edition's namespace. Of each MeterReading it takes the
// meter (mRID or the first name of Meter), the readings below IntervalBlocks and Readings: timeStamp, value and the
// ref of ReadingType, which may stand behind the readings of its block; and EndDeviceEvents. Of an EndDeviceEvent it takes createdDateTime, the ref of
// EndDeviceEventType, severity, reason and, outside of a MeterReading, the meter as its asset. Everything else is left aside.
func ReadCIM(in io.Reader, limits xmlpull.Limits) (*List, error) {
	c := &cim{xml: xmlpull.New(in, limits)}
	k, err := c.xml.Next()
	if err != nil {
		return nil, err
	}
	root := c.xml.Name()
	if k != xmlpull.Start || root.Local != "MeterReadings" && root.Local != "EndDeviceEvents" || !strings.HasSuffix(root.Space, root.Local+"#") {
		return nil, c.xml.Problem("element %s of namespace %q where MeterReadings of http://iec.ch/TC57/2011/MeterReadings# or EndDeviceEvents of "+
			"http://iec.ch/TC57/2011/EndDeviceEvents# is expected", root.Local, root.Space)
	}
	events := root.Local == "EndDeviceEvents"
	err = c.children(func(name string) error {
		switch {
		case name == "MeterReading" && !events:
			return c.meterReading()
		case name == "EndDeviceEvent" && events:
			e, err := c.event()
			if err == nil {
				c.told(&e, e.meter)
			}
			return err
		}
		return c.xml.Skip()
	})
	if err != nil {
		return nil, err
	}
	for { // nothing may stand behind it
		if _, err := c.xml.Next(); errors.Is(err, io.EOF) {
			return &c.list, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// cim is one document on its way.
type cim struct {
	xml  *xmlpull.Reader
	list List
	// open are the readings of a MeterReading, whose meter may stand behind them.
	open     []stamp
	reported []happening // likewise
	text     []byte
}

// stamp is a reading whose meter is not known yet.
type stamp struct{ kind, end, value string }

// children calls do at the start of each element within the one that was read last. do reads it to its end.
func (c *cim) children(do func(name string) error) error {
	for {
		switch k, err := c.xml.Next(); {
		case err != nil:
			return err
		case k == xmlpull.End:
			return nil
		case k == xmlpull.Start:
			if err := do(c.xml.Name().Local); err != nil {
				return err
			}
		}
	}
}

// content returns the text of the element that was read last, without spaces around it.
func (c *cim) content() (string, error) {
	var err error
	c.text, err = c.xml.Content(c.text[:0])
	return strings.TrimSpace(string(c.text)), err
}

func (c *cim) meterReading() error {
	c.open, c.reported = c.open[:0], c.reported[:0]
	meter := ""
	err := c.children(func(name string) (err error) {
		switch name {
		case "Meter":
			meter, err = c.meter()
			return err
		case "IntervalBlocks":
			return c.block()
		case "Readings":
			s, err := c.reading()
			if err == nil {
				c.open = append(c.open, s)
			}
			return err
		case "EndDeviceEvents":
			e, err := c.event()
			if err == nil {
				c.reported = append(c.reported, e)
			}
			return err
		}
		return c.xml.Skip()
	})
	if err != nil {
		return err
	}
	for i := range c.reported {
		c.told(&c.reported[i], meter)
	}
	for _, s := range c.open {
		t := Text{Meter: []byte(meter), Type: []byte(s.kind), End: []byte(s.end), Value: []byte(s.value)}
		r, problem := t.Reading()
		c.list.Add(&r, problem)
	}
	return nil
}

// meter returns the identifier of a meter: the mRID, or else the first name.
func (c *cim) meter() (string, error) {
	id, named := "", ""
	err := c.children(func(name string) (err error) {
		switch {
		case name == "mRID":
			id, err = c.content()
			return err
		case name == "Names" && named == "":
			return c.children(func(name string) (err error) {
				if name != "name" {
					return c.xml.Skip()
				}
				named, err = c.content()
				return err
			})
		}
		return c.xml.Skip()
	})
	if id == "" {
		id = named
	}
	return id, err
}

// block reads an IntervalBlock. Its reading type is that of all its readings.
func (c *cim) block() error {
	from, kind := len(c.open), ""
	err := c.children(func(name string) (err error) {
		switch name {
		case "IntervalReadings":
			s, err := c.reading()
			if err == nil {
				c.open = append(c.open, s)
			}
			return err
		case "ReadingType":
			kind, err = c.reference()
			return err
		}
		return c.xml.Skip()
	})
	for i := from; i < len(c.open); i++ {
		if c.open[i].kind == "" {
			c.open[i].kind = kind
		}
	}
	return err
}

// reference returns the ref of an element.
func (c *cim) reference() (string, error) {
	ref := ""
	for _, a := range c.xml.Attrs() {
		if a.Name.Local == "ref" {
			ref = string(a.Value)
		}
	}
	return ref, c.xml.Skip()
}

// reading reads what stands in an IntervalReading or Reading.
func (c *cim) reading() (s stamp, err error) {
	err = c.children(func(name string) (err error) {
		switch name {
		case "timeStamp":
			s.end, err = c.content()
		case "value":
			s.value, err = c.content()
		case "ReadingType":
			s.kind, err = c.reference()
		default:
			err = c.xml.Skip()
		}
		return err
	})
	if err == nil {
		err = c.many()
	}
	return s, err
}

// many returns an error if the document has more than a message may have.
func (c *cim) many() error {
	if len(c.open)+len(c.reported)+c.list.Len() >= MaxReadings {
		return c.xml.Problem("more than %d readings: send them in several messages", MaxReadings)
	}
	return nil
}
