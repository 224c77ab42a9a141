// Package config reads voltbus.yaml: strictly, over defaults, reporting all problems at once. It knows the contract of drivers, and no part.
package config

import (
	"time"

	"voltbus/broker/setting"
	judgesetting "voltbus/judge/setting"
	metersetting "voltbus/meter/setting"
	"voltbus/point"
	replicasetting "voltbus/replication/setting"
	sinksetting "voltbus/sink/setting"
	sourcesetting "voltbus/source/setting"
	database "voltbus/store/postgres/setting"
)

// Config is a whole configuration. The comments of its fields are the reference documentation. It does not change after Load has returned it.
type Config struct {
	// Node says who this node is and where it keeps its files.
	Node Node `yaml:"node"`
	// Listen sets the addresses of the node. By default everything listens on the loopback interface only.
	Listen Listen `yaml:"listen"`
	// Log bounds the log, which every reading enters before anything else reads it.
	Log Log `yaml:"log"`
	// Cluster makes this node a replica: what any replica acknowledged is on the disks of a majority of them.
	Cluster replicasetting.Cluster `yaml:"cluster"`
	// Audit bounds the audit log, the record of who did what.
	Audit Audit `yaml:"audit"`
	// Store says where the history is kept, and for how long.
	Store Store `yaml:"store"`
	// Recorder says how readings are gathered into blocks before they go to disk.
	Recorder Recorder `yaml:"recorder"`
	// Ingest bounds what programs may send over HTTP to be recorded.
	Ingest Ingest `yaml:"ingest"`
	// Metering says whether this node is a metering data system.
	Metering metersetting.Section `yaml:"metering"`
	// Agents sets how installed agents are run.
	Agents Agents `yaml:"agents"`
	// Control sets how commands to points are handled. The rules of single points are part of their devices.
	Control Control `yaml:"control"`
	// MQTT sets the rights of MQTT clients, and how their messages become points. The broker runs if listen.mqtt, listen.mqtts or listen.mqtt_websocket is set.
	MQTT setting.Section `yaml:"mqtt"`
	// Sinks are destinations outside to which readings are sent, each with a position of its own: one that is away loses nothing.
	Sinks sinksetting.List `yaml:"sinks"`
	// Judge are rules that readings are looked at with before they are sent to destinations: a reading that fails is withheld, or marked.
	Judge judgesetting.Rules `yaml:"judge"`
	// Sources are brokers outside whose messages are recorded. Each is answered when the readings are on disk.
	Sources sourcesetting.List `yaml:"sources"`
	// Uplink sets what is sent to the parent, if there is one, and how.
	Uplink Uplink `yaml:"uplink"`
	// Live sets the forms in which readings of devices appear on the bus.
	Live Live `yaml:"live"`
	// Include names more files with devices, such as devices.d/*.yaml, relative to this file.
	Include []string `yaml:"include" example:"[devices.d/*.yaml]"`
	// Devices are the devices that are read: a list, each with its path, or a mapping whose keys are the paths.
	Devices []Device `yaml:"devices"`

	// Notes list what was left out of files that devices name, and why. They are no problems.
	Notes Problems `yaml:"-"`
}

// Node is the section "node".
type Node struct {
	// Name is the node's name in the tree: letters, digits, "-" and "_". The host's name if left out.
	Name string `yaml:"name" example:"plant-1"`
	// Data is the directory for all data of the node, relative to this file. Only one node can use it at a time.
	Data string `yaml:"data" example:"data"`
	// TimeZone is the time zone of the site, of the IANA database. Screens and reports show its times and its days. Without
	// it screens show the times of the reader's machine, and reports those of UTC.
	TimeZone string `yaml:"time_zone" example:"Europe/Berlin"`
}

// Listen is the section "listen".
type Listen struct {
	// HTTP is the address of the web page and the API, or off.
	HTTP Address `yaml:"http" example:"127.0.0.1:8080"`
	// Bus is the address for agents and other programs that use the bus, or off.
	Bus Address `yaml:"bus" example:"127.0.0.1:4222"`
	// MQTT is the address for MQTT clients without encryption, or off. Names and secrets then cross the network in
	// clear text: use mqtts beyond this machine.
	MQTT Address `yaml:"mqtt" example:"127.0.0.1:1883"`
	// MQTTS is the address for MQTT clients over TLS, or off.
	MQTTS Address `yaml:"mqtts" example:"0.0.0.0:8883"`
	// MQTTWebSocket accepts MQTT clients by WebSocket, at /mqtt of the address http.
	MQTTWebSocket bool `yaml:"mqtt_websocket"`
	// Names are more host names and addresses for the node's certificate, such as the name of a load balancer before replicas.
	Names []string `yaml:"names" example:"[mqtt.example.com]"`
	// ClientCA is a file with certificates of authorities, in PEM. Who shows a client certificate of one of them at the
	// address http may record readings below meters/<common name>, without a token. Connections of this machine are
	// encrypted then, too.
	ClientCA string `yaml:"client_ca" example:"meters-ca.pem"`
	// ClientRevoked is a file with the list of revoked certificates (CRL), in PEM or DER. It is read again when it changes.
	ClientRevoked string `yaml:"client_revoked" example:"meters-crl.pem"`
	// ClientConcentrators are the common names of concentrators, which may record readings of all meters.
	ClientConcentrators []string `yaml:"client_concentrators" example:"[concentrator-1]"`
}

