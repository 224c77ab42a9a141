package archtest

// rule says what the packages matching a pattern may import from this module. The first rule
// that matches a package counts. A package may always import what lies below its own folder,
// and anything below internal/.
type rule struct {
	pkg   string   // "x" is the package itself, "x/..." also all below it
	may   []string // patterns of the module
	tests []string // more that its tests may import, beside everyTest
	why   string   // the reason, shown when the rule is broken
}

// everyTest lists what any test may import, whatever its layer.
var everyTest = []string{"testing/...", "driver/drivertest", "sink/sinktest", "store/storetest", "lab/..."}

// anything is the pattern of all packages of the module.
const anything = "..."

var (
	nouns = []string{"point", "fault"}
	parts = []string{
		"point", "fault", "wire", "driver/...", "device/...", "bus/...", "recorder", "sink",
		"store/...", "history/...", "catalog", "query", "promql", "uplink/...", "control/...", "identity/...", "agent/...", "meter/...",
		"api/...", "web", "python", "ingest/...", "health/...", "presence", "service/...", "verdict",
		"audit/...", "document", "operation/...", "broker/...", "replication", "owner",
	}
)

// destinations is what a kind of destination may import.
var destinations = []string{"sink/destination", "sink/endpoint", "sink/setting", "point", "fault"}

