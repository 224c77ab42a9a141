package transport

import (
	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/operation"
)

// The arguments.
type (
	// Samples tell how to interpret readings.
	Samples struct {
		Precision string `json:"precision" api:"one-of=ns|us|ms|s|m|h|n|u" doc:"Unit of times that are whole numbers: ns for line protocol, ms for JSON and CSV if left out; SenML is in seconds always"`
		Under     string `json:"under" api:"max=512" doc:"Path to put before every point"`
		Layout    string `json:"layout" api:"max=512,default={measurement}/{tags}/{field}" doc:"How line protocol becomes paths: segments with {measurement}, {field}, {tag:name}, {tags} or {pairs}"`
	}
	// Influx2 is what InfluxDB 2 clients state about their lines.
	Influx2 struct {
		Org       string `json:"org" doc:"Not used"`
		OrgID     string `json:"orgID" doc:"Not used"`
		Bucket    string `json:"bucket" doc:"Path to put before every point"`
		Precision string `json:"precision" api:"one-of=ns|us|ms|s,default=ns"`
	}
	// Influx1 is what InfluxDB 1 clients state about their lines.
	Influx1 struct {
		DB          string `json:"db" doc:"Path to put before every point"`
		RP          string `json:"rp" doc:"Not used"`
		U           string `json:"u" doc:"Not used"`
		P           string `json:"p" doc:"A token"`
		Precision   string `json:"precision" api:"one-of=n|ns|u|us|ms|s|m|h,default=ns"`
		Consistency string `json:"consistency" doc:"Not used"`
	}
)

const (
	xml  = "text/xml"
	soap = "application/soap+xml"
)

// usual are the answers to callers who may not record now.
func usual(now string) []operation.Content {
	return []operation.Content{
		{Status: 429, Media: problem, Schema: "Problem", Doc: "More than this user may send; see Retry-After"},
		{Status: 503, Media: problem, Schema: "Problem", Doc: now},
	}
}

const problem = "application/problem+json"