// Broker reports whether MQTT clients are admitted at all.
func (n *Listen) Broker() bool { return !n.MQTT.Off() || !n.MQTTS.Off() || n.MQTTWebSocket }

// Log is the section "log".
type Log struct {
	// MaxBytes is the most that the log takes on disk. Beyond it the oldest blocks are
	// dropped, and counted if they were not stored yet.
	MaxBytes Size `yaml:"max_bytes" example:"1GiB"`
	// MinFree is the free disk space to keep: with less, recording pauses until there is space again.
	MinFree Size `yaml:"min_free" example:"256MiB"`
}

// Audit is the section "audit".
type Audit struct {
	// MaxBytes is the size of the audit log beyond which the older half of its entries goes into an
	// archive: a compressed file in the folder audit.archive of the data directory, which the log
	// names with its checksum.
	MaxBytes Size `yaml:"max_bytes" example:"256MiB"`
	// Keep removes an archive from the folder when its newest entry is this old. 0 keeps everything.
	// Copy archives elsewhere before.
	Keep time.Duration `yaml:"keep" example:"3650d"`
}

// Store is the section "store".
type Store struct {
	// Engine keeps the history: duckdb in files of this node, postgres in a database server, memory until the node stops, without bound
	// but the retention, or none for a node that only forwards readings.
	Engine string `yaml:"engine" enum:"duckdb,postgres,memory,none"`
	// URL is the address of the database, for the engine postgres, without a password in it. For a
	// server on this machine postgres:///voltbus?host=/run/postgresql.
	URL string `yaml:"url" example:"postgres://voltbus@db.example.org/voltbus"`
	// PasswordFile holds the password for the database, relative to this file. It is read anew for each connection.
	// Without it the environment variable PGPASSWORD and ~/.pgpass are used.
	PasswordFile string `yaml:"password_file" example:"secrets/postgres"`
	// Schema is the schema of the tables in the database. It is created if it is missing.
	Schema string `yaml:"schema" example:"voltbus"`
	// TLS secures the connection to the database.
	TLS database.TLS `yaml:"tls"`
	// Retention says when old days are dropped.
	Retention Retention `yaml:"retention"`
	// Memory is the most that the engine duckdb may use for its work.
	Memory Size `yaml:"memory" example:"512MiB"`
}

// Retention is the section "store.retention".
type Retention struct {
	// Age drops a day that ended this long ago. 0 keeps everything.
	Age time.Duration `yaml:"age" example:"400d"`
	// Bytes drops the oldest days while the closed days are larger in sum. 0 keeps everything.
	Bytes Size `yaml:"bytes" example:"100GiB"`
}

// Recorder is the section "recorder".
type Recorder struct {
	// MaxAge is how long a reading may wait for others, to go to disk with them.
	MaxAge time.Duration `yaml:"max_age" example:"5ms"`
	// MaxBlock is the most readings in one block.
	MaxBlock int `yaml:"max_block" example:"10000"`
	// Queue is how many blocks may wait for a slow disk. Beyond it readings are refused and
	// counted.
	Queue int `yaml:"queue" example:"64"`
}

// Ingest is the section "ingest".
type Ingest struct {
	// Requests is how many requests with readings a user or token may send in a second, and
	// twice that at once.
	Requests int `yaml:"requests" example:"20000"`
	// Samples is how many readings a user or token may send in a second, and twice that at
	// once.
	Samples int `yaml:"samples" example:"5000000"`
	// Points is how many points without a device this node lists. Readings of more are refused,
	// so that no program fills the disk with ever new names.
	Points int `yaml:"points" example:"1000000"`
	// ChildPoints is how many points of one child this node stores, including removed ones and those that the child
	// only sends readings of, with texts of 256 bytes each on average. Descriptions of more points are refused, and
	// blocks with their readings stay at the child; health reports both.
	ChildPoints int `yaml:"child_points" example:"2000000"`
	// Retry is how long a request may be sent again with its idempotency key without being
	// recorded again.
	Retry time.Duration `yaml:"retry" example:"24h"`
	// ClockAhead is how far the time of a reading of programs and agents may be in the future, by this node's clock. A
	// later reading gets the time of its arrival, is uncertain(clock) and is counted. 0 accepts any time; for forecasts
	// write a value such as 240h.
	ClockAhead time.Duration `yaml:"clock_ahead" example:"5m"`
	// ClockBehind is how old the time of such a reading may be when it arrives. 0 accepts any time from 1980 on, which
	// imports need; older readings are treated in the same way.
	ClockBehind time.Duration `yaml:"clock_behind" example:"8760h"`
}

