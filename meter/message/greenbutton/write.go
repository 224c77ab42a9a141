package greenbutton

import (
	"bufio"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"time"

	"voltbus/meter"
)

// Head is what a file is about.
type Head struct {
	Meter   *meter.Meter
	From    time.Time // the readings end after it
	To      time.Time // and not after it
	Zone    *time.Location
	Updated time.Time // when it is written: the readings are as they are known then
}

// Writer writes a file, channel by channel, as it gets the readings. It is used by one goroutine. After an error it writes nothing more;
// Close returns the error.
type Writer struct {
	out  *bufio.Writer
	head Head
	base string // the address of the UsagePoint

	channel  *meter.Channel
	exponent int
	until    time.Time // the end of the day whose block is open; zero if none is
	sum      summary
	sums     []summary
}

// summary is what a channel counted.
type summary struct {
	channel   *meter.Channel
	exponent  int
	value     float64 // whole
	intervals int
}

// Addresses of resources, as the interface has them. Nobody serves them: they join the entries of a file.
const (
	resources  = "/espi/1_1/resource/"
	usagePoint = resources + "UsagePoint/"
	localTimes = resources + "LocalTimeParameters/1"
)

// NewWriter begins a file: the UsagePoint, which is the meter, and its LocalTimeParameters.
func NewWriter(to io.Writer, h Head) *Writer {
	w := &Writer{out: bufio.NewWriterSize(to, 32<<10), head: h, base: usagePoint + url.PathEscape(h.Meter.ID)}
	w.put(xml.Header, `<feed xmlns="`, atomSpace, `">`)
	w.identity(w.base+h.From.UTC().Format("?published-min=2006-01-02T15:04:05Z")+h.To.UTC().Format("&published-max=2006-01-02T15:04:05Z"), "Green Button: "+h.Meter.ID)
	w.put("<author><name>Voltbus</name></author>")
	w.stamp()
	w.put("\n")
	w.entry(w.base, usagePoint[:len(usagePoint)-1], h.Meter.ID, w.base+"/MeterReading", w.base+"/UsageSummary", localTimes)
	w.put(`<UsagePoint xmlns="`, espiSpace, `"><ServiceCategory><kind>`, serviceKind(h.Meter.Commodity), `</kind></ServiceCategory><status>1</status></UsagePoint>`)
	w.end()
	l := localTimeOf(h.Zone, h.To)
	w.entry(localTimes, resources+"LocalTimeParameters", h.Zone.String())
	w.put(`<LocalTimeParameters xmlns="`, espiSpace, `"><dstEndRule>`, l.end, `</dstEndRule><dstOffset>`, strconv.Itoa(l.dst), `</dstOffset><dstStartRule>`, l.start,
		`</dstStartRule><tzOffset>`, strconv.Itoa(l.offset), `</tzOffset></LocalTimeParameters>`)
	w.end()
	return w
}

// serviceKind is a value of the type ServiceKind.
func serviceKind(c meter.Commodity) string {
	switch c {
	case meter.Gas:
		return "1"
	case meter.Water:
		return "2"
	case meter.Heat:
		return "4"
	case meter.Electricity:
	}
	return "0"
}

// Channel begins a channel of the meter: its MeterReading and ReadingType. The scale knows all values that will come, which are quantities:
// readings times the multiplier of the channel.
func (w *Writer) Channel(c *meter.Channel, s *Scale) {
	w.finish()
	w.channel, w.exponent = c, s.exponent(int(c.ReadingType[meter.PowerOfTen]))
	w.sum = summary{channel: c, exponent: w.exponent}
	own, kind := w.reading(), resources+"ReadingType/"+c.ReadingType.String()
	if c.Interval > 0 {
		kind += fmt.Sprintf("-%d", int(c.Interval.Seconds()))
	}
	kind += fmt.Sprintf("_%d", w.exponent)
	w.entry(own, w.base+"/MeterReading", "Channel "+strconv.Itoa(c.Number), own+"/IntervalBlock", kind)
	w.put(`<MeterReading xmlns="`, espiSpace, `"/>`)
	w.end()
	w.entry(kind, resources+"ReadingType", c.ReadingType.String())
	w.put(`<ReadingType xmlns="`, espiSpace, `">`)
	for _, f := range fields() {
		v := 0
		switch f.part {
		case defaultQuality: // the quality of what has none of its own: valid
		case intervalLength:
			v = int(c.Interval.Seconds())
		case meter.PowerOfTen:
			v = w.exponent
		default:
			v = int(c.ReadingType[f.part])
		}
		if v != 0 || f.always {
			w.element(f.name, v)
		}
		if f.name == "cpp" {
			w.rational("interharmonic", c.ReadingType[meter.InterharmonicNumerator], c.ReadingType[meter.InterharmonicDenominator])
		}
	}
	w.rational("argument", c.ReadingType[meter.ArgumentNumerator], c.ReadingType[meter.ArgumentDenominator])
	w.put("</ReadingType>")
	w.end()
}

// reading is the address of the MeterReading of the channel.
func (w *Writer) reading() string { return w.base + "/MeterReading/" + strconv.Itoa(w.channel.Number) }