// table says who may import whom, from the nouns to the programs; ARCHITECTURE.md says what each package is for.
var table = []rule{
	{"point", nil, nil, "nouns outlive everything"},
	{"fault", nil, nil, "nouns outlive everything"},
	{"internal/sqlite", []string{"fault"}, nil, "errors of SQLite are given a kind in one place"},
	{"internal/...", nil, []string{anything}, "internal holds domain-free code"},
	{"protocol/bacnet/...", []string{"protocol/bacnet/..."}, nil, "BACnet is a library of its own: no platform and no other protocol"},
	{"protocol/mqtt/...", []string{"protocol/mqtt/..."}, nil, "MQTT is a library of its own: no platform and no other protocol"},
	{"protocol/sparkplug/...", []string{"protocol/sparkplug/..."}, nil, "Sparkplug B is a library of its own: no platform and no MQTT"},
	{"protocol/opcua/...", []string{"protocol/opcua/..."}, nil, "OPC UA is a library of its own: no platform and no other protocol"},
	{"protocol/...", []string{"protocol/..."}, nil, "a protocol is a library: reusable, fuzzable, no platform"},
	{"broker/setting", []string{"point", "protocol/mqtt/topic"}, nil, "what stands in the configuration is data; the configuration knows it, and the broker is handed it"},
	{"broker/template", []string{"broker/setting", "ingest", "point", "fault"}, parts, "payloads become readings without clients and recorders"},
	{"broker/account", []string{"broker/setting", "fault"}, parts, "who may connect is kept by a storage that node gives it"},
	{"broker/cluster", []string{"protocol/mqtt/session", "protocol/mqtt/topic", "fault"}, parts, "what the brokers of replicas have in common goes over a mesh, a journal and a store that others give it"},
	{"broker/door", []string{"broker/guard"}, parts, "connections are let in and bytes moved without knowing what they say"},
	{"broker/tenant", []string{"broker/setting", "protocol/mqtt/topic"}, parts, "what a device may do follows from its kind alone"},
	{"broker/unknown", []string{"broker/template"}, parts, "messages that nothing takes are kept for people"},
	{"broker/shelf", []string{"protocol/mqtt/session", "protocol/mqtt/topic"}, parts, "retained messages are kept without knowing who publishes"},
	{"broker/storage", []string{"broker", "broker/account", "broker/cluster", "broker/command", "point", "fault"}, parts, "the storage keeps what the broker and its devices hand it"},
	{"broker/command", []string{"broker/setting", "broker/template", "control", "control/dispatch", "device", "point", "fault"}, parts, "commands go to the broker by a function; to control this is an owner of devices like any"},
	{"broker/sparkplug", []string{"broker/setting", "broker/template", "protocol/mqtt/...", "protocol/sparkplug/...", "point", "fault"}, parts, "a host application makes readings as templates do; who connects and what is recorded is not its business"},
	{"broker/guard", nil, parts, "what strangers may do is bounded without knowing what they do"},
	{"broker/hook", []string{"broker", "fault"}, parts, "a message over HTTP goes to the broker by one method"},
	{"broker/discovery", []string{"broker/setting", "broker/template", "protocol/mqtt/topic", "point", "fault"}, parts, "devices that describe themselves make readings as templates do; who connects and what is recorded is not its business"},
	{"broker/front", []string{"broker", "broker/account", "broker/cluster", "broker/command", "broker/discovery", "broker/door", "bus/mesh", "broker/hook", "broker/setting", "broker/sparkplug", "broker/storage", "broker/template", "protocol/mqtt/session", "protocol/websocket", "control/dispatch", "catalog", "point", "fault"}, parts, "the parts of the broker meet here, so that node knows one of them"},
	{"broker", []string{"broker/cluster", "broker/door", "broker/guard", "broker/setting", "broker/shelf", "broker/template", "broker/tenant", "broker/unknown", "protocol/mqtt/...", "point", "fault"}, parts, "the broker is given functions that list, record and tell; it knows neither log nor bus"},
	{"wire", nouns, nil, "one encoding of the nouns"},
	{"document", []string{"fault"}, parts, "documents are texts; nobody here knows what agents and devices do with them"},
	{"audit/report", []string{"audit", "api/exchange", "broker", "bus/...", "control/access", "identity/...", "operation", "service", "uplink/...", "wire", "fault"}, parts, "events of all parts become audit entries in one place; the parts know no audit log"},
	{"audit/head", []string{"audit", "catalog"}, parts, "ends of audit logs are compared with what others remember of them"},
	{"audit/packed", nil, nil, "a file of JSON lines knows nothing of the log"},
	{"audit/allowance", nil, nil, "a bound knows nothing of the log"},
	{"audit", nouns, parts, "whatever happens is told to the audit log; it asks nobody"},
	{"identity/keyfile", []string{"fault"}, nil, "secrets are files; what stands in them is not its business"},
	{"identity/pki", []string{"identity/keyfile", "fault"}, parts, "certificates know no accounts and no capabilities"},
	{"identity/registry", []string{"identity", "point", "fault"}, parts, "agents and children are known with their keys and grants; where they are kept and who asks, nobody here knows"},
	{"identity", nouns, parts, "keys and capabilities stand below everything that asks for them"},

	{"verdict", nil, []string{"api/answer"}, "what is judged is told to it; everybody shows what it says"},
	{"health/ownstatus", []string{"agent", "audit/...", "bus/...", "config", "device", "health", "history/...", "identity/...", "operation/configuration", "presence", "recorder", "uplink/..."}, parts, "what a node reports of itself is gathered from its parts in one place"},
	{"replication", []string{"operation/cluster/report", "bus/...", "recorder", "store", "fault"}, parts, "what replicas tell each other is told over a channel that node gives it, and shown in the shapes of the API"},
	{"health", []string{"verdict", "api/answer", "agent", "audit/head", "catalog", "control/...", "device", "history/...", "identity/...", "operation/configuration", "presence", "recorder", "sink", "uplink/..."}, parts, "what is not well is gathered from all parts in one place, and judged by verdict"},
	{"owner", []string{"bus", "bus/lease", "bus/mesh", "operation", "operation/forward", "device", "point", "fault"}, parts, "what a replica runs follows from its leases; devices and agents know none"},
	{"presence", []string{"fault"}, parts, "who is there is told to it; it knows neither bus nor storage"},

	{"driver/drivertest", []string{"driver", "internal/relay", "point", "fault", "testing/..."}, parts, "the conformance suite judges every driver alike"},
	{"driver/all", []string{"driver/..."}, parts, "the list of the drivers"},
	{"driver/registry", []string{"driver"}, nil, "how lists of points are written is the same for every driver; what their columns mean is not"},
	{"driver", nouns, nil, "the contract"},
	{"driver/bacnet/...", []string{"driver", "driver/registry", "driver/bacnet/...", "protocol/bacnet/...", "point", "fault"}, []string{"device"}, "a driver never knows the bus, the configuration or another driver"},
	{"driver/dnp3/...", []string{"driver", "driver/registry", "driver/dnp3/...", "protocol/...", "point", "fault"}, []string{"device"}, "a driver never knows the bus, the configuration or another driver"},
	{"driver/modbus/layout", []string{"point"}, nil, "what words mean needs neither registry nor wire"},
	{"driver/modbus", []string{"driver", "driver/registry", "driver/modbus/layout", "protocol/...", "point", "fault"}, []string{"device"}, "a driver never knows the bus, the configuration or another driver"},
	{"driver/modbus/sunspecmap", []string{"driver", "driver/modbus", "protocol/sunspec", "point"}, nil, "the registry of a SunSpec device is one for the Modbus driver"},
	{"driver/mqtt", []string{"driver", "broker/setting", "broker/template", "protocol/mqtt/...", "point", "fault"}, []string{"device"}, "a driver never knows the bus, the configuration or another driver; what a payload says is the same at the own broker"},
	{"driver/opcua/...", []string{"driver", "driver/registry", "driver/opcua/...", "protocol/opcua/...", "point", "fault"}, []string{"device"}, "a driver never knows the bus, the configuration or another driver"},
	{"driver/...", []string{"driver", "driver/registry", "protocol/...", "point", "fault"}, []string{"device"}, "a driver never knows the bus, the configuration or another driver"},
	{"device/schedule", []string{"point"}, nil, "when devices are read is arithmetic of times"},
	{"device/backoff", nil, nil, "distances know nothing of what is tried again"},
	{"device/clock", nil, nil, "a clock knows nothing of devices"},
	{"device/trouble", []string{"driver", "point", "fault"}, nil, "what an error of a driver means does not depend on who asked"},
	{"device/timestamp", []string{"point"}, nil, "times of samples are arithmetic"},
	{"device/acquisition", []string{"driver", "device/schedule", "point", "fault"}, nil, "how a device is read does not depend on who reads it"},
	{"device/line", []string{"driver", "device/...", "point", "fault"}, nil, "a line knows neither the other lines nor what becomes of its scans"},
	{"device/alarm", []string{"device/acquisition", "device/recovery", "driver", "point", "fault"}, nil, "alarms of devices come through their owner; who keeps alerts is given to it"},
	{"device/recovery", []string{"device/acquisition", "driver", "point", "fault"}, nil, "what devices logged is read through their owner, and recorded by functions that it is given"},
	{"device", []string{"driver", "device/...", "point", "fault"}, append([]string{"protocol/dnp3/..."}, parts...), "the device owner publishes through functions that node gives it"},

	{"bus/client", []string{"bus/...", "api/answer", "operation", "wire", "point", "fault", "identity", "identity/registry"}, parts, "a client of the bus knows what is sent on it; the answers of the node have the shapes of the API, and what it is asked for is declared in package operation"},
	{"bus/...", []string{"wire", "point", "fault", "identity", "identity/registry", "bus/..."}, parts, "the bus carries, it decides nothing"},
	{"recorder", []string{"wire", "point", "fault"}, parts, "the recorder writes to a log that node gives it"},
	{"sink/setting", []string{"point"}, nil, "what stands in the configuration is data; the configuration knows it, and the destinations are handed it"},
	{"sink/endpoint", []string{"sink/setting", "fault"}, parts, "a destination is reached without knowing what is sent"},
	{"sink/all", []string{"sink/..."}, parts, "the kinds of destinations are listed in one place"},
	{"sink/outward", []string{"sink/...", "broker/setting", "point", "verdict"}, parts, "what sends readings out meets here, so that node knows one of them"},
	{"sink/destination", []string{"sink", "sink/setting", "store", "point", "fault"}, parts, "the engine chooses, shapes, batches and keeps what is refused; it knows no protocol"},
	{"sink/clickhouse", destinations, parts, "a destination speaks its protocol, and knows neither log nor history"},
	{"sink/elasticsearch", destinations, parts, "a destination speaks its protocol, and knows neither log nor history"},
	{"sink/influxdb", destinations, parts, "a destination speaks its protocol, and knows neither log nor history"},
	{"sink/kafka", destinations, parts, "a destination speaks its protocol, and knows neither log nor history"},
	{"sink/opentelemetry", destinations, parts, "a destination speaks its protocol, and knows neither log nor history"},
	{"sink/prometheus", destinations, parts, "a destination speaks its protocol, and knows neither log nor history"},
	{"sink/rabbitmq", destinations, parts, "a destination speaks its protocol, and knows neither log nor history"},
	{"sink/s3", destinations, parts, "a destination speaks its protocol, and knows neither log nor history"},
	{"sink/table", destinations, parts, "a destination speaks its protocol, and knows neither log nor history"},
	{"sink/sinktest", []string{"sink/...", "store", "wire", "testing/...", "point", "fault"}, nil, "a suite that every kind of destination must pass"},
	{"sink/mqtt", []string{"sink", "broker/setting", "protocol/mqtt/...", "protocol/sparkplug/...", "store", "point", "fault"}, parts, "a target of the log is a client of a broker; it knows the configuration of it and no other part"},
	{"sink", []string{"store", "recorder", "wire", "point", "fault"}, parts, "a sink reads the log and writes one store"},

	{"store/storetest", []string{"store", "store/memory", "point", "fault"}, parts, "the conformance suite judges every store alike, against the one in memory"},
	{"store", nouns, nil, "the contract"},
	{"store/overlay", []string{"store", "point", "fault"}, []string{"store/memory"}, "an overlay is compared with the store in memory"},
	{"store/duckdb/statement", []string{"store/duckdb/engine", "fault"}, nil, "the process of a statement knows its engine, not the store"},
	{"store/duckdb/piece", []string{"store/duckdb/engine"}, nil, "copies of tables know their engine, not the store"},
	{"store/duckdb/sample", []string{"store/duckdb/engine", "point"}, nil, "how samples stand in columns knows no days and no store"},
	{"store/duckdb/handle", []string{"store/duckdb/engine", "fault"}, nil, "the open database knows nothing of what is in it"},
	{"store/duckdb/day", []string{"store", "store/duckdb/engine", "store/duckdb/sample", "store/duckdb/snapshot", "point"}, nil, "where samples of a day are does not depend on who reads them"},
	{"store/duckdb/catalogue", []string{"store", "store/duckdb/day", "store/duckdb/engine", "store/duckdb/newest", "store/duckdb/sample", "store/duckdb/snapshot", "point"}, nil, "points and their newest samples know no queries"},
	{"store/duckdb/manifest", []string{"store", "store/duckdb/engine", "store/duckdb/snapshot", "point"}, nil, "tables are read and written here, for whoever needs them"},
	{"store/duckdb/recovery", []string{"store", "store/duckdb/...", "point"}, nil, "what a crash left is mended before the store serves anybody"},
	{"store/duckdb/newest", []string{"point"}, nil, "the newest samples in memory know no database"},
	{"store/duckdb/snapshot", []string{"store/duckdb/engine", "store/duckdb/newest", "point"}, nil, "what a start reads first knows the engine, not the store"},
	{"store/postgres/statement", []string{"fault"}, nil, "judging a statement needs the server, not the store"},
	{"store/postgres/setting", nil, nil, "what stands in the configuration is data"},
	{"store/postgres/connection", []string{"store/postgres/setting", "fault"}, nil, "reaching a server knows neither the history nor meters"},
	{"store/...", []string{"store", "point", "fault"}, nil, "a store never knows the bus"},
	{"catalog/register", []string{"internal/column", "internal/interner", "point"}, parts, "points in memory"},
	{"catalog", []string{"catalog/register", "document", "identity", "identity/registry", "presence", "point", "fault"}, parts, "the catalogue keeps what describes points, who may use them and what agents want known"},
	{"ingest/scalar", []string{"point"}, nil, "what a number, a text or a time is knows no format"},
	{"ingest/jsontext", []string{"fault"}, nil, "walking over JSON knows no reading"},
	{"ingest", append([]string{"ingest/scalar", "ingest/jsontext"}, nouns...), nil, "reading a body needs neither HTTP nor a recorder"},
	{"ingest/chunk", []string{"ingest", "fault"}, parts, "cutting a file needs only its format"},
	{"ingest/admission", []string{"ingest", "catalog", "point", "fault"}, parts, "admission lists the points of what it lets in, and hands it to a recorder that node gives it"},
	{"history/ledger", []string{"history", "api/answer", "bus/...", "recorder", "sink", "store", "catalog", "point"}, parts, "the account compares what recorder, log and store say, in the shapes of the API"},
	{"history", []string{"recorder", "sink", "store", "store/duckdb", "store/duckdb/statement", "store/postgres", "catalog", "uplink", "point", "fault"}, parts, "which store a node has is decided here; everybody else asks a store"},
	{"query", []string{"store", "catalog", "point", "fault"}, parts, "a query reads stores and the catalogue"},

	{"promql", []string{"query", "store", "catalog", "point", "fault"}, parts, "PromQL reads the store and the catalogue, and says of whom something is missing as a query does"},

	{"service/agentcall", []string{"api/answer", "identity/...", "wire", "fault"}, parts, "an agent is called by a function of the bus; its reply becomes a result of the API"},
	{"api/listener", []string{"api", "fault"}, parts, "a socket needs a handler and certificates, nothing else of the node"},
	{"service", []string{"operation", "uplink/tree", "identity", "identity/registry", "presence", "document", "ingest", "ingest/admission", "query", "catalog", "control/access", "api/answer", "api/shape", "wire", "point", "fault"}, parts, "what agents ask of the node is answered by the parts that know; nobody here knows the bus"},

	{"uplink/enrol", []string{"identity", "identity/registry", "identity/pki", "wire", "point", "fault"}, parts, "enrolment is given functions that ask; it knows no bus"},
	{"uplink/bundle", []string{"uplink/enrol", "deploy/systemd", "identity", "point", "fault"}, []string{"cmd/...", "identity/pki"}, "a bundle is files; who the parent is and what it knows is given to it"},
	{"deploy/systemd", nil, nil, "a file for others, which the program carries"},
	{"uplink/window", nil, nil, "a window is a number that learns from answers"},
	{"uplink/sender", []string{"uplink", "uplink/window", "wire", "point", "fault"}, parts, "the sender reads a log and is given the connection; it knows no bus"},
	{"uplink/receiver", []string{"uplink", "identity", "wire", "point", "fault"}, parts, "the receiver is given what came and a recorder; it knows no bus"},
	{"uplink/ledger", []string{"api/answer"}, parts, "the ledger of a subtree is summed up from what its nodes report, in the shapes of the API"},
	{"uplink/federation", []string{"query", "store", "store/overlay", "catalog", "identity", "wire", "point", "fault"}, parts, "federation completes answers of a query by functions that ask descendants; it knows no bus and no engine of a store"},
	{"uplink/neighbour", []string{"bus", "uplink/...", "identity/...", "wire", "fault"}, parts, "parent and children are reached over the bus; what they may do here is decided in one place"},
	{"uplink/remote", []string{"api/exchange", "api/answer", "operation", "service", "uplink/tree", "identity/...", "wire", "fault"}, parts, "requests from and to other nodes meet what is asked here; the bus is given to it"},
	{"uplink/descendants", []string{"api/answer", "verdict", "uplink/...", "identity/...", "fault"}, parts, "what the descendants report and what is seen of children meet here, for the API, for health and for federation"},
	{"uplink/router", []string{"bus/...", "uplink/...", "identity/...", "wire", "fault"}, parts, "requests of neighbours come over the bus; the parts that answer them are given to it"},
	{"uplink/parent", []string{"bus", "bus/...", "api/answer", "catalog", "uplink/...", "identity/...", "fault"}, parts, "the connection to the parent is made over the bus; what goes over it is given to it, and joining and leaving are done by enrol"},
	{"uplink/shape", []string{"api/answer", "uplink", "uplink/live", "uplink/sender"}, parts, "links are shown in the shapes of the API"},
	{"uplink/children", []string{"bus/...", "catalog", "uplink/...", "identity/...", "wire", "point", "fault"}, parts, "what children ask about their uplink meets the catalogue here"},
	{"uplink/lineage", []string{"fault"}, nil, "the names above a node are what its parent says; it knows no bus"},
	{"uplink/replica", []string{"uplink/lineage", "api/answer", "identity", "wire", "point", "fault"}, parts, "documents of nodes travel by functions that ask the neighbours; it knows no bus, and takes ledgers in the shapes of the API"},
	{"uplink/tree", []string{"uplink/replica", "uplink/lineage", "identity", "wire", "point", "fault"}, parts, "requests go to the nodes that replica knows by functions that ask the neighbours; it knows no bus"},
	{"uplink/live", []string{"uplink", "uplink/window", "identity", "wire", "point", "fault"}, parts, "live messages go between functions of node; it knows no bus"},
	{"uplink/links", nil, nil, "links are reported by functions; it knows no bus"},
	{"uplink", []string{"recorder", "wire", "identity", "point", "fault"}, parts, "the uplink moves blocks"},
	{"control/lastvalue", []string{"control", "point"}, nil, "what was read last is a cache; nobody there decides"},
	{"control/dispatch", []string{"control", "control/model", "control/lastvalue", "device", "device/trouble", "audit", "point", "fault"}, append([]string{"control/journal"}, parts...), "the dispatcher carries out what the model decides: it hands writes to devices, and is told who asks"},
	{"control/requester", []string{"bus", "control/access", "control/dispatch", "identity/...", "uplink/..."}, parts, "who asks for commands is known to the bus, the tree and the neighbours; control is told"},
	{"control/mismatch", []string{"control", "presence", "point"}, parts, "an alert is raised by a function; who shows it is not its business"},
	{"control/access", []string{"control", "control/dispatch", "device", "identity", "identity/registry", "api/answer", "point", "fault"}, parts, "access puts to the dispatcher what programs and people ask for, and answers in the shapes of the API; how they ask is not its business"},
	{"control/term", []string{"control", "control/dispatch", "control/journal", "control/model", "device", "point", "fault"}, parts, "which replica controls is decided by leases, and where its state is by the bus: control is told, and hands records over"},
	{"control/journal", []string{"control", "point", "fault"}, parts, "the journal keeps records; nobody here knows what they mean"},
	{"control/model", []string{"control", "control/state", "control/step", "control/repeat", "control/reservation", "control/interlock", "point", "fault"}, nil, "the model decides; who asks, and who writes, is not its business"},
	{"control/reservation", []string{"control", "control/step", "point", "fault"}, nil, "reservations are a part of the model; what is commanded under them ends by a function"},
	{"control/repeat", []string{"control", "control/step", "point", "fault"}, nil, "the memory of decisions is a part of the model"},
	{"control/interlock", []string{"control", "point"}, nil, "interlocks are a part of the model"},
	{"control/state", []string{"control", "point"}, nil, "the state at rest of a point is data"},
	{"control/step", []string{"control"}, nil, "what the parts of the model share knows none of them"},
	{"control", nouns, nil, "control is the words of commands and decisions; who decides, and who writes, is not its business"},
	{"agent/installed", []string{"document", "identity", "identity/registry", "fault"}, parts, "keys, grants and documents of agents are kept elsewhere; the supervisor is handed them"},
	{"agent/...", []string{"agent/...", "wire", "identity", "point", "fault"}, parts, "an agent is a process; its supervisor knows no device"},
	{"meter/recovery", []string{"meter", "meter/store"}, nil, "what is recovered first is decided without a store that is open"},
	{"meter/ruleset", []string{"meter", "meter/recovery", "meter/vee"}, nil, "sets of rules are data: who keeps the document is not their business"},
	{"meter/bill", []string{"meter", "meter/billing", "meter/interval", "meter/store", "fault"}, parts, "a bill reads a store, and has its determinants computed"},
	{"meter/setting", []string{"meter/vee", "meter/cluster", "store/postgres/setting"}, nil, "what stands in the configuration is data"},
	{"meter/system", []string{"meter/...", "api/answer", "sink", "store", "store/postgres/connection", "operation", "operation/metering", "point", "fault"}, parts, "the parts of the metering system meet here, so that node knows one of them"},
	{"meter/cluster", nil, nil, "which member keeps a meter is computed from names"},
	{"meter/member", []string{"meter/setting", "operation/metering", "operation/metering/account", "api/client", "fault"}, parts, "other members are asked over their API, like every node; what is asked, nobody here knows"},
	{"meter/membership", []string{"meter/...", "operation/metering", "operation/metering/account", "api/answer", "sink", "fault"}, parts, "the parts of a member of a cluster meet here, so that the metering system knows one of them"},
	{"meter/tally", []string{"meter/cluster", "meter/store", "sink", "wire", "point", "fault"}, parts, "readings of the log are counted; what becomes of them is not its business"},
	{"meter/concentrator", []string{"meter"}, nil, "when a bulk goes, and where, is decided without a log and without sending anything"},
	{"meter/delivery", []string{"meter/...", "sink", "wire", "point", "fault"}, parts, "readings of the log become requests to other systems; who took them in is not its business"},
	{"meter/collection", []string{"meter", "meter/gate", "meter/setting", "point", "fault"}, parts, "meters are read as points; whose points they are, and what becomes of readings, is not its business"},
	{"meter/gate", []string{"meter", "meter/store", "wire", "point", "fault"}, parts, "readings become blocks of the log, which node appends"},
	{"meter/store/progress", []string{"meter", "meter/store", "meter/store/directory"}, parts, "counting versions knows no engine"},
	{"meter/store/postgres", []string{"meter/...", "store/postgres/connection", "point", "fault"}, parts, "the metering store in PostgreSQL shares the connection with the history, and nothing else of it"},
	{"meter/store/postgres/...", []string{"meter/...", "store/postgres/connection", "point", "fault"}, parts, "the tables of the metering store in PostgreSQL"},
	{"meter/store/duckdb", []string{"meter/...", "store/duckdb/engine", "store/duckdb/statement", "point", "fault"}, parts, "the embedded metering store shares the engine and the statements of the history, and nothing else of it"},
	{"meter/store/duckdb/sqlview", []string{"meter/...", "store/duckdb/engine", "store/duckdb/piece", "store/duckdb/statement", "point", "fault"}, parts, "the process of a statement is one for both embedded stores, and so are the copies that it reads"},
	{"meter/store/duckdb/...", []string{"meter/...", "store/duckdb/engine", "point", "fault"}, parts, "the tables of the embedded metering store"},
	{"meter/webservice", []string{"meter", "meter/gate", "meter/message/...", "ingest", "api/answer", "fault"}, parts, "messages are answered in their own form, however they came"},
	{"meter/message/senml", []string{"meter", "meter/message", "ingest", "point", "fault"}, parts, "SenML is read as everywhere, and its records are readings of meters"},
	{"meter/message/compact", []string{"meter", "meter/message", "meter/store", "wire", "point", "fault"}, parts, "readings stand in blocks as they do in the log"},
	{"meter/message/...", []string{"meter", "meter/message", "fault"}, parts, "a message becomes readings; who takes them, and over what it came, is not its business"},
	{"meter/...", []string{"meter/...", "point", "fault"}, parts, "meters are data, their readings enter by the recorder"},
	{"operation", []string{"identity", "wire", "point", "fault"}, nil, "an operation is declared without what does it, and without the ways to ask for it"},
	{"operation/openapi", []string{"operation", "operation/declared", "operation/transport", "api/answer", "identity", "fault"}, nil, "the document of the API is written from declarations"},
	{"operation/configuration", []string{"operation", "api/answer", "config", "config/edit", "config/revision", "driver", "identity", "point", "fault"}, parts, "what the file says is known to config; how it was asked for, nobody here knows"},
	{"operation/processes", []string{"operation", "api/answer", "agent/...", "query", "identity", "fault"}, parts, "installed agents are run by agent; how it was asked for, nobody here knows"},
	{"operation/alerts", []string{"operation", "presence", "api/answer", "identity", "wire", "point", "fault"}, parts, "alerts are kept by presence; how it was asked for, nobody here knows"},
	{"operation/auditlog", []string{"operation", "audit", "query", "api/answer", "identity", "point", "fault"}, parts, "the log of who did what is asked like every other part"},
	{"operation/children", []string{"operation", "uplink/enrol", "api/answer", "identity", "identity/registry", "identity/pki", "point", "fault"}, parts, "declares and answers operations about children, whose records identity keeps; it does not know which adapter asked"},
	{"operation/agents", []string{"operation", "api/answer", "identity", "identity/registry", "wire", "fault"}, parts, "agents are known to identity and reached by functions; how it was asked for, nobody here knows"},
	{"operation/declared", []string{"operation/..."}, nil, "a list of what the parts declare"},
	{"operation/transport", []string{"operation/...", "agent", "api/answer", "identity"}, parts, "what the adapter of HTTP answers itself is declared here like everything else; nothing is done here"},
	{"operation/cluster/report", nil, nil, "answers are data"},
	{"operation/cluster", []string{"operation", "operation/cluster/report", "identity", "fault"}, parts, "replicas are asked like every other part"},
	{"operation/metering/account", []string{"api/answer"}, nil, "answers are data"},
	{"operation/metering", []string{"operation", "operation/metering/account", "api/answer", "meter/...", "identity", "point", "fault"}, parts, "the metering system is asked like every other part"},
	{"operation/sinks", []string{"operation", "sink/destination", "query", "identity", "point", "fault"}, parts, "what a destination got is known to it; how it was asked for, nobody here knows"},
	{"operation/forward", []string{"operation", "api/answer", "control/access", "identity", "fault"}, parts, "who owns what, and how replicas are asked, is handed in"},
	{"operation/...", []string{"operation", "broker", "broker/account", "broker/unknown", "api/answer", "api/shape", "api/arrowstream", "query", "store", "catalog", "document", "control/access", "identity", "identity/registry", "point", "fault"}, parts, "an operation is done by the parts that know; nobody here knows how it was asked for"},
	{"api/...", []string{"api/...", "operation/...", "agent/...", "ingest", "query", "store", "catalog", "control/access", "identity", "identity/registry", "audit", "document", "wire", "point", "fault"}, append([]string{"config"}, parts...), "the API never knows a driver, the device owner or an engine"},
	{"gateway/...", []string{"gateway/feed", "api/...", "operation/...", "wire", "point", "fault", "protocol/..."}, parts, "a gateway is a client of the API; it shows points to others by a protocol"},
	{"python", nil, nil, "the SDK of other programs; this one only carries it"},
	{"web", nil, nil, "the screens are files; they speak to the API over HTTP"},

	{"config/edit", []string{"config", "point", "fault"}, []string{"driver/..."}, "a device is added to a text; what the text means is asked of config"},
	{"config/reference", []string{"config", "broker/setting", "meter/setting", "sink/setting", "store/postgres/setting", "driver/...", "point", "fault"}, nil, "a program that writes the reference; it knows every driver's keys"},
	{"config/revision", []string{"fault"}, nil, "what stood in a file is text; nobody here knows what it means"},
	{"config/volttron", []string{"fault"}, []string{"config", "driver/..."}, "another platform's files become texts; what they mean here is checked by who writes them"},
	{"config", []string{"broker/setting", "meter/setting", "sink/setting", "store/postgres/setting", "driver", "control", "point", "fault"}, []string{"driver/..."}, "the configuration knows contracts and the words of control, no part"},
	{"node", append([]string{"config", "config/revision", "sink/outward"}, parts...), []string{anything}, "node is where the parts meet"},
	{"testing/docs", []string{"testing/...", "point", "fault"}, []string{"store/duckdb"}, "the documentation is tried with the program; only a past is made without it"},
	{"testing/...", []string{"testing/...", "point", "fault"}, nil, "a peer is somebody else's program"},
	{"lab/...", []string{anything}, nil, "the lab drives whole nodes"},
	{"bench/...", []string{anything}, nil, "a benchmark may use all"},
	{"cmd/...", []string{anything}, nil, "programs"},
}