// Bounds returns the bounds of the times of readings.
func (n *Ingest) Bounds() point.Bounds { return point.Bounds{Past: n.ClockBehind, Ahead: n.ClockAhead} }

// Agents is the section "agents".
type Agents struct {
	// Isolation keeps agents from each other and from the node's files: auto uses what this machine supports, require
	// starts no agent if it supports nothing, off does nothing. A node that runs as root gives each agent a user of its
	// own; Linux 5.13 and later hides from an agent all files but its own.
	Isolation string `yaml:"isolation" enum:"auto,require,off"`
	// Users are the system users of agents, one each, if the node runs as root.
	Users AgentUsers `yaml:"users"`
	// Read names more files and folders that agents may read.
	Read []string `yaml:"read" example:"[/srv/models]"`
	// Write names more files and folders that agents may read and write, such as a serial port.
	Write []string `yaml:"write" example:"[/dev/ttyUSB0]"`
	// Memory is how much memory an agent may use, with all its processes, unless it was installed with another limit.
	// An agent that uses more is killed and restarted. 0: no limit.
	Memory Size `yaml:"memory" example:"512MiB"`
	// Files is how many files a process of an agent may have open.
	Files int `yaml:"files" example:"1024"`
	// Processes is how many processes and threads an agent may have. It applies if agents have users of their own.
	Processes int `yaml:"processes" example:"256"`
	// FileSize is the maximum size of one file that an agent writes. 0: no limit.
	FileSize Size `yaml:"file_size" example:"1GiB"`
	// Nice is the niceness of agents, from 0 to 19: a higher value gives other programs more processor time.
	Nice int `yaml:"nice" example:"5"`
	// Restart sets when an agent that ended by itself is restarted.
	Restart string `yaml:"restart" enum:"always,on-failure,never"`
	// RestartSilent restarts an agent that sends heartbeats when none arrived for three intervals.
	RestartSilent bool `yaml:"restart_silent" example:"true"`
	// Grace is the time that an agent has to stop before it is killed.
	Grace time.Duration `yaml:"grace" example:"10s"`
	// Log limits the stored output of agents.
	Log AgentLog `yaml:"log"`
	// Flood limits one connection to the bus. A client that exceeds a limit for two seconds is disconnected, and
	// refused for a second, then two, up to a minute.
	Flood AgentFlood `yaml:"flood"`
	// Python is the interpreter that agents are installed with; python3 if left out.
	Python string `yaml:"python" example:"/usr/bin/python3"`
	// UV is the program uv, which installs faster than pip. By default it is used if it is installed; off uses pip.
	UV string `yaml:"uv" example:"/usr/local/bin/uv"`
	// SDK is a wheel of the Python SDK to install instead of the one in the program.
	SDK string `yaml:"sdk" example:"voltbus-0.4.0-py3-none-any.whl"`
}

// AgentUsers is the section "agents.users".
type AgentUsers struct {
	// First is the number of the first user.
	First int `yaml:"first" example:"730000"`
	// Count is how many there are. Nodes of one machine share them. 0 lets all agents run as the node's user.
	Count int `yaml:"count" example:"100000"`
}

// AgentFlood is the section "agents.flood".
type AgentFlood struct {
	// Messages is how many messages a connection may send in a second.
	Messages int `yaml:"messages" example:"150000"`
	// Bytes is how much a connection may send in a second.
	Bytes Size `yaml:"bytes" example:"96MiB"`
	// Subscriptions is how many subscriptions a connection may have.
	Subscriptions int `yaml:"subscriptions" example:"10000"`
	// Connections is how many connections the holder of a key may have at a time. An agent uses one; others get the
	// reason and are closed.
	Connections int `yaml:"connections" example:"32"`
}

// AgentLog is the section "agents.log".
type AgentLog struct {
	// MaxBytes is the size at which a new file begins.
	MaxBytes Size `yaml:"max_bytes" example:"10MiB"`
	// Keep is how many files are kept beside the newest.
	Keep int `yaml:"keep" example:"5"`
	// Lines is how many lines an agent may print in a second, and ten times that at once. More are
	// dropped and counted.
	Lines int `yaml:"lines" example:"500"`
}