// The operations that record readings.
var (
	Record = operation.Declare[Samples, answer.Ingested](operation.Spec{
		Name: "samples.record", ID: "recordSamples", HTTP: "POST /samples", Role: identity.Operator, Record: true, Body: message, Keyed: true, Carried: readings,
		Summary: "Record readings; answered when they are on disk", Result: "All readings are on disk",
		Doc: "The body holds at most 32 MiB, also inflated: Content-Encoding may be gzip or zstd. Each reading is taken or refused by itself; a body " +
			"that is damaged as a whole is refused with 400. A token for recording may ask, too. A repeated request with the same Idempotency-Key " +
			"within 24 hours gets the first answer; another request with it is refused with 422.",
		Form: operation.Form{
			Reads: []operation.Content{
				{Schema: "Readings"},
				{Media: "application/senml+json", Doc: "RFC 8428"},
				{Media: "application/senml+cbor", Doc: "RFC 8428"},
				{Media: "text/csv", Doc: "Columns point, time, value and, if wanted, quality, kind, unit; or time and one point a column"},
				{Media: "text/plain", Doc: "InfluxDB line protocol"},
			},
			Answers: append([]operation.Content{
				{Status: 207, Schema: "Ingested", Doc: "A part of the readings is on disk; the others were refused"},
				{Status: 422, Media: problem, Schema: "Problem", Doc: "All readings were refused, see ingested; or the idempotency key came with another request"},
			}, usual("The node cannot record now, such as with a full disk; see Retry-After")...),
		},
	})
	Meters = operation.Declare[Nothing, answer.MeterTaken](operation.Spec{
		Name: "meter.message", ID: "recordMeterMessage", HTTP: "POST /metering/messages", Role: identity.Operator, Record: true, Body: message, Carried: readings,
		Summary: "Record the readings of a message of another metering system; answered when they are on disk", Result: "How many were accepted, and why others were refused",
		Doc: "Each reading is taken or refused by itself; a message that is damaged as a whole is refused with 400. The body holds at most 32 MiB, also " +
			"inflated: Content-Encoding may be gzip or zstd. A token for recording may ask, too: below meters, or below meters/<meter> for one meter.",
		Form: operation.Form{
			Reads: []operation.Content{
				{Media: "application/xml", Doc: "MeterReadings of IEC 61968-9"},
				{Media: xml, Doc: "MeterReadings of IEC 61968-9"},
				{Media: "application/atom+xml", Doc: "Green Button (ESPI, NAESB REQ.21): an Atom feed of IntervalBlocks; the last part of the address of the UsagePoint is the id of the meter"},
				{Media: "text/csv", Doc: "Columns meter, channel or readingType, end (of the interval), value"},
			},
			Answers: usual("The node cannot record now, or is no metering data system"),
		},
	})
	MeterPassing = operation.Declare[Nothing, answer.MeterTaken](operation.Spec{
		Name: "meter.pass", ID: "passMeterReadings", HTTP: "POST /metering/cluster/readings", Role: identity.Operator, Members: true, Body: message, Carried: readings,
		Summary: "Hand readings to the member of the cluster that keeps their meters; answered when they are on disk", Result: "How many were accepted, and why others were refused",
		Doc: "Only for tokens that voltbus token create --member made. The header Voltbus-Cluster holds the digest of the cluster as the sender knows it: with " +
			"another digest nothing is taken.",
		Form: operation.Form{
			Reads:   []operation.Content{{Media: "application/vnd.voltbus.block", Doc: "Points meters/<meter>/<channel>, with who sent them as texts of the point meters/sender"}},
			Answers: usual("The node cannot record now, or is in no cluster"),
		},
	})
	SOAP = operation.Declare[Nothing, string](operation.Spec{
		Name: "meter.soap", ID: "callMeterService", HTTP: "POST /metering/soap", Role: identity.Operator, Record: true, Body: message, Carried: foreign,
		Summary: "Record readings by a web service: RecordReading and RecordReadings over SOAP 1.1 and 1.2; answered when they are on disk",
		Result:  "How many readings were accepted, and why others were refused", Media: xml,
		Doc: "What is wrong with a message is answered as a SOAP fault. A token for recording may ask, too.",
		Form: operation.Form{
			Foreign: true, Reads: []operation.Content{{Media: xml, Doc: "SOAP 1.1"}, {Media: soap, Doc: "SOAP 1.2"}},
			Answers: []operation.Content{
				{Status: 200, Media: soap},
				{Status: 400, Media: soap, Doc: "A fault of SOAP 1.2"},
				{Status: 500, Media: xml, Doc: "A fault"},
				{Status: 500, Media: soap},
			},
		},
	})
	WSDL = operation.Declare[Nothing, string](operation.Spec{
		Name: "meter.wsdl", ID: "describeMeterService", HTTP: "GET /metering/soap", Role: identity.Viewer, Record: true, Carried: foreign, Media: xml,
		Summary: "Read the WSDL of the web service that records readings of meters", Result: "WSDL 1.1", Form: operation.Form{Foreign: true},
	})
	WriteInflux2 = operation.Declare[Influx2, operation.None](operation.Spec{
		Name: "influx2.write", ID: "writeInflux2", HTTP: "POST /api/v2/write", Role: identity.Operator, Record: true, Body: message, Carried: foreign,
		Summary: "Record line protocol as InfluxDB 2 does", Result: "All readings are on disk",
		Doc: "For clients of InfluxDB, such as Telegraf. The token may also come as Authorization: Token <token>.",
		Form: operation.Form{
			Root: true, Reads: []operation.Content{{Media: "text/plain", Doc: "Nothing is recorded without one"}}, Problem: "InfluxProblem",
			Answers: []operation.Content{{Status: 400, Schema: "InfluxError", Doc: "The lines that the message names were refused; all others are on disk"}},
		},
	})
	WriteInflux1 = operation.Declare[Influx1, operation.None](operation.Spec{
		Name: "influx1.write", ID: "writeInflux1", HTTP: "POST /write", Role: identity.Operator, Record: true, Body: message, Carried: foreign,
		Summary: "Record line protocol as InfluxDB 1 does", Result: "All readings are on disk",
		Doc:  "The token may also come as the password, in the header or as p.",
		Form: operation.Form{Root: true, Reads: []operation.Content{{Media: "text/plain", Doc: "Nothing is recorded without one"}}, Problem: "InfluxProblem"},
	})
	PingInflux = operation.Declare[Nothing, operation.None](operation.Spec{
		Name: "influx.ping", ID: "ping", HTTP: "GET /ping", Role: identity.Nobody, Carried: foreign,
		Summary: "Tell clients of InfluxDB that somebody answers", Result: "Somebody does", Form: operation.Form{Root: true, Problem: "InfluxProblem"},
	})
	HealthInflux = operation.Declare[Nothing, answer.InfluxHealth](operation.Spec{
		Name: "influx.health", ID: "influxHealth", HTTP: "GET /health", Role: identity.Nobody, Carried: foreign,
		Summary: "Tell whether the node works, in the words of InfluxDB", Result: "It does",
		Form: operation.Form{Root: true, Problem: "InfluxProblem", Answers: []operation.Content{{Status: 503, Schema: "InfluxHealth", Doc: "It does not"}}},
	})
)

func intake() []operation.Declared {
	return []operation.Declared{
		Record.Declared(), Meters.Declared(), MeterPassing.Declared(), SOAP.Declared(), WSDL.Declared(),
		WriteInflux2.Declared(), WriteInflux1.Declared(), PingInflux.Declared(), HealthInflux.Declared(),
	}
}