// owner says which packages alone may import a module from outside.
type owner struct {
	module string // import path prefix
	only   []string
	tests  []string // packages whose tests may import it too
	why    string
}

// owners is searched from the top: the first that matches a module counts.
var owners = []owner{
	{"github.com/nats-io/nkeys", []string{"bus/...", "identity", "bench/..."}, nil, "only identity and bus handle keys"},
	{"github.com/nats-io/", []string{"bus/...", "bench/..."}, nil, "only bus speaks NATS"},
	{"github.com/duckdb/", []string{"store/duckdb/...", "meter/store/duckdb/..."}, nil, "only the embedded stores know their engine"},
	{"github.com/jackc/", []string{"store/postgres/...", "meter/store/postgres/..."}, nil, "only the stores in it speak to PostgreSQL"},
	{"github.com/apache/arrow-go/", nil, []string{"api/...", "node"}, "tests read with it what api/arrowstream writes; it is too large to be in the program"},
	{"github.com/google/flatbuffers/", []string{"api/arrowstream"}, nil, "only api/arrowstream writes the metadata of Arrow"},
	{"github.com/prometheus/", []string{"promql"}, nil, "only promql knows Prometheus' engine"},
	{"github.com/mattn/go-sqlite3", []string{"internal/sqlite"}, nil, "only internal/sqlite knows the driver"},
	{"github.com/gopcua/", []string{"driver/opcua/...", "protocol/opcua/...", "bench/..."}, nil, "only driver/opcua and the protocol's client speak OPC UA"},
	{"github.com/simonvetter/modbus", []string{"driver/modbus/...", "lab/..."}, nil, "only driver/modbus and the lab speak Modbus"},
	{"github.com/spf13/", []string{"cmd/..."}, nil, "only programs have a command line"},
	{"go.yaml.in/yaml", []string{"api/typescript", "config/...", "uplink/bundle", "document", "internal/strictyaml", "driver/...", "lab/...", "bench/..."}, []string{anything}, "a part is handed its own struct; only config, registries, inventories, experiments and the API's document are YAML"},
	{"google.golang.org/protobuf", []string{"wire/...", "protocol/sparkplug/...", "sink/mqtt", "sink/opentelemetry", "sink/prometheus", "bench/..."}, nil, "only wire knows the encoding of blocks; Sparkplug B and two kinds of destinations have their own"},
	{"github.com/twmb/franz-go", []string{"sink/kafka"}, nil, "only sink/kafka speaks to Kafka"},
	{"github.com/go-sql-driver/", []string{"sink/table"}, nil, "only sink/table speaks to MySQL"},
	{"html/template", []string{"bench/..."}, nil, "a program that links it keeps every exported method of every type in use: 7 MB"},
	{"text/template", []string{"bench/..."}, nil, "as html/template"},
}

// badDep says what a package must not reach, not even through others.
type badDep struct {
	pkg    string
	module string // import path prefix that may not be among its dependencies
	why    string
}

var badDeps = []badDep{
	{"protocol/...", "github.com/nats-io/", "a protocol must run in a test without a server"},
	{"driver/...", "github.com/nats-io/", "a driver must run in a test without a server"},
	{"store/...", "github.com/nats-io/", "a store is filled by a sink, it does not subscribe"},
	{"config", "github.com/nats-io/", "checking a file must not link a server"},
	{"config", "github.com/duckdb/", "checking a file must not link an engine"},
	{"config", "github.com/jackc/", "checking a file must not link an engine"},
	{"api/...", "github.com/duckdb/", "the API works with any store"},
}