// Live is the section "live".
type Live struct {
	// Publish applies to devices without publish.
	Publish []string `yaml:"publish" enum:"scan,point,breadth_scan,breadth_point" example:"[scan, breadth_point]"`
}

// Uplink is the section "uplink".
type Uplink struct {
	// Select are patterns of the points that are sent; default: all. Points that are not sent are counted.
	Select []point.Pattern `yaml:"select" example:"[campus/b1/**]"`
	// Rename changes paths at the parent: of several that match, the longest from counts. By default a point outside
	// the prefix that the parent gave this node is put below that prefix.
	Rename []Rename `yaml:"rename"`
	// Urgent are patterns of points whose readings overtake a backlog, such as alarms. They are recorded in a separate
	// lane.
	Urgent []point.Pattern `yaml:"urgent" example:"[**/alarm]"`
	// Rate is the highest number of bytes sent in a second. 0: no limit. It does not apply to urgent readings, nor to live
	// messages, which have a limit of their own.
	Rate Size `yaml:"rate" example:"128KiB"`
	// LiveRate is how many bytes of live messages may be sent in a second while an ancestor subscribes. 0: no limit.
	// Excess messages wait two seconds and are then dropped, the oldest first, and counted; the history is not
	// affected. A change needs a restart.
	LiveRate Size `yaml:"live_rate" example:"64KiB"`
	// Age is how long a reading may wait for others, to be sent with them. Urgent ones do not wait.
	Age time.Duration `yaml:"age" example:"200ms"`
	// Silence is how long the parent may send nothing before this node reconnects, and, half as long again, a child or
	// agent before it counts as disconnected. A change needs a restart.
	Silence time.Duration `yaml:"silence" example:"30s"`
	// Allow are capabilities, as "voltbus children grant" takes them: what ancestors may do here, and at descendants of
	// this node (call node/agent:method). By default they may read and subscribe to what is sent, see alarms, what
	// happened and notes, and send read-only requests to descendants, but may not call or command; [] allows nothing. A
	// reload is enough for a change.
	Allow []string `yaml:"allow" example:"[\"read **\", \"call boiler:tune\", \"command campus/b1/**@8\"]"`
	// Hear are paths at the parent: this node receives the live messages of points and topics at and below them, under
	// their paths at the parent. The parent must let this one subscribe to them ("voltbus children grant NAME subscribe
	// weather"). Default: none.
	Hear []point.Path `yaml:"hear" example:"[weather]"`
}

// Rename is an entry of "uplink.rename".
type Rename struct {
	// From is the path here; it and everything below it is renamed. "" is everything.
	From point.Path `yaml:"from" example:"ahu1"`
	// To is the path at the parent.
	To point.Path `yaml:"to" example:"campus/b1/ahu1"`
}

// Default returns the configuration of an empty file.
func Default() *Config {
	return &Config{
		Node:   Node{Data: "data"},
		Listen: Listen{HTTP: "127.0.0.1:8080", Bus: "127.0.0.1:4222"},
		Log:    Log{MaxBytes: GiB, MinFree: 256 * MiB},
		Audit:  Audit{MaxBytes: 256 * MiB},
		Store:  Store{Engine: "duckdb", Schema: "voltbus", TLS: database.TLS{Mode: "verify"}, Memory: 512 * MiB},
		Recorder: Recorder{
			MaxAge:   5 * time.Millisecond,
			MaxBlock: 10_000,
			Queue:    64,
		},
		Ingest: Ingest{
			Requests: 20_000,
			Samples:  5_000_000,
			Points:   1_000_000,

			ChildPoints: 2_000_000,

			Retry: 24 * time.Hour,

			ClockAhead: 5 * time.Minute,
		},
		Metering: metersetting.Default(),
		Agents: Agents{
			Isolation: "auto", Users: AgentUsers{First: 730_000, Count: 100_000}, Memory: 512 * MiB, Files: 1024, Nice: 5,
			Processes: 256, FileSize: GiB,
			Restart: "always", RestartSilent: true, Grace: 10 * time.Second,
			Log:   AgentLog{MaxBytes: 10 * MiB, Keep: 5, Lines: 500},
			Flood: AgentFlood{Messages: 150_000, Bytes: 96 * MiB, Subscriptions: 10_000, Connections: 32},
		},
		Live:    Live{Publish: []string{PublishScan}},
		MQTT:    setting.Default(),
		Uplink:  Uplink{Age: 200 * time.Millisecond, Silence: 30 * time.Second},
		Control: Control{Absence: time.Minute, Approval: time.Hour, Handover: time.Minute},
	}
}