// Readings writes readings of the channel, which follow those before: an IntervalBlock for each local day. Their values are as they were read.
func (w *Writer) Readings(list []meter.Version) {
	for i := range list {
		v := &list[i]
		start := v.End.Add(-w.channel.Interval)
		if w.until.IsZero() || !start.Before(w.until) {
			w.block(start)
		}
		value := math.Round(scaled(v.Value*w.channel.Multiplier, int(w.channel.ReadingType[meter.PowerOfTen])-w.exponent))
		w.put("<IntervalReading>")
		if q := qualityOf(v); q != qualityValid {
			w.put("<ReadingQuality>")
			w.element("quality", q)
			w.put("</ReadingQuality>")
		}
		w.interval("timePeriod", start, w.channel.Interval)
		w.put("<value>", strconv.FormatFloat(value, 'f', 0, 64), "</value></IntervalReading>\n")
		w.sum.value += value
		w.sum.intervals++
	}
}

// block begins the IntervalBlock of the local day of a moment.
func (w *Writer) block(at time.Time) {
	w.endBlock()
	from, to := day(at, w.head.Zone)
	blocks := w.reading() + "/IntervalBlock"
	w.until = to
	w.entry(blocks+from.Format("/20060102"), blocks, from.Format(time.DateOnly))
	w.put(`<IntervalBlock xmlns="`, espiSpace, `">`)
	w.interval("interval", from, to.Sub(from))
	w.put("\n")
}

func (w *Writer) endBlock() {
	if !w.until.IsZero() {
		w.put("</IntervalBlock>")
		w.end()
		w.until = time.Time{}
	}
}

// finish ends a channel.
func (w *Writer) finish() {
	w.endBlock()
	if c := w.channel; c != nil && whole(w.sum.intervals, c, &w.head) && math.Abs(w.sum.value) <= mostValue {
		w.sums = append(w.sums, w.sum)
	}
	w.channel = nil
}

// whole reports whether so many intervals are all that a channel of consumption has: only then their sum says something.
func whole(n int, c *meter.Channel, h *Head) bool {
	t := c.ReadingType
	return c.Interval > 0 && t[meter.Accumulation] == meter.AccumulationDelta && t[meter.FlowDirection] == meter.FlowForward &&
		h.To.Sub(h.From) == time.Duration(n)*c.Interval
}

// Close ends the file: with a UsageSummary of each channel of consumption that has all its intervals.
func (w *Writer) Close() error {
	w.finish()
	for i, s := range w.sums {
		up := w.base + "/UsageSummary"
		w.entry(up+"/"+strconv.Itoa(i+1), up, "Channel "+strconv.Itoa(s.channel.Number))
		w.put(`<UsageSummary xmlns="`, espiSpace, `">`)
		w.interval("billingPeriod", w.head.From, w.head.To.Sub(w.head.From))
		w.put("<overallConsumptionLastPeriod>")
		w.element("powerOfTenMultiplier", s.exponent)
		w.element("uom", int(s.channel.ReadingType[meter.Unit]))
		w.put("<value>", strconv.FormatFloat(s.value, 'f', 0, 64), "</value></overallConsumptionLastPeriod><statusTimeStamp>",
			strconv.FormatInt(w.head.Updated.Unix(), 10), "</statusTimeStamp>")
		w.element("commodity", int(s.channel.ReadingType[meter.CommodityKind]))
		w.put("</UsageSummary>")
		w.end()
	}
	w.put("</feed>\n")
	return w.out.Flush()
}

// put writes texts as they are. The buffer remembers what went wrong.
func (w *Writer) put(texts ...string) {
	for _, s := range texts {
		_, _ = w.out.WriteString(s)
	}
}

func (w *Writer) element(name string, v int) {
	w.put("<", name, ">", strconv.Itoa(v), "</", name, ">")
}

func (w *Writer) rational(name string, numerator, denominator int16) {
	if numerator != 0 {
		w.put("<", name, ">")
		w.element("numerator", int(numerator))
		w.element("denominator", int(denominator))
		w.put("</", name, ">")
	}
}

// interval writes a DateTimeInterval.
func (w *Writer) interval(name string, start time.Time, length time.Duration) {
	w.put("<", name, "><duration>", strconv.FormatInt(int64(length/time.Second), 10), "</duration><start>", strconv.FormatInt(start.Unix(), 10), "</start></", name, ">")
}

// escaped writes a text.
func (w *Writer) escaped(s string) { _ = xml.EscapeText(w.out, []byte(s)) }

func (w *Writer) link(rel, href string) {
	w.put(`<link rel="`, rel, `" href="`)
	w.escaped(href)
	w.put(`"/>`)
}

// identity writes the id, which is the same in each file with the resource, the address and the title.
func (w *Writer) identity(self, title string) {
	w.put("<id>", uuid(self), "</id>")
	w.link("self", self)
	w.put("<title>")
	w.escaped(title)
	w.put("</title>")
}

// uuid names a resource (RFC 9562, section 5.8: version 8, here of a hash of its address).
func uuid(address string) string {
	h := sha256.Sum256([]byte(address))
	h[6], h[8] = h[6]&0x0F|0x80, h[8]&0x3F|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// entry begins an entry (RFC 4287, section 4.1.2) with its links.
func (w *Writer) entry(self, up, title string, related ...string) {
	w.put("<entry>")
	w.identity(self, title)
	w.link("up", up)
	for _, r := range related {
		w.link("related", r)
	}
	w.put(`<content type="application/xml">`)
}

func (w *Writer) end() {
	at := w.head.Updated.UTC().Format(time.RFC3339)
	w.put("</content><published>", at, "</published>")
	w.stamp()
	w.put("</entry>\n")
}

func (w *Writer) stamp() {
	w.put("<updated>", w.head.Updated.UTC().Format(time.RFC3339), "</updated>")
}
